"""Template tags about comparisons and differences (`{% load differences %}`)."""

import datetime as dt

from django import template
from django.utils import timezone
from django.utils.safestring import SafeString

from core.looks import badge
from core.rights import Right
from drawers.presenting.shifts import CashOfDay
from reconciliation.models import Difference, ReconciliationRun
from reconciliation.presenting import ShownDay, Verdict, difference_words, shown_day, verdict_of
from staff.models import User

register = template.Library()
register.filter("difference_of", difference_words)

Result, Label, Why = ReconciliationRun.Result, Difference.Label, Difference.Why


@register.simple_tag
def books_badge(state: str) -> SafeString:
    """`{% books_badge run.state %}`: icon, word and colour for whether the books agree with the upstream's balance."""
    return badge(Result(state).look, Result(state).label)


@register.simple_tag
def difference_badge(label: str) -> SafeString:
    """`{% difference_badge difference.label %}`: the kind of difference."""
    return badge(Label(label).look, Label(label).label)


@register.simple_tag(takes_context=True)
def provider_of_day(context: template.Context, day: dt.date) -> ShownDay | None:
    """`{% provider_of_day day as provider %}`: None for a day to come, and for people who may not see the balance."""
    person: User = context["request"].user
    if day > timezone.localdate() or not person.has_perms([Right.VIEW_STATEMENT, Right.VIEW_COST]):
        return None
    return shown_day(day)


@register.simple_tag
def day_verdict(cash: CashOfDay, provider: ShownDay) -> Verdict:
    """`{% day_verdict cash provider as verdict %}`: whether the cash and the provider's balance both add up."""
    return verdict_of(cash, provider)


@register.filter
def why_named(why: str) -> str:
    """`{{ candidate.why|why_named }}`: why an order may be behind a difference, in words."""
    return str(Why(why).label) if why in Why.values else why
