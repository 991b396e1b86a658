"""Template tags about comparisons and differences (`{% load differences %}`)."""

from __future__ import annotations

import datetime as dt

from django import template
from django.utils.safestring import SafeString

from core.looks import badge
from core.times import start_of_day
from reconciliation.models import Difference, ReconciliationRun
from reconciliation.presenting import difference_words

register = template.Library()
register.filter("difference_of", difference_words)

Result, Label, Why = ReconciliationRun.Result, Difference.Label, Difference.Why


@register.simple_tag
def books_badge(state: str) -> SafeString:
    """`{% books_badge run.state %}`: icon, word and colour of how the books stand to the upstream's balance."""
    return badge(Result(state).look, Result(state).label)


@register.simple_tag
def difference_badge(label: str) -> SafeString:
    """`{% difference_badge difference.label %}`: the kind of difference."""
    return badge(Label(label).look, Label(label).label)


@register.simple_tag
def last_run_of(day: dt.date) -> ReconciliationRun | None:
    """`{% last_run_of closing.day as run %}`: the newest comparison of that day, if there was one."""
    until = start_of_day(day + dt.timedelta(days=1))
    return ReconciliationRun.objects.filter(at__gte=start_of_day(day), at__lt=until).order_by("-at", "-pk").first()


@register.filter
def why_named(why: str) -> str:
    """`{{ candidate.why|why_named }}`: why an order may be behind a difference, in words."""
    return str(Why(why).label) if why in Why.values else why
