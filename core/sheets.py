"""The rows of a table as a spreadsheet saves or copies it: CSV of any separator and encoding, XLSX and ODS.

In a workbook the first visible sheet with rows is read; it may hide none of them. Numbers come out exactly, or as
1.2E+15 if digits are lost.
"""

import csv
import io
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, takewhile

from django.utils.translation import gettext as _

from core import workbook_reader
from core.errors import Refused

#: The files that a field for a table offers first.
FILES = ".csv,.txt,.tsv,.xlsx,.ods,text/csv"
_SEPARATORS = ("\t", ";", ",")
# A cell with nothing but a number.
_NUMBER_ALONE = re.compile(r"""[\s"']*\+?\d[\d.\- ]{6,}\d[\s"']*""", re.ASCII)
# A heading has no number of four digits; no title above it has a phone number or a longer one.
_HAS_A_NUMBER = re.compile(r"\d{4}")
_HAS_A_LONG_NUMBER = re.compile(r"\d(?:[.\- ]?\d){7}", re.ASCII)
# Words that may also head a column of row numbers or of quantities: any other heading of that column wins over them.
_GIVES_WAY = {"no", "nr", "nomor", "nomer", "number", "jumlah", "amount"}
# Categories of Unicode that nobody sees: marks without width, and code points without a character.
_UNSEEN = {"Cf", "Co", "Cn", "Cs"}
# A workbook that takes longer, on a busy machine too, is given up.
_MOST_SECONDS = 20


@dataclass(frozen=True)
class SheetRow:
    """One row: the line on which it begins, from 1, and its cells by the names of their columns.

    `has_heading`: a heading has named the columns, and a column that it does not name is left out.
    """

    line: int
    cells: dict[str, str]
    has_heading: bool = False


def text_of(content: bytes) -> str:
    """The text of a file; for a workbook, with tabs between the cells. Raises `SheetRefused`."""
    if content.startswith(b"PK"):
        return workbook_text(content)
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def read_sheet(text: str, columns: dict[str, set[str]], *, most: int, must_name: str = "") -> list[SheetRow]:
    """The rows of a table. `columns`: each column's name → the words for it in a heading, in small letters.

    Without a heading the columns stand in this order, and each row has a separator of its own. Above a heading
    there may be titles. Several columns with one name are read as one cell, with "/" between them; a running
    number, called "No", is left out. `must_name`: what a heading calls the first column; with it, a first row of
    words must be such a heading. Raises `SheetRefused` for more than `most` rows, for none, and for another heading.
    """
    lines = [(line, cells) for line, cells in _lines(text, columns) if any(cells)]
    names: list[str] = list(columns)
    above = _above_numbers(lines)
    has_heading = False
    for place, (_line, cells) in enumerate(above):
        if heading := _heading(cells, columns):
            names, lines, has_heading = heading, lines[place + 1 :], True
            break
    if must_name and not has_heading and any(_is_like_a_heading(cells) for _line, cells in above):
        words = _("The first row looks like a heading, but none of its columns is called “%(name)s”. Name it so.")
        raise SheetRefused(words % {"name": must_name})
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
    """The headings of the columns that `read_sheet` leaves out."""
    above = _above_numbers([(line, cells) for line, cells in _lines(text, columns) if any(cells)])
    cells = next((cells for _line, cells in above if _heading(cells, columns)), [])
    return [cell for cell, name in zip(cells, _heading(cells, columns), strict=False) if cell and not name]


def _above_numbers(lines: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """The lines before the first one with a long number; a heading is among them."""
    return list(takewhile(lambda line: not _HAS_A_LONG_NUMBER.search(" ".join(line[1])), lines))


def _heading(cells: list[str], columns: dict[str, set[str]]) -> list[str]:
    """The name of each column, "" for one that is left out; an empty list for a line that is no heading."""
    names = [_named(cell, columns) for cell in cells]
    if next(iter(columns)) not in names or _HAS_A_NUMBER.search(" ".join(cells)):
        return []
    sure = {name for name, cell in zip(names, cells, strict=True) if _word_of(cell) not in _GIVES_WAY}
    return [
        "" if name in sure and _word_of(cell) in _GIVES_WAY else name for name, cell in zip(names, cells, strict=True)
    ]


def _is_like_a_heading(cells: list[str]) -> bool:
    """Whether it has several cells of words and no digit, so that it is neither a sale nor a customer's number."""
    said = [cell for cell in cells if cell]
    return len(said) > 1 and not any(map(str.isdecimal, "".join(said)))


def _lines(text: str, columns: dict[str, set[str]]) -> list[tuple[int, list[str]]]:
    """Each row with its line. The separator of a heading holds for all rows; without one each row has its own."""
    source = iter(io.StringIO(text, newline=""))
    lines: list[tuple[int, list[str]]] = []
    before, separator, of_heading, is_begun = 0, ",", "", False
    try:
        for first in source:
            # A cell in quotes may go on in the next line, and a line without a separator is read as the one before.
            separator = of_heading or _separator_of(first) or separator
            written, length = _cells_of(first, source, separator, line=before + 1)
            cells = [_plain(cell) for cell in written]
            lines.append((before + 1, cells))
            before += length
            if not is_begun and _heading(cells, columns):
                of_heading = separator
            is_begun = is_begun or bool(of_heading) or bool(_HAS_A_LONG_NUMBER.search(" ".join(cells)))
    except csv.Error:
        raise SheetRefused(_("This is no table: save it as CSV in the spreadsheet.")) from None
    return lines


def _cells_of(first: str, source: Iterator[str], separator: str, *, line: int) -> tuple[list[str], int]:
    """The cells of the row that begins with this line, and the number of its lines.

    Raises `SheetRefused` for a quote that would swallow the rows below it, because nobody would miss these.
    """
    reader = csv.reader(chain([first], source), delimiter=separator, strict=True)
    try:
        return next(reader), reader.line_num
    except csv.Error:
        if reader.line_num > 1:
            words = _("Line %(line)s: a quote is not closed, so the next rows cannot be read. Delete it, or close it.")
            raise SheetRefused(words % {"line": line}) from None
    # Inside one line a quote may be a letter of the cell.
    return next(csv.reader([first], delimiter=separator)), 1


def _separator_of(line: str) -> str:
    """The separator that leaves a number alone in its cell; else the most frequent one; "" without any."""
    for separator in _SEPARATORS:
        if separator in line and any(map(_NUMBER_ALONE.fullmatch, line.split(separator))):
            return separator
    found = max(_SEPARATORS, key=line.count)
    return found if found in line else ""


def _plain(cell: str) -> str:
    """The cell without invisible letters (extra spaces, marks without width) and without the ' before a number."""
    shown = unicodedata.normalize("NFKC", cell).replace("\0", "")
    visible = "".join(sign for sign in shown if unicodedata.category(sign) not in _UNSEEN)
    return " ".join(visible.split()).removeprefix("'")


def _named(cell: str, columns: dict[str, set[str]]) -> str:
    word = _word_of(cell)
    return next((name for name, words in columns.items() if word in words), "")


def _word_of(cell: str) -> str:
    """The words of a heading in small letters: "No. HP (WA)" → "no hp"."""
    return " ".join(re.split(r"[(/]", cell.lower())[0].replace(".", " ").split()).rstrip(" :0123456789")


class SheetRefused(Refused):
    """The table cannot be read, or would take too much memory."""


def workbook_text(content: bytes) -> str:
    """The first visible sheet that has rows, with tabs between its cells. Raises `SheetRefused`."""
    command = [sys.executable, "-I", workbook_reader.__file__]
    # The tables of another locale would count as memory of the reader.
    environment = {**os.environ, "LC_ALL": "C"}
    try:
        reader = subprocess.run(
            command, input=content, capture_output=True, env=environment, timeout=_MOST_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise SheetRefused(_too_large()) from None
    if reader.returncode == workbook_reader.UNREADABLE:
        raise SheetRefused(_("This workbook cannot be read. Save it again, or save it as CSV."))
    if reader.returncode == workbook_reader.HIDDEN:
        raise SheetRefused(_("Rows of this sheet are hidden. Show them all, or copy only what you see to a new file."))
    # A negative code is the signal that ended it: it had no memory or time left.
    if reader.returncode == workbook_reader.TOO_LARGE or reader.returncode < 0:
        raise SheetRefused(_too_large())
    reader.check_returncode()
    if not reader.stdout:
        raise SheetRefused(_("There are no rows in it."))
    return reader.stdout.decode()


def _too_large() -> str:
    return _("This workbook is too large. Keep the rows alone in it, or save them as CSV.")
