"""`./run manage buy`: buy a product from the command line, through the same services as the page."""

import sys
import uuid
from typing import Any

from django.core.management.base import CommandError, CommandParser

from backoffice.command import EXIT_USAGE, PlainCommand
from purchases import services
from purchases.errors import OrderRefused, RepeatToday
from purchases.management.printing import exit_code, print_order
from purchases.models import Product
from purchases.services.following import follow
from upstream.budget import CallClass


class Command(PlainCommand):
    """Place an order, send it, and follow it for `--wait` seconds."""

    help = "Buy a product. Exit 0: success, 3: not final yet, 1: rejected, failed, cancelled or refused, 2: usage."

    def add_arguments(self, parser: CommandParser) -> None:
        """The product, the destination, how long to wait, and how to print."""
        parser.add_argument("--product", required=True, metavar="CODE", help="The product's code.")
        parser.add_argument(
            "--destination", required=True, metavar="NO", help="Phone, meter or customer number, game ID."
        )
        parser.add_argument("--zone", default="", help="The zone, for games that have one.")
        parser.add_argument(
            "--max-price", type=int, metavar="RUPIAH", help="Highest price to pay (default: the catalogue's)."
        )
        parser.add_argument("--wait", type=float, default=0, metavar="SECONDS", help="Follow the order for so long.")
        parser.add_argument("--key", metavar="KEY", help="Idempotency key: the same key never buys twice.")
        parser.add_argument("--again", action="store_true", help="Yes, once more, though it was bought today already.")
        parser.add_argument(
            "--wait-for-topup", action="store_true", help="If the balance is short, hold the order until it is not."
        )
        parser.add_argument("--json", action="store_true", help="Print one JSON object.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        """Place, send, follow, print; exit with the order's state."""
        product = Product.objects.filter(code=options["product"]).select_related("brand", "category").first()
        if product is None:
            raise CommandError(
                f"There is no product {options['product']!r}; ./run manage sync_catalogue fetches the list.",
                returncode=EXIT_USAGE,
            )
        max_price = product.price if options["max_price"] is None else options["max_price"]
        if max_price < product.price:
            raise CommandError(f"The price is {product.price} rupiah, above --max-price {max_price}.")
        try:
            order = services.place_order(
                product=product,
                destination=options["destination"],
                zone=options["zone"],
                max_price=product.price,
                idempotency_key=options["key"] or str(uuid.uuid4()),
                placed_by=None,
                confirm_repeat=options["again"],
                wait_for_topup=options["wait_for_topup"],
                enqueue=False,
            )
        except RepeatToday as refusal:
            raise CommandError(f"{refusal} Say --again if so.") from refusal
        except OrderRefused as refusal:
            raise CommandError(str(refusal)) from refusal
        services.submit(order.pk, call_class=CallClass.INTERACTIVE)
        order = follow(order, seconds=options["wait"])
        print_order(self.stdout, order, as_json=options["json"])
        sys.exit(exit_code(order))
