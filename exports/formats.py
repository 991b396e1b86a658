"""The formats of a file: CSV in blocks, and a workbook. A file holds the `export` of the list's table."""

import csv
import datetime as dt
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import IO, Any

import xlsxwriter
from django.http import HttpResponse, StreamingHttpResponse
from django.utils import timezone, translation

from core.bidi import visible
from core.numbers import ErasedText, still_seen

# The rows of a sheet, without its heading.
MOST_ROWS = 1_048_575
# A block of CSV goes out when it has grown to this many characters: a piece for each row costs more than the row.
BLOCK_SIZE = 64 * 1024
WORKBOOK_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_WIDTH = 18
# Spreadsheets run a cell with such a beginning as a formula; some skip spaces and invisible characters, or accept wide
# signs.
_UNSEEN, _SIGN = "\\s\x00-\x1f\xad\u180e\u200b-\u200f\u2060-\u2064\ufeff", "[=+@＝＋－＠-]"
_FORMULA = re.compile(f"[{_UNSEEN}]*{_SIGN}|[\t\r\n]")
# Excel splits CSV at the semicolon where the comma is for decimals, as in Indonesia: what follows is a cell of its own.
_NEXT_CELL = re.compile(f'([;|\t\r\n][;|"{_UNSEEN}]*)({_SIGN}?)')

# The values that are converted: a moment to the shop's own time, an erased text to the form that every reader may see.
_SPECIAL = frozenset({dt.datetime, ErasedText})

Fields = Mapping[str, Callable[[Any], Any]]


def facts(rows: Iterable[Any], fields: Fields) -> Iterator[dict[str, Any]]:
    """The rows keyed by the names of `fields`; moments in the shop's own time."""
    for values in _values(rows, fields):
        yield dict(zip(fields, values, strict=True))


def _values(rows: Iterable[Any], fields: Fields) -> Iterator[list[Any]]:
    """The fields' values of each row. Each step runs a million times, so it is one loop with few calls."""
    getters, zone = list(fields.values()), timezone.get_default_timezone()
    for row in rows:
        values = [value_of(row) for value_of in getters]
        yield [_kept(value, zone) if type(value) in _SPECIAL else value for value in values]


def _kept(value: dt.datetime | ErasedText, zone: dt.tzinfo) -> dt.datetime | str:
    return still_seen(value) if isinstance(value, str) else value.astimezone(zone)


def text_of(value: Any) -> Any:
    """The value for a line of text: a moment in ISO 8601, any other value unchanged."""
    return value.isoformat(timespec="seconds") if isinstance(value, dt.datetime) else value


def cell(value: Any) -> Any:
    """The value for a spreadsheet: numbers unchanged, an apostrophe before a text that would be a formula."""
    if not isinstance(value, str):
        return value
    text = value if value.isascii() else visible(value)
    return f"'{text}" if _FORMULA.match(text) else text


def _csv_cell(value: Any) -> Any:
    if type(value) is int:
        return value
    text = cell(text_of(value))
    if not isinstance(text, str):
        return text
    # Python puts a text into quotes for a line feed, but not for a carriage return alone, which ends a row, too.
    text = text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text
    return _NEXT_CELL.sub(_without_formula, text)


def _without_formula(match: re.Match[str]) -> str:
    return f"{match[1]}'{match[2]}" if match[2] else match[0]


def csv_answer(rows: Iterable[Any], fields: Fields, name: str) -> StreamingHttpResponse:
    """A short list as a CSV file of this name. It is written at once: numbers are masked only within the request."""
    return StreamingHttpResponse(
        ["\ufeff", *csv_blocks(rows, fields)],
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def csv_blocks(rows: Iterable[Any], fields: Fields) -> Iterator[str]:
    """The rows as CSV with a heading, in blocks of whole lines of about `BLOCK_SIZE` characters."""
    block = io.StringIO()
    writer = csv.writer(block, lineterminator="\n")
    writer.writerow(fields)
    for values in _values(rows, fields):
        writer.writerow([_csv_cell(value) for value in values])
        if block.tell() >= BLOCK_SIZE:
            yield block.getvalue()
            block.seek(0)
            block.truncate()
    yield block.getvalue()


def in_language(language: str | None, blocks: Iterator[str]) -> Iterator[str]:
    """The blocks, each made in this language: they are made when the answer is sent, after the end of the request."""
    while True:
        with translation.override(language):
            block = next(blocks, None)
        if block is None:
            return
        yield block


def write_csv(file: IO[bytes], rows: Iterable[Any], fields: Fields) -> None:
    """Write the rows as CSV, with a mark for UTF-8, because spreadsheets guess wrongly."""
    file.write("\ufeff".encode())
    for block in csv_blocks(rows, fields):
        file.write(block.encode())


def write_workbook(
    file: IO[bytes], rows: Iterable[Any], fields: Fields, *, words: Mapping[str, Any] = MappingProxyType({})
) -> None:
    """Write the rows, at most `MOST_ROWS`, as a workbook. They go to disk as they come.

    `words`: the words for the fields, for the first row; a field without words has its name there.
    """
    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with xlsxwriter.Workbook(file, options) as book:
        _write_sheet(book, rows, fields, words)


def workbook_answer(rows: Iterable[Any], fields: Fields, name: str, *, words: Mapping[str, Any]) -> HttpResponse:
    """A short list as a workbook of this name."""
    file = io.BytesIO()
    write_workbook(file, rows, fields, words=words)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return HttpResponse(file.getvalue(), content_type=WORKBOOK_TYPE, headers=headers)


def _write_sheet(book: xlsxwriter.Workbook, rows: Iterable[Any], fields: Fields, words: Mapping[str, Any]) -> None:
    sheet = book.add_worksheet()
    heading, amount = book.add_format({"bold": True}), book.add_format({"num_format": "#,##0"})
    moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
    sheet.freeze_panes(1, 0)
    sheet.set_column(0, len(fields) - 1, _WIDTH)
    plain = {column for column, name in enumerate(fields) if name == "id"}
    for column, name in enumerate(fields):
        sheet.write_string(0, column, str(words.get(name, name)), heading)
    for number, values in enumerate(_values(rows, fields), start=1):
        for column, value in enumerate(values):
            if isinstance(value, int):
                sheet.write_number(number, column, value, None if column in plain else amount)
            elif isinstance(value, dt.datetime):
                sheet.write_datetime(number, column, value.replace(tzinfo=None), moment)
            elif value is not None and value != "":
                sheet.write_string(number, column, str(cell(value)))
