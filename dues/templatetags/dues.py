"""Template tags about bills due (`{% load dues %}`)."""

from __future__ import annotations

from django import template
from django.db.models import Prefetch

from customers.models import Customer, SavedNumber
from customers.presenting import shown_number
from dues.models import DueBill, DueState

register = template.Library()
register.filter(shown_number)


@register.simple_tag
def bills_each_month(customer: Customer) -> list[SavedNumber]:
    """`{% bills_each_month customer as numbers %}`: the numbers at billers, each with its day and its open bill."""
    rows = DueBill.objects.with_state().open()
    numbers = SavedNumber.objects.bills().filter(customer=customer).select_related("product__category", "followed")
    return list(numbers.prefetch_related(Prefetch("due_bills", queryset=rows)))


@register.filter
def due_badge(bill: DueBill) -> str:
    """`{{ bill|due_badge }}`: where it stands now."""
    return DueState(bill.state).badge
