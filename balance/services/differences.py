"""What was found: labelled, matched, acknowledged. Positive ones become top-ups, negative ones adjustments."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import structlog
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from balance import engine
from balance.errors import NotPossible
from balance.models import Adjustment, Difference, Entry, ExpectedTopUp, Spending
from balance.services.ledger import post_adjustment, post_top_up

if TYPE_CHECKING:
    from staff.models import User

log = structlog.get_logger()

_MOST_CANDIDATES = 10
# A refund that comes at last is looked for among the missing ones of so long.
_LATEST_REFUND = dt.timedelta(days=30)
# A second refund is looked for among the orders that failed or succeeded within so long before.
_DOUBLE_REFUND_WITHIN = dt.timedelta(days=1)


def record_difference(found: engine.Difference) -> Difference:
    """Store what the engine found, name the orders that may be behind it, and close it where that is certain."""
    candidates = _candidates(found)
    difference = Difference.objects.create(
        amount=found.amount,
        from_at=found.from_at,
        to_at=found.to_at,
        label=_label(found.amount, candidates),
        candidates=candidates,
    )
    log.error("difference_found", difference=difference.pk, amount=difference.amount, label=str(difference.label))
    if difference.amount > 0:
        _match_expected(difference) or _match_missing_refund(difference)
    return difference


def acknowledge_top_up(difference: Difference, *, actor: User, note: str = "") -> Difference:
    """Take a positive difference into the books as a top-up. Raises `NotPossible` when it is none or not open."""
    with transaction.atomic():
        current = _locked(difference)
        if current.amount < 0:
            raise NotPossible(_("Money is missing here: an adjustment is proposed, and approved by a second person."))
        entry = post_top_up(amount=current.amount, actor=actor, reason=note)
        return _acknowledge(current, entry=entry, actor=actor, note=note)


def announce_top_up(*, amount: int, actor: User, note: str = "") -> ExpectedTopUp:
    """Say that `amount` rupiah will be paid in: a positive difference of just that is acknowledged by itself.

    One that waits already is acknowledged at once. Raises `NotPossible` unless the amount is above zero.
    """
    if amount <= 0:
        raise NotPossible(_("The amount must be above zero."))
    with transaction.atomic():
        expected = ExpectedTopUp.objects.create(amount=amount, note=note[:500], announced_by=actor)
        waiting = Difference.objects.open().select_for_update().filter(amount=amount, label=Difference.Label.TOPUP)
        if difference := waiting.order_by("pk").first():
            _match_expected(difference)
    expected.refresh_from_db()
    return expected


def cancel_expected_top_up(expected: ExpectedTopUp) -> None:
    """Withdraw an announcement. Raises `NotPossible` when the money has arrived or it was withdrawn before."""
    waiting = ExpectedTopUp.objects.filter(pk=expected.pk, difference__isnull=True, cancelled_at__isnull=True)
    if not waiting.update(cancelled_at=timezone.now()):
        raise NotPossible(_("This top-up has arrived or was withdrawn before."))


def propose_adjustment(difference: Difference, *, actor: User, reason: str) -> Adjustment:
    """Ask a second person to take a negative difference into the books. Raises `NotPossible`."""
    with transaction.atomic():
        current = _locked(difference)
        if current.amount > 0:
            raise NotPossible(_("Money was added here: it is acknowledged as a top-up."))
        if current.adjustments.filter(decided_at__isnull=True).exists():
            raise NotPossible(_("An adjustment was proposed already; a second person approves it."))
        if not reason.strip():
            raise NotPossible(_("An adjustment needs a reason."))
        return Adjustment.objects.create(difference=current, reason=reason.strip()[:500], proposed_by=actor)


def approve_adjustment(adjustment: Adjustment, *, actor: User) -> Difference:
    """Approve what another person proposed, and post it. Raises `NotPossible`."""
    with transaction.atomic():
        current = _locked(adjustment.difference)
        proposed = _undecided(adjustment)
        if proposed.proposed_by_id == actor.pk:
            raise NotPossible(_("Who proposed an adjustment cannot approve it; a second person must."))
        proposed.approved_by, proposed.decided_at = actor, timezone.now()
        proposed.save(update_fields=["approved_by", "decided_at"])
        entry = post_adjustment(amount=current.amount, actor=actor, reason=proposed.reason)
        return _acknowledge(current, entry=entry, actor=actor, note=proposed.reason)


def decline_adjustment(adjustment: Adjustment, *, actor: User) -> None:
    """Turn a proposal down (its own author may withdraw it so); the difference stays open. Raises `NotPossible`."""
    with transaction.atomic():
        proposed = _undecided(adjustment)
        proposed.declined_by, proposed.decided_at = actor, timezone.now()
        proposed.save(update_fields=["declined_by", "decided_at"])


def _locked(difference: Difference) -> Difference:
    current = Difference.objects.select_for_update().get(pk=difference.pk)
    if current.state != Difference.State.OPEN:
        raise NotPossible(_("This difference was acknowledged before."))
    return current


def _undecided(adjustment: Adjustment) -> Adjustment:
    current = Adjustment.objects.select_for_update().get(pk=adjustment.pk)
    if current.decided_at is not None:
        raise NotPossible(_("This adjustment was decided before."))
    return current


def _acknowledge(
    difference: Difference,
    *,
    actor: User | None,
    note: str,
    entry: Entry | None = None,
    other: Difference | None = None,
) -> Difference:
    difference.state = Difference.State.ACKNOWLEDGED
    difference.acknowledged_at = timezone.now()
    difference.acknowledged_by = actor
    difference.note = note[:500]
    difference.entry = entry
    difference.closed_with = other
    difference.save()
    return difference


def _match_expected(difference: Difference) -> bool:
    """Acknowledge the difference with the oldest announced top-up of exactly its amount, if there is one."""
    waiting = ExpectedTopUp.objects.select_for_update().filter(
        amount=difference.amount, difference__isnull=True, cancelled_at__isnull=True
    )
    expected = waiting.order_by("pk").first()
    if expected is None:
        return False
    expected.difference = difference
    expected.save(update_fields=["difference"])
    difference.label = Difference.Label.TOPUP
    entry = post_top_up(amount=difference.amount, actor=expected.announced_by, reason=expected.note)
    _acknowledge(difference, entry=entry, actor=None, note=expected.note)
    return True


def _match_missing_refund(difference: Difference) -> bool:
    """A refund that was missing has come after all: the two differences make each other good."""
    missing = (
        Difference.objects.open()
        .select_for_update()
        .filter(
            amount=-difference.amount,
            label=Difference.Label.MISSING_REFUND,
            to_at__gte=difference.to_at - _LATEST_REFUND,
        )
    )
    former = missing.order_by("pk").first()
    if former is None or former.adjustments.filter(decided_at__isnull=True).exists():
        return False
    difference.label = Difference.Label.LATE_REFUND
    difference.candidates = [
        {"ref_id": named["ref_id"], "why": "late_refund"}
        for named in former.candidates
        if named["why"] == "missing_refund"
    ]
    _acknowledge(former, other=difference, actor=None, note="")
    _acknowledge(difference, other=former, actor=None, note="")
    return True


def _label(amount: int, candidates: list[dict[str, str]]) -> Difference.Label:
    reasons = {candidate["why"] for candidate in candidates}
    if amount > 0:
        return Difference.Label.DOUBLE_REFUND if "double_refund" in reasons else Difference.Label.TOPUP
    return Difference.Label.MISSING_REFUND if "missing_refund" in reasons else Difference.Label.UNEXPLAINED


def _candidates(found: engine.Difference) -> list[dict[str, str]]:
    """The orders of exactly this amount whose debit or refund may be what went wrong then, the likeliest first."""
    same = Spending.objects.filter(amount=abs(found.amount), sent_at__lte=found.to_at).order_by("-sent_at")
    refund_due = Q(refunded=True, refund_known_at__gte=found.from_at, refund_known_at__lte=found.to_at)
    if found.amount < 0:
        lately = Q(sent_at__gte=found.from_at - dt.timedelta(minutes=10))
        questions = {
            "missing_refund": same.filter(refund_due),
            "charged_after_all": same.filter(Q(charged=False) | Q(charged__isnull=True)),
            "double_debit": same.filter(lately, charged=True),
        }
    else:
        lately = Q(refund_known_at__gte=found.from_at - _DOUBLE_REFUND_WITHIN, refund_known_at__lte=found.to_at)
        questions = {
            "double_refund": same.filter(lately, refunded=True),
            "refund_without_failure": same.filter(lately, refunded=False),
            "never_debited": same.filter(charged=True, sent_at__gte=found.from_at),
        }
    named: dict[str, str] = {}
    for why, spendings in questions.items():
        for ref_id in spendings.values_list("ref_id", flat=True)[:_MOST_CANDIDATES]:
            named.setdefault(ref_id, why)
    return [{"ref_id": ref_id, "why": why} for ref_id, why in list(named.items())[:_MOST_CANDIDATES]]
