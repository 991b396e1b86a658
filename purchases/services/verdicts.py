"""Two people decide how an order ended: one proposes with evidence, another approves.

Lock order: the order, then its verdict.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from purchases.errors import ActionRefused
from purchases.models import Order, OrderEvent, Verdict
from purchases.services.actions import Action, open_verdict, possible_outcomes, require
from purchases.services.decisions import Decision, apply_verdict
from purchases.services.moving import lock_order_for_move
from purchases.states import Status

if TYPE_CHECKING:
    from staff.models import User


def propose_verdict(order: Order, *, outcome: str, evidence: str, reason: str, actor: User, sn: str = "") -> Verdict:
    """Ask a second person to end the order as `outcome`: "success", "failed" or "reversed". Raises `ActionRefused`.

    `evidence`: where it was seen. `sn`: the SN that was seen there, for a success; the order gets it, marked as entered
    by hand. Nothing moves before the approval, and it is refused once the order has moved.
    """
    if not evidence.strip() or not reason.strip():
        raise ActionRefused(_("A verdict needs evidence and a reason."))
    if sn.strip() and outcome != Status.SUCCESS:
        raise ActionRefused(_("Only a success has an SN."))
    with transaction.atomic():
        current = lock_order_for_move(order.pk)
        require(Action.PROPOSE_VERDICT, current, actor)
        if outcome not in possible_outcomes(current):
            raise ActionRefused(_("This order cannot be decided so."))
        return Verdict.objects.create(
            order=current,
            outcome=outcome,
            order_status=current.status,
            sn=sn.strip()[:200],
            evidence=evidence.strip()[:500],
            reason=reason.strip()[:500],
            proposed_by=actor,
        )


def approve_verdict(verdict: Verdict, *, actor: User) -> Order:
    """Approve what another person proposed: the order ends so, with its entries. Raises `ActionRefused`."""
    with transaction.atomic():
        order = lock_order_for_move(verdict.order_id)
        proposed = _undecided(order, verdict)
        if proposed.proposed_by_id == actor.pk:
            raise ActionRefused(_("A second person must approve what you proposed."))
        require(Action.APPROVE_VERDICT, order, actor)
        proposed.approved_by, proposed.decided_at = actor, timezone.now()
        proposed.save(update_fields=["approved_by", "decided_at"])
        decision = Decision(
            status=Status(proposed.outcome),
            source=OrderEvent.Source.STAFF,
            actor=actor,
            error_code=order.error_code,
            note=proposed.reason,
            sn=proposed.sn,
            facts={"code": "verdict", "verdict": proposed.pk},
        )
        return apply_verdict(order.pk, decision)


def decline_verdict(verdict: Verdict, *, actor: User) -> Order:
    """Decline a proposal; its own author withdraws it so. The order stays as it is. Raises `ActionRefused`."""
    with transaction.atomic():
        order = lock_order_for_move(verdict.order_id)
        proposed = _undecided(order, verdict)
        require(Action.DECLINE_VERDICT, order, actor)
        proposed.declined_by, proposed.decided_at = actor, timezone.now()
        proposed.save(update_fields=["declined_by", "decided_at"])
        return order


def _undecided(order: Order, verdict: Verdict) -> Verdict:
    """The proposal, if it waits; the order's lock keeps others from deciding it."""
    if (proposed := open_verdict(order)) is None or proposed.pk != verdict.pk:
        raise ActionRefused(_("This verdict was decided before."))
    return proposed
