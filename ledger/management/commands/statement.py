"""`./run manage statement`: the entries of the books."""

import datetime as dt
import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from core.commands import EXIT_USAGE, PlainCommand
from core.times import shop_day
from exports import formats
from ledger.filters import StatementFilter
from ledger.models import Entry
from ledger.tables import StatementTable


class Command(PlainCommand):
    """Print any number of entries, line by line as they come from the database."""

    help = "Print the books' entries, oldest first, as CSV or JSON lines."

    def add_arguments(self, parser: CommandParser) -> None:
        """The days, the entries, and the format."""
        parser.add_argument("--from", dest="first", metavar="DAY", help="First day, e.g. 2026-08-22.")
        parser.add_argument("--to", dest="last", metavar="DAY", help="Last day, included.")
        parser.add_argument("--kind", action="append", default=[], choices=Entry.Kind.values)
        parser.add_argument("--ref-id", default="", help="Entries of this order only.")
        parser.add_argument("--format", choices=["csv", "json"], default="csv")

    def handle(self, *args: Any, **options: Any) -> None:
        first, last = _day(options["first"]), _day(options["last"])
        if first and last and last < first:
            raise CommandError(f"--to {last} is before --from {first}.", returncode=EXIT_USAGE)
        entries = Entry.objects.with_actors()
        entries = StatementFilter({"since": first, "until": last}, queryset=entries).qs
        if options["kind"]:
            entries = entries.filter(kind__in=options["kind"])
        if options["ref_id"]:
            entries = entries.filter(ref_id=options["ref_id"])
        if options["format"] == "json":
            for row in formats.facts(entries.iterator(), StatementTable.export):
                facts = {name: formats.text_of(value) for name, value in row.items()}
                self.stdout.write(json.dumps(facts))
        else:
            for block in formats.csv_blocks(entries.iterator(), StatementTable.export):
                self.stdout.write(block)


def _day(text: str | None) -> dt.date | None:
    if text is None:
        return None
    try:
        return shop_day(text)
    except ValueError as error:
        raise CommandError(f"{text!r} is not a valid day; write it as 2026-08-22.", returncode=EXIT_USAGE) from error
