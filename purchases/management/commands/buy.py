"""`./run manage buy`: buy a product from the command line, through the same services as the page."""

import uuid
from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import CommandError, CommandParser

from catalogue.destinations import InvalidDestination
from catalogue.models import Product
from core.commands import EXIT_USAGE, PlainCommand, waiting_seconds, whole_rupiah
from core.errors import OrderRefused
from core.rights import Right
from purchases import services
from purchases.errors import NotForSale, PriceMoved, RepeatToday
from purchases.management.printing import EXIT_FAILED, send_and_exit
from purchases.models import Order
from staff.acting import acting_person, add_as
from staff.models import User

_LONGEST_KEY = 64


class Command(PlainCommand):
    """Place an order, send it, and follow it for `--wait` seconds."""

    help = "Buy a product. Exit 0: success, 3: not final yet, 1: any other end, or refused, 2: usage."
    json_help = "Print one JSON object."

    def add_arguments(self, parser: CommandParser) -> None:
        """The product, the destination, how long to wait."""
        parser.add_argument("--product", required=True, metavar="CODE", help="The product's code.")
        parser.add_argument(
            "--destination", required=True, metavar="NO", help="Phone, meter or customer number, game ID."
        )
        parser.add_argument(
            "--max-price", type=whole_rupiah, metavar="RUPIAH", help="Highest price to pay (default: the catalogue's)."
        )
        parser.add_argument(
            "--wait", type=waiting_seconds, default=0, metavar="SECONDS", help="How long to follow the order."
        )
        parser.add_argument("--key", type=_key, metavar="KEY", help="Idempotency key: the same key never buys twice.")
        parser.add_argument("--again", action="store_true", help="Buy again, though it was bought today already.")
        parser.add_argument(
            "--wait-for-topup", action="store_true", help="If the balance is short, the order waits until it is not."
        )
        add_as(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Place, send, follow, print; exit with the order's state."""
        person = acting_person(options, Right.VIEW_PRODUCT, Right.BUY)
        product = Product.objects.filter(code=options["product"]).select_related("brand", "category").first()
        if product is None:
            raise CommandError(
                f"There is no product {options['product']!r}; ./run manage sync_catalogue fetches the list."
            )
        send_and_exit(self, self._place(product, person, options), options)

    @staticmethod
    def _place(product: Product, person: User | None, options: dict[str, Any]) -> Order:
        try:
            return services.place_order(
                product=product,
                destination=options["destination"],
                max_price=product.price if options["max_price"] is None else options["max_price"],
                takes_less=True,
                idempotency_key=options["key"] or str(uuid.uuid4()),
                placed_by=person,
                confirm_repeat=options["again"],
                wait_for_topup=options["wait_for_topup"],
                enqueue=False,
            )
        except RepeatToday as refusal:
            raise CommandError(f"{refusal} Say --again if so.") from refusal
        except PriceMoved as refusal:
            raise CommandError(
                f"The price is {refusal.price} rupiah, above --max-price {options['max_price']}."
            ) from refusal
        except InvalidDestination as refusal:
            raise CommandError(str(refusal), returncode=EXIT_USAGE) from refusal
        except NotForSale as refusal:
            is_usage = refusal.reason == "postpaid"
            raise CommandError(str(refusal), returncode=EXIT_USAGE if is_usage else EXIT_FAILED) from refusal
        except OrderRefused as refusal:
            raise CommandError(str(refusal)) from refusal


def _key(text: str) -> str:
    if not 1 <= len(text) <= _LONGEST_KEY:
        raise ArgumentTypeError(f"a key has 1 to {_LONGEST_KEY} characters")
    return text
