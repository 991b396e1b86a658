"""Template tags about complaints, also for the page of an order (`{% load complaints %}`)."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

from complaints import presenting
from complaints.models import Complaint
from purchases.models import Order

register = template.Library()


@register.simple_tag
def complaint_badge(complaint: Complaint) -> SafeString:
    """`{% complaint_badge complaint %}`: icon, word and colour of where it stands."""
    return presenting.complaint_badge(complaint)


@register.simple_tag
def complaint_about(order: Order) -> Complaint | None:
    """`{% complaint_about order as complaint %}`: the order's open complaint, or None."""
    return Complaint.objects.open().filter(order=order).first()


@register.filter
def is_overdue(complaint: Complaint) -> bool:
    """`{{ complaint|is_overdue }}`: whether nobody has looked after it in time."""
    return presenting.is_overdue(complaint)
