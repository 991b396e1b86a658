"""The first sheet of a workbook (XLSX, ODS) as the text of a table. Numbers come out as they are, or as too long."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from core.errors import Refused

# The library keeps a sheet as a whole rectangle, up to its last cell: one cell far away would take all memory.
_MOST_BYTES, _MOST_ROWS, _MOST_COLUMNS = 40_000_000, 20_000, 100
_CELL = re.compile(rb'<c\b[^>]*?\br="([A-Z]{1,3})(\d{1,7})"')
_TAG_OF_ODS = re.compile(rb"<table:(table-row|table-cell|covered-table-cell|table)\b([^>]*)>")
_REPEATED = re.compile(rb'number-(?:rows|columns)-repeated="(\d{1,9})"')
_SHEETS = re.compile(r"xl/worksheets/[^/]+\.xml|content\.xml")
# A spreadsheet keeps fifteen digits of a number.
_MOST_EXACT = 10**15


class SheetRefused(Refused):
    """It is no table that can be read, or one that would take too much memory."""


def workbook_text(content: bytes) -> str:
    """The first visible sheet that has rows, with tabs between its cells. Raises `SheetRefused`."""
    # Only who brings a workbook pays for loading it.
    from python_calamine import CalamineError, CalamineWorkbook, SheetVisibleEnum  # noqa: PLC0415

    _refuse_too_large(content)
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        shown = [sheet.name for sheet in book.sheets_metadata if sheet.visible == SheetVisibleEnum.Visible]
        sheets = (book.get_sheet_by_name(name).to_python() for name in shown)
        rows = next((rows for rows in sheets if rows), [])
    except (CalamineError, zipfile.BadZipFile) as fault:
        raise SheetRefused(_("This workbook cannot be read. Save it again, or save it as CSV.")) from fault
    text = io.StringIO()
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows(_cells(row) for row in rows)
    return text.getvalue()


def _cells(row: Iterable[Any]) -> list[str]:
    return [_written(value) for value in row]


def _written(value: Any) -> str:
    """A number without the fraction that it has not; one whose digits are lost in the notation that says so."""
    if isinstance(value, float):
        if abs(value) >= _MOST_EXACT:
            return f"{value:.14E}"
        return str(int(value)) if value == int(value) else str(value)
    return str(value)


def _refuse_too_large(content: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.infolist()
            is_too_large = sum(part.file_size for part in parts) > _MOST_BYTES or any(
                _is_wide(archive.read(part)) for part in parts if _SHEETS.fullmatch(part.filename)
            )
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as fault:
        raise SheetRefused(_("This workbook cannot be read. Save it again, or save it as CSV.")) from fault
    if is_too_large:
        raise SheetRefused(_("This workbook is too large. Keep the rows alone in it, or save them as CSV."))


def _is_wide(sheet: bytes) -> bool:
    """Whether a cell stands far from the first one."""
    for letters, row in _CELL.findall(sheet):
        if int(row) > _MOST_ROWS or _column(letters) > _MOST_COLUMNS:
            return True
    row = column = 0
    for tag, attributes in _TAG_OF_ODS.findall(sheet):
        repeated = _REPEATED.search(attributes)
        count = int(repeated[1]) if repeated else 1
        if tag == b"table":
            row = 0
        elif tag == b"table-row":
            row, column = row + count, 0
        else:
            column += count
            # Empty cells at the end are left out by the library, too.
            if b"office:value-type" in attributes and (row > _MOST_ROWS or column > _MOST_COLUMNS):
                return True
    return False


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number
