"""The number on a card terminal's slip, which is that of one payment."""

from __future__ import annotations

from django.utils import timezone

from branches.seeing import narrowed
from core import clock
from core.times import start_of_day
from drawers.errors import SlipUsed
from drawers.models import Payment
from drawers.services.facts import PaymentFacts


def refuse_used_slip(facts: PaymentFacts, *, own_key: str, confirmed: str = "") -> None:
    """Raise `SlipUsed` when a sale of today has the same number on its slip.

    `own_key`: the idempotency key of this sale, which may be sent again. `confirmed`: the number that a person has said
    is right. It is a question, and no guard: two sales at one moment may both pass.
    """
    slip = facts.reference.strip()
    if not facts.row.needs_reference or slip == confirmed:
        return
    of_today = Payment.objects.filter(method=facts.row.code, at__gte=start_of_day(timezone.localdate(clock.now())))
    same = narrowed(of_today, "branch").filter(is_cash=False, debt=None, reference__iexact=slip)
    if used := same.exclude(order__idempotency_key=own_key).order_by("-at", "-pk").first():
        raise SlipUsed(used.ref_id, slip)
