"""Drawers, shifts and sales for the tests of drawers."""

import datetime as dt
import re
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from drawers.errors import DrawerRefused
from drawers.models import DENOMINATIONS, Drawer, Shift
from drawers.services import Ending, end_payments, open_shift
from purchases.models import Order
from staff.models import User
from testing.database import past_triggers
from testing.factories import make_product
from testing.orders import place
from testing.people import make_person, signed_in


def pieces_of(amount: int) -> list[int]:
    """A count with few pieces that adds up to this amount (rupiah, a multiple of 100)."""
    counted = []
    for value in DENOMINATIONS:
        number, amount = divmod(amount, value)
        counted.append(number)
    assert not amount
    return counted


def counted(amount: int, **more: Any) -> dict[str, Any]:
    """A count of so much, as the form sends it."""
    fields = {f"pieces_{value}": number for value, number in zip(DENOMINATIONS, pieces_of(amount), strict=True)}
    return fields | more


def make_drawer(name: str = "Front") -> Drawer:
    return Drawer.objects.create(name=name)


def begin(person: User | None = None, *, cash: int = 200_000, drawer: Drawer | None = None) -> Shift:
    """An open shift of this person, or of a new cashier, with so much cash."""
    person = person or make_person("cashier")
    drawer = drawer or make_drawer(f"Drawer of {person.username}")
    return open_shift(drawer, pieces=pieces_of(cash), actor=person, reason="another amount")


def sell(person: User, amount: int = 10_500, **facts: Any) -> Order:
    """An order that this person has placed for so much (rupiah)."""
    return place(make_product(price=amount), placed_by=person, **facts)


def end(order: Order, status: str) -> Order:
    """The order, ended in this way past the services."""
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(
            "UPDATE purchases_order SET status = %s, final_at = now(), ended_no = 1, next_poll_at = NULL,"
            " action_reason = '' WHERE id = %s",
            [status, order.pk],
        )
        cursor.execute("SET session_replication_role = origin")
    order.refresh_from_db()
    with transaction.atomic():
        cost = order.shown_price if status == "success" else None
        end_payments([Ending(order.payment_id, order.final_at, cost)])
    return order


def end_of_day() -> dt.date:
    """Yesterday: dates the shifts and their day back to it, so that the day is over."""
    with past_triggers() as cursor:
        cursor.execute("UPDATE drawers_drawerday SET day = day - 1")
        cursor.execute("UPDATE drawers_shift SET opened_at = opened_at - interval '1 day'")
        cursor.execute("UPDATE drawers_shift SET closed_at = closed_at - interval '1 day'")
    return timezone.localdate() - dt.timedelta(days=1)


def token_on(browser, path, form):
    """The number in this form of the page."""
    page = browser.get(path).content.decode()
    match = re.search(r'name="token" value="([0-9a-f-]{36})"', page[page.index(form) :])
    assert match, path
    return match[1]


def send_as(person, path, fields):
    return signed_in(person).post(path, fields).status_code


def refused(reason: str) -> Any:
    """Assert that the block is refused for this reason."""
    return pytest.raises(DrawerRefused, check=lambda refusal: refusal.reason == reason)


def message_codes(answer: Any) -> list[str]:
    """The codes of the page's messages, in their order."""
    return [message.extra_tags for message in answer.context["messages"]]
