"""`./run manage order REF_ID`: the facts of one order."""

import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser

from core.commands import PlainCommand
from purchases.management.printing import exit_code, print_order
from purchases.models import Order


class Command(PlainCommand):
    """Print one order; it only reads."""

    help = "Show one order. Exit 0: success, 3: not final yet, 1: any other end, or not found."
    json_help = "Print one JSON object."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("ref_id", metavar="REF_ID")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print and exit with the order's state."""
        order = Order.objects.filter(ref_id=options["ref_id"]).first()
        if order is None:
            raise CommandError(f"There is no order {options['ref_id']!r}.")
        print_order(self.stdout, order, as_json=options["json"])
        sys.exit(exit_code(order))
