"""The statement as files: CSV sent row by row, and a workbook. The columns are those of `balance.services`."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator
from typing import IO, Any

import xlsxwriter

from balance.models.ledger import EntryQuerySet
from balance.services import STATEMENT_COLUMNS, spreadsheet_cell, statement_row

# What a sheet holds, less its heading.
MOST_ROWS = 1_048_575
_CHUNK = 2_000
_AMOUNTS = {"amount", "balance_change", "held_change", "balance_before", "balance_after", "held_after"}
_WIDTHS = {"at": 25, "ref_id": 20, "reason": 40, **dict.fromkeys(_AMOUNTS, 15)}


def _rows(entries: EntryQuerySet) -> Iterator[list[Any]]:
    for entry in entries.iterator(chunk_size=_CHUNK):
        row = statement_row(entry)
        yield [spreadsheet_cell(row[name]) for name in STATEMENT_COLUMNS]


class _Line:
    """A file of one line: what is written comes back."""

    def write(self, text: str) -> str:
        return text


def csv_lines(entries: EntryQuerySet) -> Iterator[str]:
    """The entries as lines of CSV, with a heading; UTF-8 is announced, because spreadsheets guess wrongly."""
    writer = csv.writer(_Line())
    yield "\ufeff" + writer.writerow(STATEMENT_COLUMNS)
    for row in _rows(entries):
        yield writer.writerow(row)


def workbook(entries: EntryQuerySet) -> IO[bytes]:
    """The entries as a workbook, in a temporary file that stands at its beginning. Rows go to disk as they come."""
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the answer closes it
    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with xlsxwriter.Workbook(file, options) as book:
        sheet = book.add_worksheet("Statement")
        heading, rupiah = book.add_format({"bold": True}), book.add_format({"num_format": "#,##0"})
        sheet.freeze_panes(1, 0)
        for column, name in enumerate(STATEMENT_COLUMNS):
            sheet.set_column(column, column, _WIDTHS.get(name, 12), rupiah if name in _AMOUNTS else None)
            sheet.write_string(0, column, name, heading)
        for number, row in enumerate(_rows(entries[:MOST_ROWS]), start=1):
            for column, value in enumerate(row):
                if isinstance(value, int):
                    sheet.write_number(number, column, value)
                else:
                    sheet.write_string(number, column, str(value))
    file.seek(0)
    return file
