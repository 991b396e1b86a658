"""Template tags about the books (`{% load ledger %}`)."""

from django import template
from django.utils.safestring import SafeString

from core.looks import badge
from ledger.models import Entry

register = template.Library()

Kind = Entry.Kind

# Icon and colour of each; the word stands beside, so that colour is never the only sign.
KIND_LOOKS = {
    Kind.OPENING: ("door-enter", "plain"),
    Kind.HOLD: ("lock", "plain"),
    Kind.RELEASE: ("lock-open", "plain"),
    Kind.DEBIT: ("arrow-up-right", "queued"),
    Kind.REFUND: ("arrow-back-up", "held"),
    Kind.REVERSAL: ("arrow-back-up-double", "warn"),
    Kind.TOPUP: ("cash", "good"),
    Kind.ADJUSTMENT: ("adjustments", "warn"),
}


@register.simple_tag
def entry_badge(kind: str) -> SafeString:
    """`{% entry_badge entry.kind %}`: the kind of entry."""
    return badge(KIND_LOOKS[Kind(kind)], Kind(kind).label)
