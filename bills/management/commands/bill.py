"""`./run manage bill REF_ID`: the facts of one bill check."""

import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser

from bills.management.printing import check_exit_code, print_check
from bills.models import BillCheck
from core.commands import PlainCommand


class Command(PlainCommand):
    """Print one check; it only reads."""

    help = "Show one bill check. Exit 0: payable or paid, 3: no answer yet, 1: refused, expired or not found."
    json_help = "Print one JSON object."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref_id", metavar="REF_ID")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print and exit with the check's state."""
        check = BillCheck.objects.filter(ref_id=options["ref_id"]).first()
        if check is None:
            raise CommandError(f"There is no bill check {options['ref_id']!r}.")
        print_check(self.stdout, check, as_json=options["json"])
        sys.exit(check_exit_code(check))
