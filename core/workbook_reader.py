"""A program of its own: reads a workbook from standard input, writes its rows with tabs between the cells.

The library keeps a sheet as a whole rectangle, up to its last cell, and unpacks whatever a file holds: a file of a few
kilobytes can take all memory. So this process has little of it, and only it ends. It imports nothing of the app: it
starts in some hundredths of a second.
"""

import csv
import io
import resource
import sys
from typing import Any

#: The exit codes without rows.
TOO_LARGE, UNREADABLE = 3, 4
_MOST_BYTES_OF_MEMORY, _MOST_SECONDS = 256 * 1024 * 1024, 5
_MOST_ROWS, _MOST_COLUMNS, _MOST_LETTERS = 20_000, 100, 4_000_000
# A spreadsheet keeps fifteen digits of a number.
_MOST_EXACT = 10**15


class _TooLargeError(Exception):
    pass


def main() -> int:
    """Read and write within the limits; returns the exit code. Without memory or time left a signal ends it."""
    _limit(resource.RLIMIT_AS, _MOST_BYTES_OF_MEMORY)
    _limit(resource.RLIMIT_CPU, _MOST_SECONDS)
    _limit(resource.RLIMIT_CORE, 0)
    from python_calamine import CalamineWorkbook, SheetVisibleEnum  # noqa: PLC0415

    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(sys.stdin.buffer.read()))
        shown = [sheet.name for sheet in book.sheets_metadata if sheet.visible == SheetVisibleEnum.Visible]
        text = next(filter(None, (_text_of(book.get_sheet_by_name(name)) for name in shown)), "")
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


def _written(value: Any) -> str:
    """The value as text: 5.0 is "5"; a number that has lost digits stands in the notation that says so."""
    if isinstance(value, float):
        if abs(value) >= _MOST_EXACT:
            return f"{value:.14E}"
        return str(int(value)) if value == int(value) else str(value)
    return str(value)


if __name__ == "__main__":
    sys.exit(main())
