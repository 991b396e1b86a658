"""Template tags about the books (`{% load books %}`)."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from backoffice.icons import icon
from backoffice.money import rupiah
from balance.models import Alert, Difference, Entry, ReconciliationRun

register = template.Library()

State, Label, Kind = ReconciliationRun.State, Difference.Label, Entry.Kind

# Icon and colour of each; the word stands beside, so that colour is never the only sign.
STATE_LOOKS = {
    State.WAITING: ("hourglass", "queued"),
    State.BALANCED: ("circle-check", "good"),
    State.PROVISIONAL: ("clock", "queued"),
    State.TOPUP: ("cash", "warn"),
    State.UNEXPLAINED: ("alert-octagon", "bad"),
}
LABEL_LOOKS = {
    Label.TOPUP: ("cash", "warn"),
    Label.DOUBLE_REFUND: ("alert-triangle", "warn"),
    Label.LATE_REFUND: ("arrow-back-up", "good"),
    Label.MISSING_REFUND: ("alert-octagon", "bad"),
    Label.UNEXPLAINED: ("alert-octagon", "bad"),
}
KIND_LOOKS = {
    Kind.OPENING: ("door-enter", "plain"),
    Kind.HOLD: ("lock", "plain"),
    Kind.RELEASE: ("lock-open", "plain"),
    Kind.DEBIT: ("arrow-up-right", "queued"),
    Kind.REFUND: ("arrow-back-up", "held"),
    Kind.TOPUP: ("cash", "good"),
    Kind.ADJUSTMENT: ("adjustments", "warn"),
}
SEVERITY_LOOKS = {
    Alert.Severity.CRITICAL: ("alert-octagon", "bad"),
    Alert.Severity.WARNING: ("alert-triangle", "warn"),
}
# Why an order may be behind a difference.
REASONS = {
    "missing_refund": _("It failed in that time, so its price should have come back."),
    "outcome_unknown": _("Its outcome is not known; the upstream may have charged it."),
    "charged_after_all": _("We know of no charge for it; it may have been charged after all."),
    "double_debit": _("It was charged in that time, perhaps twice."),
    "double_refund": _("It was refunded in that time, perhaps twice."),
    "refund_without_failure": _("It succeeded; it may have been refunded all the same."),
    "never_debited": _("It was accepted in that time and perhaps never charged."),
    "late_refund": _("Its refund was missing and has come after all."),
}


def _badge(look: tuple[str, str], words: object) -> SafeString:
    return format_html('<span class="status status-{}">{}{}</span>', look[1], icon(look[0]), words)


@register.simple_tag
def books_badge(state: str) -> SafeString:
    """`{% books_badge run.state %}`: icon, word and colour of how the books stand to the upstream's balance."""
    return _badge(STATE_LOOKS[State(state)], State(state).label)


@register.simple_tag
def difference_badge(label: str) -> SafeString:
    """`{% difference_badge difference.label %}`: what kind of difference it is."""
    return _badge(LABEL_LOOKS[Label(label)], Label(label).label)


@register.simple_tag
def entry_badge(kind: str) -> SafeString:
    """`{% entry_badge entry.kind %}`: what kind of entry it is."""
    return _badge(KIND_LOOKS[Kind(kind)], Kind(kind).label)


@register.simple_tag
def severity_badge(severity: int) -> SafeString:
    """`{% severity_badge alert.severity %}`: how grave an alert is."""
    return _badge(SEVERITY_LOOKS[Alert.Severity(severity)], Alert.Severity(severity).label)


@register.filter
def signed(amount: int | None) -> str:
    """`{{ entry.balance_change|signed }}`: "+Rp1.000", "-Rp1", "Rp0", or a dash where it is not known."""
    if amount is None:
        return "–"
    return f"+{rupiah(amount)}" if amount > 0 else rupiah(amount)


@register.filter
def size(amount: int) -> str:
    """`{{ difference.amount|size }}`: rupiah without its sign, where the words say which way it went."""
    return rupiah(abs(amount))


@register.filter
def held_before(entry: Entry) -> int:
    """`{{ entry|held_before }}`: rupiah that were held when the entry was made."""
    return entry.held_after - entry.held_change


@register.filter
def why_named(why: str) -> str:
    """`{{ candidate.why|why_named }}`: why an order may be behind a difference, in words."""
    return str(REASONS.get(why, why))
