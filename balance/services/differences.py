"""What was found: labelled, matched, acknowledged. Positive ones become top-ups, negative ones adjustments.

Lock order: reconciliation's row (`take_turn`), then differences, adjustments and announcements, then the books.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import structlog
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from balance import engine
from balance.errors import NotPossible
from balance.models import Adjustment, Difference, Entry, ExpectedTopUp, Reconciliation, Spending
from balance.services.ledger import post_adjustment, post_top_up

if TYPE_CHECKING:
    from staff.models import User

log = structlog.get_logger()

_MOST_CANDIDATES = 10
# A refund that comes at last is looked for among the missing ones of so long.
_LATEST_REFUND = dt.timedelta(days=30)
# A second refund is looked for among the orders that failed or succeeded within so long before.
_DOUBLE_REFUND_WITHIN = dt.timedelta(days=1)


def take_turn() -> Reconciliation:
    """Reconciliation's row, locked until the end of the transaction: runs and people's decisions go one by one.

    Locked before anything else, so that they cannot deadlock and each sees all that those before it have done.
    """
    Reconciliation.objects.get_or_create(only=True)
    return Reconciliation.objects.select_for_update().get(only=True)


def record_difference(found: engine.Difference) -> Difference:
    """Store what the engine found, name the orders that may be behind it, and close it where that is certain.

    For a run, which has taken its turn.
    """
    candidates = _candidates(found)
    difference = Difference.objects.create(
        amount=found.amount,
        from_at=found.from_at,
        to_at=found.to_at,
        label=_label(found.amount, candidates),
        candidates=candidates,
    )
    if difference.amount > 0 and not _match_missing_refund(difference) and difference.label == Difference.Label.TOPUP:
        _match_expected(difference)
    log.error("difference_found", difference=difference.pk, amount=difference.amount, label=str(difference.label))
    return difference


def acknowledge_top_up(difference: Difference, *, actor: User, note: str = "") -> Difference:
    """Take a positive difference into the books: as a top-up, or a late refund as the opposite of its adjustment.

    Raises `NotPossible` when it is negative, not open, or a late refund whose adjustment is not decided.
    """
    with transaction.atomic():
        current = _locked(difference)
        if current.amount < 0:
            raise NotPossible(_("Money is missing here: an adjustment is proposed, and approved by a second person."))
        if current.makes_good and current.makes_good.state == Difference.State.OPEN:
            raise NotPossible(_("The adjustment that was proposed for the missing refund has to be decided first."))
        post = post_adjustment if current.makes_good else post_top_up
        entry = post(amount=current.amount, actor=actor, reason=note)
        return _acknowledge(current, entry=entry, actor=actor, note=note)


def announce_top_up(*, amount: int, actor: User, note: str = "") -> ExpectedTopUp:
    """Say that `amount` rupiah will be paid in: a positive difference of just that is acknowledged by itself.

    One that waits already is acknowledged at once; after a week the announcement lapses. Raises `NotPossible` unless
    the amount is above zero.
    """
    if amount <= 0:
        raise NotPossible(_("The amount must be above zero."))
    with transaction.atomic():
        take_turn()
        expected = ExpectedTopUp.objects.create(amount=amount, note=note[:500], announced_by=actor)
        waiting = Difference.objects.open().filter(amount=amount, label=Difference.Label.TOPUP)
        if difference := waiting.order_by("pk").first():
            _match_expected(difference)
    expected.refresh_from_db()
    return expected


def cancel_expected_top_up(expected: ExpectedTopUp, *, actor: User) -> None:
    """Withdraw an announcement. Raises `NotPossible` when the money has arrived or it was withdrawn before."""
    with transaction.atomic():
        take_turn()
        current = ExpectedTopUp.objects.get(pk=expected.pk)
        if current.difference_id or current.cancelled_at:
            raise NotPossible(_("This top-up has arrived or was withdrawn before."))
        current.cancelled_at, current.cancelled_by = timezone.now(), actor
        current.save(update_fields=["cancelled_at", "cancelled_by"])


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


def decline_adjustment(adjustment: Adjustment, *, actor: User) -> Difference:
    """Turn a proposal down; its own author may withdraw it so. Raises `NotPossible`.

    The difference stays open, unless it is a missing refund that has come meanwhile.
    """
    with transaction.atomic():
        current = _locked(adjustment.difference)
        proposed = _undecided(adjustment)
        proposed.declined_by, proposed.decided_at = actor, timezone.now()
        proposed.save(update_fields=["declined_by", "decided_at"])
        if late := Difference.objects.open().filter(makes_good=current).first():
            _close_both(current, late)
        return current


def _locked(difference: Difference) -> Difference:
    """The difference, which is open; whoever asks has its turn."""
    take_turn()
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


def _match_expected(difference: Difference) -> None:
    """Acknowledge the difference with the oldest announced top-up of exactly its amount, if there is one."""
    expected = ExpectedTopUp.objects.waiting().filter(amount=difference.amount).order_by("pk").first()
    if expected is None:
        return
    expected.difference = difference
    expected.save(update_fields=["difference"])
    entry = post_top_up(amount=difference.amount, actor=expected.announced_by, reason=expected.note)
    _acknowledge(difference, entry=entry, actor=None, note=expected.note)


def _match_missing_refund(difference: Difference) -> bool:
    """A refund that was missing has come after all: the two differences make each other good.

    Not by themselves when an adjustment of the missing one was proposed or posted: then people finish it.
    """
    missing = Difference.objects.filter(
        amount=-difference.amount,
        label=Difference.Label.MISSING_REFUND,
        to_at__gte=difference.to_at - _LATEST_REFUND,
        closed_with__isnull=True,
        made_good_by__isnull=True,
    )
    former = missing.order_by(F("acknowledged_at").asc(nulls_first=True), "pk").first()
    if former is None:
        return False
    difference.label = Difference.Label.LATE_REFUND
    difference.makes_good = former
    difference.candidates = [
        {"ref_id": named["ref_id"], "why": "late_refund"}
        for named in former.candidates
        if named["why"] == "missing_refund"
    ]
    difference.save()
    if former.state == Difference.State.OPEN and not former.adjustments.filter(decided_at__isnull=True).exists():
        _close_both(former, difference)
    return True


def _close_both(missing: Difference, late: Difference) -> None:
    _acknowledge(missing, other=late, actor=None, note="")
    _acknowledge(late, other=missing, actor=None, note="")


def _label(amount: int, candidates: list[dict[str, str]]) -> Difference.Label:
    reasons = {candidate["why"] for candidate in candidates}
    if amount > 0:
        return Difference.Label.DOUBLE_REFUND if "double_refund" in reasons else Difference.Label.TOPUP
    return Difference.Label.MISSING_REFUND if "missing_refund" in reasons else Difference.Label.UNEXPLAINED


def _candidates(found: engine.Difference) -> list[dict[str, str]]:
    """The orders whose debit or refund may be what went wrong then, the likeliest first.

    They are of exactly this amount. Only what an order of unknown outcome was charged may be less than its price.
    """
    same = Spending.objects.filter(amount=abs(found.amount), sent_at__lte=found.to_at).order_by("-sent_at")
    refund_due = Q(refunded=True, refund_known_at__gte=found.from_at, refund_known_at__lte=found.to_at)
    if found.amount < 0:
        lately = Q(sent_at__gte=found.from_at - dt.timedelta(minutes=10))
        unknown = Spending.objects.filter(charged__isnull=True, sent_at__lte=found.to_at).order_by("-sent_at")
        questions = {
            "missing_refund": same.filter(refund_due),
            "outcome_unknown": unknown.filter(amount__gte=-found.amount),
            "charged_after_all": same.filter(charged=False),
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
