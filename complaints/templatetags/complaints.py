"""Template tags about complaints, also for the page of an order (`{% load complaints %}`)."""

from django import template

from complaints.models import Complaint
from purchases.models import Order

register = template.Library()


@register.simple_tag
def complaint_about(order: Order) -> Complaint | None:
    """`{% complaint_about order as complaint %}`: the order's open complaint, or None."""
    return Complaint.objects.open().filter(order=order).first()
