"""Template tags about alerts (`{% load alerts %}`)."""

from typing import Any

from django import template

from alerts.models import ResultChoice, ResultMessage
from alerts.services.results import may_choose_results
from alerts.services.ways import ways
from staff.models import User

register = template.Library()

_LATEST = 4


@register.simple_tag
def results_facts(person: User) -> dict[str, Any]:
    """`{% results_facts user as results %}`: the person's choice and the last messages; empty without rights."""
    if not may_choose_results(person):
        return {}
    choice = ResultChoice.objects.filter(person=person).first()
    return {
        "spans": [(span.value, span.label, bool(getattr(choice, span.value, False))) for span in ResultMessage.Span],
        "ways": [way.name for way in ways()],
        "messages": ResultMessage.objects.order_by("-pk")[:_LATEST],
    }
