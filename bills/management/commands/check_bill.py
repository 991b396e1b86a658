"""`./run manage check_bill`: asks a biller what a customer owes."""

import sys
from typing import Any

from django.core.management.base import CommandError, CommandParser

from bills import services
from bills.errors import NotABill
from bills.management.printing import check_exit_code, print_check
from bills.states import AnswerKind
from catalogue.destinations import InvalidDestination
from catalogue.models import Product
from core.commands import EXIT_USAGE, PlainCommand, waiting_seconds
from core.rights import Right
from purchases.management.printing import EXIT_FAILED, print_why_it_waits
from staff.acting import acting_person, add_as
from upstream.budget import CallClass


class Command(PlainCommand):
    """Store a check, ask, and follow it for `--wait` seconds."""

    help = "Check a bill. Exit 0: payable, 3: no answer yet, 1: refused, 2: usage."
    json_help = "Print one JSON object."

    def add_arguments(self, parser: CommandParser) -> None:
        """The biller, the customer number, how long to wait."""
        parser.add_argument("--product", required=True, metavar="CODE", help="The biller's product code.")
        parser.add_argument("--destination", required=True, metavar="NO", help="The customer number.")
        parser.add_argument(
            "--wait", type=waiting_seconds, default=0, metavar="S", help="How long to follow a pending check."
        )
        add_as(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Ask, follow, print; exit with the check's state."""
        person = acting_person(options, Right.CHECK_BILLS)
        product = Product.objects.filter(code=options["product"]).select_related("brand", "category").first()
        if product is None:
            raise CommandError(f"There is no biller {options['product']!r}.")
        try:
            check = services.start_check(
                product=product, destination=options["destination"], checked_by=person, enqueue=False
            )
        except InvalidDestination as refusal:
            raise CommandError(str(refusal), returncode=EXIT_USAGE) from refusal
        except NotABill as refusal:
            is_usage = refusal.reason == "prepaid"
            raise CommandError(str(refusal), returncode=EXIT_USAGE if is_usage else EXIT_FAILED) from refusal
        services.inquire(check.pk, call_class=CallClass.INTERACTIVE)
        check = services.follow_check(check, seconds=options["wait"])
        if check.answer == AnswerKind.NONE:
            print_why_it_waits(self.stderr, "the check stays pending")
        print_check(self.stdout, check, as_json=options["json"])
        sys.exit(check_exit_code(check))
