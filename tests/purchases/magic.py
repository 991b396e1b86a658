"""Orders for the sandbox's magic destinations: each destination has one documented behaviour."""

import datetime as dt
from typing import Any

from django.core.management import call_command

from catalogue.models import Product
from purchases.models import Order
from purchases.services import poll, submit
from purchases.services.polling import follow
from testing import orders
from testing.database import copy_rows, empty_tables, put_back
from testing.sandbox_process import eventually
from upstream.budget import CallClass


def place(number: int, *, name: str = "Telkomsel 10.000") -> Order:
    """A queued order for magic destination `number`."""
    return orders.place(Product.objects.get(name=name), destination=f"0812900000{number:02d}")


def ask(order: Order, *, times: int) -> Order:
    """Poll the order so many times, without waiting for the due times."""
    for _ in range(times):
        poll(order.pk, call_class=CallClass.INTERACTIVE)
    order.refresh_from_db()
    return order


def ended(order: Order) -> Order:
    """The order, after polls until it is final."""
    eventually(lambda: ask(order, times=1).is_final)
    return order


def killed(*_: Any, **__: Any) -> Any:
    """In place of a function: as if the process were killed at this moment."""
    raise KeyboardInterrupt


def buy(number: int, *, wait: float = 5.0) -> Order:
    """Place, send, and follow for `wait` seconds without any callback, as the commands do."""
    order = place(number)
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    return follow(order, seconds=wait)


class Lost:
    """Loses the work inside: afterwards the database is as before, and marked as restored."""

    def __enter__(self) -> None:
        self.rows = copy_rows()
        self.moment = dt.datetime.now(dt.UTC)

    def __exit__(self, *fault: Any) -> None:
        if fault == (None, None, None):
            empty_tables()
            put_back(self.rows)
            call_command("hold_restored", to=self.moment)
