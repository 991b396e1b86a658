"""Two people decide the end of an order: one proposes with evidence, another approves.

A proposal waits in the approvals. Lock order: the approval, the order, then its verdict.
"""

from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from approvals import services as approvals
from core import clock
from purchases.errors import ActionRefused
from purchases.models import Order, OrderEvent, Verdict
from purchases.services.actions import Action, open_verdict, possible_outcomes, require
from purchases.services.decisions import Decision, apply_verdict
from purchases.services.incidents import close_answered
from purchases.services.moving import lock_order_for_move
from purchases.states import Status
from staff.models import User

VERDICT = "verdict"


def propose_verdict(order: Order, *, outcome: str, evidence: str, reason: str, actor: User, sn: str = "") -> Verdict:
    """Ask a second person to end the order as `outcome`: "success", "failed" or "reversed". Raises `ActionRefused`.

    `evidence`: the place where a person saw the end. `sn`: the SN that was seen there, for a success; the order gets
    it, marked as entered by hand. Nothing moves before the approval, and it is refused once the order has moved.
    """
    if not evidence.strip() or not reason.strip():
        raise ActionRefused(_("A decision needs evidence and a reason."))
    if sn.strip() and outcome != Status.SUCCESS:
        raise ActionRefused(_("Only a success has an SN."))
    with transaction.atomic():
        current = lock_order_for_move(order.pk)
        require(Action.PROPOSE_VERDICT, current, actor)
        if outcome not in possible_outcomes(current):
            raise ActionRefused(_("This order cannot be decided this way."))
        proposed = Verdict.objects.create(
            order=current,
            outcome=outcome,
            order_status=current.status,
            sn=sn.strip()[:200],
            evidence=evidence.strip()[:500],
            reason=reason.strip()[:500],
            proposed_by=actor,
            proposed_at=clock.now(),  # the clock of `sent_at`, with which it is compared
        )
        proposed.approval = approvals.ask(
            VERDICT,
            subject=f"{VERDICT}:{proposed.pk}",
            content=content_of(current, proposed),
            actor=actor,
            reason=proposed.reason,
            about=current.ref_id,
        )
        proposed.save(update_fields=["approval"])
        return proposed


def content_of(order: Order, verdict: Verdict) -> dict[str, Any]:
    """Everything that the approval of a verdict is bound to; `price` in rupiah.

    `attempt`: how often the order was sent. Evidence from before another sending says nothing about that one.
    """
    return {
        "verdict": verdict.pk,
        "ref_id": order.ref_id,
        "outcome": verdict.outcome,
        "order_status": order.status,
        "attempt": order.attempt,
        "price": order.shown_price,
        "evidence": verdict.evidence,
        "sn": verdict.sn,
    }


def approve_verdict(verdict: Verdict, *, actor: User) -> Order:
    """Approve what another person proposed: the order ends so, with its entries. Raises `ActionRefused`.

    Only the approval of a verdict calls this: it has asked for the second factor.
    """
    with transaction.atomic():
        order = lock_order_for_move(verdict.order_id)
        proposed = undecided(order, verdict)
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
        close_answered(order, decision.status, actor=actor, note=proposed.reason)
        return apply_verdict(order.pk, decision)


def end_verdict(verdict: Verdict, *, by: User | None) -> None:
    """End a proposal without deciding the order; `by`: None if its time is over. A decided one stays as it is."""
    with transaction.atomic():
        order = lock_order_for_move(verdict.order_id)
        if (proposed := open_verdict(order)) is not None and proposed.pk == verdict.pk:
            proposed.declined_by, proposed.decided_at = by, timezone.now()
            proposed.save(update_fields=["declined_by", "decided_at"])


def undecided(order: Order, verdict: Verdict) -> Verdict:
    """The proposal, which nobody else decides while the order is locked. Raises `ActionRefused` if it was decided."""
    if (proposed := open_verdict(order)) is None or proposed.pk != verdict.pk:
        raise decided_before()
    return proposed


def decided_before() -> ActionRefused:
    """The reason why a verdict that no longer waits cannot be approved."""
    return ActionRefused(_("This decision was made before."))
