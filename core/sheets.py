"""The rows of a table as a spreadsheet saves or copies it: CSV of any separator and encoding, XLSX and ODS."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from dataclasses import dataclass
from itertools import chain

from django.utils.translation import gettext as _

from core.workbooks import SheetRefused, workbook_text

#: What a field for a table offers first.
FILES = ".csv,.txt,.tsv,.xlsx,.ods,text/csv"
_SEPARATORS = ("\t", ";", ",")
# A cell with nothing but a number.
_NUMBER_ALONE = re.compile(r"""[\s"']*\+?\d[\d.\- ]{6,}\d[\s"']*""", re.ASCII)
# A heading has none.
_HAS_A_NUMBER = re.compile(r"\d{4}")
# Categories of Unicode: marks and controls.
_UNSEEN = {"Cf", "Co", "Cn", "Cs"}


@dataclass(frozen=True)
class SheetRow:
    """One row: the line on which it begins, from 1, and its cells by the names of their columns.

    `has_heading`: a heading has named the columns.
    """

    line: int
    cells: dict[str, str]
    has_heading: bool = False


def text_of(content: bytes) -> str:
    """The text of a file, of a workbook with tabs between the cells. Raises `SheetRefused`."""
    if content.startswith(b"PK"):
        return workbook_text(content)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def read_sheet(text: str, columns: dict[str, set[str]], *, most: int) -> list[SheetRow]:
    """The rows of a table. `columns`: each column's name → what people call it in a heading, in small letters.

    Without a heading the columns stand in this order, and each row has a separator of its own. Several
    columns with one name are read as one cell, with "/" between them. Raises `SheetRefused` for more than
    `most` rows, or for none.
    """
    lines = [(line, cells) for line, cells in _lines(text, columns) if any(cells)]
    names: list[str] = list(columns)
    has_heading = False
    if lines and (heading := _heading(lines[0][1], columns)):
        names, lines, has_heading = heading, lines[1:], True
    if not lines:
        raise SheetRefused(_("There are no rows in it."))
    if len(lines) > most:
        raise SheetRefused(_("At most %(n)s rows at a time.") % {"n": f"{most:n}"})
    rows = []
    for line, cells in lines:
        row: dict[str, str] = dict.fromkeys(columns, "")
        for name, cell in zip(names, cells, strict=False):
            if name and cell:
                row[name] = f"{row[name]} / {cell}" if row[name] else cell
        rows.append(SheetRow(line, row, has_heading))
    return rows


def unread_columns(text: str, columns: dict[str, set[str]]) -> list[str]:
    """What stands in the heading of columns that `read_sheet` leaves out."""
    cells = next((cells for _line, cells in _lines(text, columns) if any(cells)), [])
    return [cell for cell, name in zip(cells, _heading(cells, columns), strict=False) if cell and not name]


def _heading(cells: list[str], columns: dict[str, set[str]]) -> list[str]:
    """The name of each column, "" of an unknown one; empty for a line that is no heading."""
    names = [_named(cell, columns) for cell in cells]
    return names if next(iter(columns)) in names and not _HAS_A_NUMBER.search(" ".join(cells)) else []


def _lines(text: str, columns: dict[str, set[str]]) -> list[tuple[int, list[str]]]:
    """Each row with its line. The separator of a heading holds for all rows; without one each row has its own."""
    source = iter(io.StringIO(text, newline=""))
    lines: list[tuple[int, list[str]]] = []
    before, separator, of_heading, is_begun = 0, ",", "", False
    try:
        for first in source:
            # A cell in quotes may go on in the next line, and a line without a separator is as the one before.
            separator = of_heading or _separator_of(first) or separator
            reader = csv.reader(chain([first], source), delimiter=separator)
            cells = [_plain(cell) for cell in next(reader)]
            lines.append((before + 1, cells))
            before += reader.line_num
            if any(cells) and not is_begun:
                is_begun, of_heading = True, separator if _heading(cells, columns) else ""
    except csv.Error:
        raise SheetRefused(_("This is no table: save it as CSV in the spreadsheet.")) from None
    return lines


def _separator_of(line: str) -> str:
    """The one that leaves a number alone in its cell; else the most frequent one; "" without any."""
    for separator in _SEPARATORS:
        if separator in line and any(map(_NUMBER_ALONE.fullmatch, line.split(separator))):
            return separator
    found = max(_SEPARATORS, key=line.count)
    return found if found in line else ""


def _plain(cell: str) -> str:
    """The cell without what nobody sees: other spaces, marks without width, and the ' before a number."""
    shown = unicodedata.normalize("NFKC", cell).replace("\0", "")
    visible = "".join(sign for sign in shown if unicodedata.category(sign) not in _UNSEEN)
    return " ".join(visible.split()).removeprefix("'")


def _named(cell: str, columns: dict[str, set[str]]) -> str:
    word = cell.lower().rstrip(" .:0123456789")
    return next((name for name, words in columns.items() if word in words), "")
