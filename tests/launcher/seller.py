"""A process that fills a shop with `ORDERS` orders and then sells until it is killed, against the sandbox.

It prints "filled", and the ref_id of each order once its sending was answered: these are acknowledged.
"""

import sys
import uuid
from pathlib import Path

ORDERS = 1_900


def main() -> None:
    """Fill, and sell."""
    import django  # noqa: PLC0415 - a test imports ORDERS from here

    django.setup()

    from catalogue.models import Product  # noqa: PLC0415 - after the set-up, as the next ones
    from catalogue.services import sync_catalogue  # noqa: PLC0415
    from purchases.services import place_order, submit  # noqa: PLC0415
    from testing.books import make_books  # noqa: PLC0415
    from upstream.budget import CallClass  # noqa: PLC0415
    from upstream.client import get_client  # noqa: PLC0415

    make_books(ORDERS)
    get_client().budget.declare_fresh()
    sync_catalogue()
    product = Product.objects.get(code="TSEL10")
    print("filled", flush=True)
    for number in range(10_000):
        order = place_order(
            product=product,
            destination=f"0812{number:08d}",
            max_price=product.price,
            idempotency_key=str(uuid.uuid4()),
            placed_by=None,
            enqueue=False,
        )
        submit(order.pk, call_class=CallClass.INTERACTIVE)
        print(order.ref_id, flush=True)


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    main()
