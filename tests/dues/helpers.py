"""Helpers for the tests of bills that come each month."""

import datetime as dt

from django.utils import timezone

from bills import services as bills
from bills.models import BillCheck
from catalogue.models import Product
from customers.models import SavedNumber
from dues.models import DueBill, DueState, FollowedNumber
from dues.services import sweep
from testing.factories import make_biller, make_check
from tests.customers.helpers import make_customer
from upstream.budget import CallClass


def followed(destination: str, *, day: int, product: Product, first_month: str = "2026-01-01", **facts) -> SavedNumber:
    """A number of a new customer, followed on this day of each month."""
    number = make_customer(f"Bu {destination}", (destination, product)).numbers.get()
    first = dt.date.fromisoformat(first_month)
    FollowedNumber.objects.create(number=number, day=day, first_month=first, **facts)
    return number


def night() -> None:
    """Run one sweep, its inquiries, and the next sweep."""
    sweep()
    for check in BillCheck.objects.filter(answer="none", next_poll_at__isnull=False):
        bills.inquire(check.pk, call_class=CallClass.BACKGROUND)
    sweep()


def states(number: SavedNumber) -> list[tuple[str, DueState]]:
    """The months of a number and the states of their bills, oldest first."""
    rows = DueBill.objects.with_state().filter(number=number).order_by("month")
    return [(f"{row.due_on}", DueState(row.state)) for row in rows]


def due_bill(destination: str, *, answer: str = "bill", fine_on: str | None = None, **facts) -> DueBill:
    """This month's bill of a followed number, after the biller's answer."""
    number = followed(destination, day=1, product=make_biller())
    check = make_check(answer, product=number.product, destination=destination, saved_number=number, **facts)
    month = timezone.localdate().replace(day=1)
    return DueBill.objects.create(
        number=number, month=month, due_on=month, fine_on=fine_on, bill_check=check, ask_at=timezone.now()
    )
