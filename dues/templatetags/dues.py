"""Template tags about bills due (`{% load dues %}`)."""

from dataclasses import dataclass
from typing import Any

from django import template
from django.db.models import Prefetch

from customers.models import SavedNumber
from customers.presenting import shown_number
from dues.models import OWES, DueBill, DueState

register = template.Library()
register.filter(shown_number)


@dataclass(frozen=True)
class EachMonth:
    """The days of the month for a number's check and fine, and its open bills."""

    day: int
    fine_day: int | None
    open_bills: list[DueBill]


@register.simple_tag
def each_month(number: SavedNumber) -> EachMonth | None:
    """`{% each_month number as followed %}`; None while nobody follows it.

    All numbers of the customer are read at the first one, and kept on the customer of this page.
    """
    customer: Any = number.customer
    if not hasattr(customer, "each_month"):
        rows = DueBill.objects.with_state().for_table().open()
        numbers = SavedNumber.objects.bills().filter(customer=customer, followed__isnull=False)
        numbers = numbers.select_related("followed").prefetch_related(Prefetch("due_bills", queryset=rows))
        customer.each_month = {
            row.pk: EachMonth(row.followed.day, row.followed.fine_day, list(row.due_bills.all())) for row in numbers
        }
    followed: EachMonth | None = customer.each_month.get(number.pk)
    return followed


@register.filter
def due_badge(bill: DueBill) -> str:
    """`{{ bill|due_badge }}`: the badge of its state now."""
    return DueState(bill.state).badge


@register.filter
def owed_amount(bill: DueBill) -> int | None:
    """`{{ bill|owed_amount }}`: the rupiah of a bill to be paid; None for every other bill."""
    return bill.to_pay if bill.state in OWES else None
