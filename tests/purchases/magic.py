"""Orders for the sandbox's magic destinations: each makes it behave in one documented way."""

import uuid

from catalogue.models import Product
from purchases.models import Order
from purchases.services import place_order, submit
from purchases.services.following import follow
from upstream.budget import CallClass


def place(number: int, *, name: str = "Telkomsel 10.000") -> Order:
    """A queued order for magic destination `number`."""
    product = Product.objects.get(name=name)
    return place_order(
        product=product,
        destination=f"0812900000{number:02d}",
        max_price=product.price,
        idempotency_key=str(uuid.uuid4()),
        placed_by=None,
        enqueue=False,
    )


def buy(number: int, *, wait: float = 5.0) -> Order:
    """Place, send, and follow for `wait` seconds without any callback, like the commands."""
    order = place(number)
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    return follow(order, seconds=wait)
