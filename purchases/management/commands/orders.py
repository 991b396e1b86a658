"""`./run manage orders`: the orders, newest first."""

import datetime as dt
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from core.commands import EXIT_USAGE, PlainCommand
from purchases.management.printing import print_order
from purchases.models import Order
from purchases.states import Status


class Command(PlainCommand):
    """List orders by status and time; it only reads."""

    help = "List orders, newest first."
    json_help = "Print JSON lines."

    def add_arguments(self, parser: CommandParser) -> None:
        """The status, and the first day."""
        parser.add_argument("--status", choices=Status.values)
        parser.add_argument(
            "--since", metavar="ISO", help="Placed at or after this time, e.g. 2026-08-22T10:00:00+07:00."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        orders = Order.objects.order_by("-created_at", "-pk")
        if options["status"]:
            orders = orders.filter(status=options["status"])
        if options["since"]:
            orders = orders.filter(created_at__gte=_moment(options["since"]))
        for order in orders.iterator():
            print_order(self.stdout, order, as_json=options["json"], with_time=True)


def _moment(text: str) -> dt.datetime:
    try:
        moment = dt.datetime.fromisoformat(text)
    except ValueError as error:
        raise CommandError(
            f"{text!r} is not a valid time; write it as 2026-08-22T10:00:00+07:00.", returncode=EXIT_USAGE
        ) from error
    # Without an offset it is meant as the shop's own time.
    return moment if moment.tzinfo else timezone.make_aware(moment)
