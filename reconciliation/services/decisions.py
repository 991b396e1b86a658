"""People's decisions about differences: positive ones become top-ups, negative ones adjustments by two people.

A proposal waits in the approvals. Lock order: the approval, reconciliation's row, then differences, adjustments
and announcements, then the books.
"""

from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from approvals import services as approvals
from core.money import signed_rupiah
from ledger import services as ledger
from reconciliation.errors import DecisionRefused
from reconciliation.models import Adjustment, Difference, ExpectedTopUp
from reconciliation.services.differences import (
    MAY_BE_ANNOUNCED,
    close,
    close_both,
    lock_reconciliation,
    match_announced,
)
from staff.models import User

ADJUSTMENT = "adjustment"


def acknowledge_top_up(difference: Difference, *, actor: User, note: str = "") -> Difference:
    """Take a positive difference into the books: as a top-up, or for a late refund as the reversal of its adjustment.

    Raises `DecisionRefused` when it is negative, not open, or a late refund whose adjustment is not decided.
    """
    with transaction.atomic():
        current = _locked_open(difference)
        if current.amount < 0:
            raise DecisionRefused(
                _("Money is missing here: an adjustment is proposed, and approved by a second person.")
            )
        if current.makes_good and current.makes_good.state == Difference.State.OPEN:
            raise DecisionRefused(_("The adjustment that was proposed for the missing refund has to be decided first."))
        post = ledger.post_adjustment if current.makes_good else ledger.post_top_up
        entry = post(amount=current.amount, actor=actor, reason=note)
        return close(current, entry=entry, actor=actor, note=note)


def announce_top_up(*, amount: int, actor: User, note: str = "", seen: int | None = None) -> ExpectedTopUp:
    """Announce a top-up of `amount` rupiah: a positive difference of exactly this is acknowledged automatically.

    A difference that is already open is acknowledged at once; after a week the announcement expires. `seen`: of the
    form (`announced_before`), which makes one announcement even if it is sent twice. Raises `DecisionRefused` unless
    the amount is above zero.
    """
    if amount <= 0:
        raise DecisionRefused(_("The amount must be above zero."))
    with transaction.atomic():
        lock_reconciliation()
        if before := announced_before(amount=amount, actor=actor, note=note, seen=seen):
            return before
        expected = ExpectedTopUp.objects.create(amount=amount, note=note[:500], announced_by=actor)
        # The same as if it had been announced before (`differences.record`); a plain top-up comes first.
        waiting = Difference.objects.open().filter(amount=amount, label__in=MAY_BE_ANNOUNCED, makes_good=None)
        if difference := waiting.order_by("label", "pk").first():
            match_announced(difference)
    expected.refresh_from_db()
    return expected


def announced_before(*, amount: int, actor: User, note: str, seen: int | None) -> ExpectedTopUp | None:
    """The announcement that this person's form has made already, if it is not withdrawn.

    `seen`: the key of the newest announcement on the form's page, 0 if it showed none; None for no form.
    """
    if seen is None:
        return None
    same = ExpectedTopUp.objects.filter(amount=amount, announced_by=actor, note=note[:500], cancelled_at=None)
    return same.filter(pk__gt=seen).order_by("pk").first()


def cancel_expected_top_up(expected: ExpectedTopUp, *, actor: User) -> None:
    """Withdraw an announcement. Raises `DecisionRefused` when the money has arrived or it was withdrawn before."""
    with transaction.atomic():
        lock_reconciliation()
        current = ExpectedTopUp.objects.get(pk=expected.pk)
        if current.difference_id or current.cancelled_at:
            raise DecisionRefused(_("This top-up has arrived or was withdrawn before."))
        current.cancelled_at, current.cancelled_by = timezone.now(), actor
        current.save(update_fields=["cancelled_at", "cancelled_by"])


def propose_adjustment(difference: Difference, *, actor: User, reason: str) -> Adjustment:
    """Ask a second person to take a negative difference into the books. Raises `DecisionRefused`."""
    with transaction.atomic():
        current = _locked_open(difference)
        if current.amount > 0:
            raise DecisionRefused(_("Money was added here: it is acknowledged as a top-up."))
        if current.adjustments.filter(decided_at__isnull=True).exists():
            raise DecisionRefused(_("An adjustment was proposed already; a second person approves it."))
        if not reason.strip():
            raise DecisionRefused(_("An adjustment needs a reason."))
        proposed = Adjustment.objects.create(difference=current, reason=reason.strip()[:500], proposed_by=actor)
        proposed.approval = approvals.ask(
            ADJUSTMENT,
            subject=f"{ADJUSTMENT}:{proposed.pk}",
            content=content_of(current, proposed),
            actor=actor,
            reason=proposed.reason,
            about=signed_rupiah(current.amount),
        )
        proposed.save(update_fields=["approval"])
        return proposed


def content_of(difference: Difference, adjustment: Adjustment) -> dict[str, Any]:
    """Everything that the approval of an adjustment is bound to; `amount` in rupiah, signed."""
    return {
        "adjustment": adjustment.pk,
        "difference": difference.pk,
        "amount": difference.amount,
        "label": difference.label,
        "from_at": difference.from_at.isoformat(),
        "to_at": difference.to_at.isoformat(),
    }


def approve_adjustment(adjustment: Adjustment, *, actor: User) -> Difference:
    """Approve another person's proposal, and post it. Raises `DecisionRefused`.

    Only the approval of an adjustment calls this: it has asked for the second factor.
    """
    with transaction.atomic():
        current, proposed = lock_proposal(adjustment)
        if proposed.proposed_by_id == actor.pk:
            raise DecisionRefused(_("The person who proposed an adjustment cannot approve it; a second person must."))
        proposed.approved_by, proposed.decided_at = actor, timezone.now()
        proposed.save(update_fields=["approved_by", "decided_at"])
        entry = ledger.post_adjustment(amount=current.amount, actor=actor, reason=proposed.reason)
        return close(current, entry=entry, actor=actor, note=proposed.reason)


def end_adjustment(adjustment: Adjustment, *, by: User | None) -> None:
    """End a proposal without posting anything; `by`: None when its time is over. A decided proposal stays.

    An open difference stays open, unless it is a missing refund that has arrived meanwhile. A run may have closed it.
    """
    with transaction.atomic():
        current = _locked(adjustment.difference)
        try:
            proposed = _undecided(adjustment)
        except DecisionRefused:
            return
        proposed.declined_by, proposed.decided_at = by, timezone.now()
        proposed.save(update_fields=["declined_by", "decided_at"])
        late = Difference.objects.open().filter(makes_good=current).first()
        if late and current.state == Difference.State.OPEN:
            close_both(current, late)


def lock_proposal(adjustment: Adjustment) -> tuple[Difference, Adjustment]:
    """The difference and its proposal, both open and locked. Raises `DecisionRefused`."""
    return _locked_open(adjustment.difference), _undecided(adjustment)


def refuse_closed(difference: Difference) -> None:
    """Raise `DecisionRefused` for a difference that is not open."""
    if difference.state != Difference.State.OPEN:
        raise DecisionRefused(_("This difference was acknowledged before."))


def refuse_decided(adjustment: Adjustment) -> None:
    """Raise `DecisionRefused` for a proposal that was decided before."""
    if adjustment.decided_at is not None:
        raise DecisionRefused(_("This adjustment was decided before."))


def _locked(difference: Difference) -> Difference:
    lock_reconciliation()
    return Difference.objects.select_for_update().get(pk=difference.pk)


def _locked_open(difference: Difference) -> Difference:
    """The open difference, under its lock."""
    current = _locked(difference)
    refuse_closed(current)
    return current


def _undecided(adjustment: Adjustment) -> Adjustment:
    current = Adjustment.objects.select_for_update().get(pk=adjustment.pk)
    refuse_decided(current)
    return current
