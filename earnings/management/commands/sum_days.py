"""`./run manage sum_days`: sums the days that are over, or again one day whose sums a proof found wrong."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from core.commands import EXIT_USAGE, PlainCommand
from core.times import shop_day
from earnings.services import prove_days, sum_day, sum_days


class Command(PlainCommand):
    """Sum the days, and prove all of them."""

    help = "Sum each day that is over and prove every day. Exit 1: a day's sums are wrong."

    def add_arguments(self, parser: CommandParser) -> None:
        """The day to be summed again."""
        parser.add_argument("--again", metavar="DAY", help="Make the sums of this day again, e.g. 2026-08-22.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Sum, prove, and name the wrong days."""
        if options["again"]:
            try:
                day = shop_day(options["again"])
            except ValueError as error:
                raise CommandError(f"{options['again']!r} is not a valid day.", returncode=EXIT_USAGE) from error
            if not sum_day(day):
                raise CommandError(f"{day} is not over, or may still change: orders or shifts are open.")
        self.stdout.write(f"Summed {sum_days()} days.")
        if wrong := prove_days(everything=True):
            raise CommandError(f"The sums of these days are wrong: {', '.join(map(str, wrong))}")
