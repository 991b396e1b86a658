"""The statement as files: CSV sent row by row, and a workbook."""

from __future__ import annotations

import csv
import datetime as dt
import tempfile
from collections.abc import Iterator
from typing import IO, Any

import xlsxwriter
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _

from balance.errors import NotPossible
from balance.models.ledger import EntryQuerySet
from balance.services import one_moment

COLUMNS = (
    *("id", "at", "kind", "ref_id", "order_kind", "amount", "balance_change", "held_change"),
    *("balance_before", "balance_after", "held_after", "actor", "reason"),
)
# What a sheet holds, less its heading.
MOST_ROWS = 1_048_575
_CHUNK = 2_000
_AMOUNTS = {"amount", "balance_change", "held_change", "balance_before", "balance_after", "held_after"}
_WIDTHS = {"at": 20, "ref_id": 20, "reason": 40, **dict.fromkeys(_AMOUNTS, 15)}
# A cell that begins so is run as a formula by spreadsheets.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def rows(entries: EntryQuerySet) -> Iterator[dict[str, Any]]:
    """The entries keyed by `COLUMNS`, as they come from the database; whole rupiah, the shop's own time."""
    for entry in entries.iterator(chunk_size=_CHUNK):
        facts = {
            "id": entry.pk,
            "at": timezone.localtime(entry.at),
            "actor": entry.actor.get_username() if entry.actor else "",
        }
        yield {name: facts[name] if name in facts else getattr(entry, name) for name in COLUMNS}


def text_of(value: Any) -> Any:
    """The value for a line of text: a moment in ISO 8601, anything else as it is."""
    return value.isoformat(timespec="seconds") if isinstance(value, dt.datetime) else value


def cell(value: Any) -> Any:
    """The value for a spreadsheet: numbers as they are, a text that would be a formula with an apostrophe before it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value


class _Line:
    """A file of one line: what is written comes back."""

    def write(self, text: str) -> str:
        return text


def csv_lines(entries: EntryQuerySet) -> Iterator[str]:
    """The entries as lines of CSV, with a heading."""
    writer = csv.writer(_Line(), lineterminator="\n")
    yield writer.writerow(COLUMNS)
    for row in rows(entries):
        yield writer.writerow(cell(text_of(value)) for value in row.values())


def workbook(entries: EntryQuerySet) -> IO[bytes]:
    """The entries as a workbook, in a temporary file that stands at its beginning. Rows go to disk as they come.

    Raises `NotPossible` when they are more than a sheet holds.
    """
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the answer closes it
    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with one_moment():
        if entries.count() > MOST_ROWS:
            raise NotPossible(
                _("More than %(most)s entries do not fit into a workbook. Narrow the days, or take CSV.")
                % {"most": number_format(MOST_ROWS, force_grouping=True)}
            )
        with xlsxwriter.Workbook(file, options) as book:
            _write(book, entries)
    file.seek(0)
    return file


def _write(book: xlsxwriter.Workbook, entries: EntryQuerySet) -> None:
    sheet = book.add_worksheet("Statement")
    heading, rupiah = book.add_format({"bold": True}), book.add_format({"num_format": "#,##0"})
    moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
    sheet.freeze_panes(1, 0)
    for column, name in enumerate(COLUMNS):
        sheet.set_column(column, column, _WIDTHS.get(name, 12), rupiah if name in _AMOUNTS else None)
        sheet.write_string(0, column, name, heading)
    for number, row in enumerate(rows(entries), start=1):
        for column, value in enumerate(map(cell, row.values())):
            if isinstance(value, int):
                sheet.write_number(number, column, value)
            elif isinstance(value, dt.datetime):
                sheet.write_datetime(number, column, value.replace(tzinfo=None), moment)
            else:
                sheet.write_string(number, column, str(value))
