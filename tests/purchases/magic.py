"""Orders for the sandbox's magic destinations: each makes it behave in one documented way."""

from catalogue.models import Product
from purchases.models import Order
from purchases.services import submit
from purchases.services.following import follow
from testing import orders
from upstream.budget import CallClass


def place(number: int, *, name: str = "Telkomsel 10.000") -> Order:
    """A queued order for magic destination `number`."""
    return orders.place(Product.objects.get(name=name), destination=f"0812900000{number:02d}")


def buy(number: int, *, wait: float = 5.0) -> Order:
    """Place, send, and follow for `wait` seconds without any callback, like the commands."""
    order = place(number)
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    return follow(order, seconds=wait)
