"""Template tags about complaints (`{% load complaints %}`)."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

from complaints import presenting
from complaints.models import Complaint

register = template.Library()


@register.simple_tag
def complaint_badge(complaint: Complaint) -> SafeString:
    """`{% complaint_badge complaint %}`: icon, word and colour of where it stands."""
    return presenting.complaint_badge(complaint)
