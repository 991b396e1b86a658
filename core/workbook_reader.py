"""A program of its own: reads a workbook from standard input, writes its rows with tabs between the cells.

The library keeps a sheet as a whole rectangle, up to its last cell, and unpacks whatever a file holds: a file of a few
kilobytes can take all memory. So this process has little of it, and only it ends. It imports nothing of the app: it
starts in some hundredths of a second.

The library also reads rows that the sheet hides, by a filter for example. Nobody sees them, so they are never read
silently.
"""

import csv
import io
import posixpath
import resource
import sys
import zipfile
from typing import Any
from xml.etree import ElementTree

#: The exit codes without rows.
TOO_LARGE, UNREADABLE, HIDDEN = 3, 4, 5
_MOST_BYTES_OF_MEMORY, _MOST_SECONDS = 256 * 1024 * 1024, 5
_MOST_ROWS, _MOST_COLUMNS, _MOST_LETTERS = 20_000, 100, 4_000_000
# A spreadsheet keeps fifteen digits of a number.
_MOST_EXACT = 10**15
# How XLSX and ODS write that a row is hidden.
_HIDING = {("hidden", "1"), ("hidden", "true"), ("visibility", "filter"), ("visibility", "collapse")}


class _TooLargeError(Exception):
    pass


def main() -> int:
    """Read and write within the limits; returns the exit code. Without memory or time left a signal ends it."""
    _limit(resource.RLIMIT_AS, _MOST_BYTES_OF_MEMORY)
    _limit(resource.RLIMIT_CPU, _MOST_SECONDS)
    _limit(resource.RLIMIT_CORE, 0)
    from python_calamine import CalamineWorkbook, SheetVisibleEnum  # noqa: PLC0415

    try:
        content = io.BytesIO(sys.stdin.buffer.read())
        book = CalamineWorkbook.from_filelike(content)
        shown = [sheet.name for sheet in book.sheets_metadata if sheet.visible == SheetVisibleEnum.Visible]
        texts = ((name, _text_of(book.get_sheet_by_name(name))) for name in shown)
        name, text = next((found for found in texts if found[1]), ("", ""))
        if text and _hides_rows(content, name):
            return HIDDEN
    except (MemoryError, _TooLargeError):
        return TOO_LARGE
    except BaseException:  # a panic of the library is no Exception
        return UNREADABLE
    sys.stdout.buffer.write(text.encode())
    return 0


def _limit(kind: int, most: int) -> None:
    _present, allowed = resource.getrlimit(kind)
    limit = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
    resource.setrlimit(kind, (limit, limit))


def _text_of(sheet: Any) -> str:
    last_row, last_column = sheet.end or (0, 0)  # from 0
    if last_row >= _MOST_ROWS or last_column >= _MOST_COLUMNS:
        raise _TooLargeError
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    for row in sheet.to_python():
        writer.writerow(map(_written, row))
        if text.tell() > _MOST_LETTERS:
            raise _TooLargeError
    return text.getvalue()


def _hides_rows(content: io.BytesIO, sheet: str) -> bool:
    """Whether a row of this sheet that has something in it is hidden."""
    with zipfile.ZipFile(content) as parts:
        is_open_document = "content.xml" in parts.namelist()
        is_inside = not is_open_document
        with parts.open("content.xml" if is_open_document else _part_of(parts, sheet)) as part:
            for event, element in ElementTree.iterparse(part, ("start", "end")):  # noqa: S314 (within our limits)
                name, facts = _local(element.tag), {(_local(key), value) for key, value in element.items()}
                if is_open_document and name == "table":
                    is_inside = event == "start" and ("name", sheet) in facts
                if event == "end" and name in {"row", "table-row"}:
                    if is_inside and facts & _HIDING and "".join(element.itertext()).strip():
                        return True
                    element.clear()
    return False


def _part_of(parts: zipfile.ZipFile, sheet: str) -> str:
    """The part of an XLSX file that has the rows of this sheet."""
    elements = [
        {_local(key): value for key, value in element.items()}
        for name in ("xl/workbook.xml", "xl/_rels/workbook.xml.rels")
        for element in ElementTree.fromstring(parts.read(name)).iter()  # noqa: S314 (within our limits)
    ]
    (key,) = [facts["id"] for facts in elements if facts.get("name") == sheet and "sheetId" in facts]
    (target,) = [facts["Target"] for facts in elements if facts.get("Id") == key]
    return posixpath.normpath(posixpath.join("/xl", target))[1:]


def _local(name: str) -> str:
    """The name without its namespace."""
    return name.rpartition("}")[2]


def _written(value: Any) -> str:
    """The value as text: 5.0 is "5"; a number that has lost digits stands in the notation that says so."""
    if isinstance(value, float):
        if abs(value) >= _MOST_EXACT:
            return f"{value:.14E}"
        return str(int(value)) if value == int(value) else str(value)
    return str(value)


if __name__ == "__main__":
    sys.exit(main())
