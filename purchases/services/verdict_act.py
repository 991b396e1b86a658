"""A verdict as something that a second person approves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from approvals.acts import Act, Line, register
from core.money import rupiah
from core.rights import Right
from purchases.models import Verdict
from purchases.services.moving import lock_order_for_move
from purchases.services.verdicts import (
    VERDICT,
    approve_verdict,
    content_of,
    decided_before,
    end_verdict,
    undecided,
)
from purchases.states import Status

if TYPE_CHECKING:
    from collections.abc import Collection

    from django.db.models import QuerySet

    from approvals.acts import Seen
    from approvals.models import Approval, Content
    from staff.models import User


class VerdictAct(Act):
    """How an order ended, where the upstream leaves it open or took a success back."""

    name = VERDICT
    label = _("Verdict on an order")
    may_ask = Right.PROPOSE_VERDICTS
    may_approve = Right.APPROVE_VERDICTS
    moves_cost = True

    def content_now(self, approval: Approval) -> Content:
        """The verdict with the order's status of now: once the order has moved, it is void."""
        proposed = _verdict_of(approval)
        order = lock_order_for_move(proposed.order_id)
        return content_of(order, undecided(order, proposed))

    def questions(self, approvals: Collection[Approval]) -> list[QuerySet[Any, Any]]:
        """Their verdicts and orders."""
        keys = {approval.facts["verdict"] for approval in approvals if "verdict" in approval.facts}
        return [Verdict.objects.select_related("order").filter(pk__in=keys).order_by("pk")]

    def content_seen(self, approval: Approval, seen: Seen) -> Content:
        """The verdict with the order's status of now. Raises as `content_now`."""
        proposed = next((one for one in seen.answers[0] if one.pk == approval.facts.get("verdict")), None)
        if proposed is None:
            return approval.facts
        if proposed.decided_at is not None:
            raise decided_before()
        return content_of(proposed.order, proposed)

    def execute(self, approval: Approval, *, approver: User) -> str:
        """End the order so, with its entries."""
        return approve_verdict(_verdict_of(approval), actor=approver).ref_id

    def lines(self, content: Content) -> list[Line]:
        """How it ends, and where that was seen."""
        lines = [
            Line("ref_id", _("Order"), content["ref_id"]),
            Line("outcome", _("It ends as"), str(Verdict.Outcome(content["outcome"]).label)),
            Line("order_status", _("Status until then"), str(Status(content["order_status"]).label)),
            Line("price", _("Cost"), rupiah(content["price"]), is_cost=True),
            Line("evidence", _("Evidence"), content["evidence"]),
        ]
        return [*lines, Line("sn", "SN", content["sn"])] if content["sn"] else lines

    def about(self, approval: Approval) -> str:
        """The order, and how it ends."""
        content = approval.facts
        return f"{content['ref_id']} → {Verdict.Outcome(content['outcome']).label}"

    def amount(self, content: Content) -> int | None:
        """Rupiah that the order is about."""
        price: int = content["price"]
        return price

    def url(self, approval: Approval) -> str:
        """The order."""
        return reverse("order_detail", args=[approval.facts["ref_id"]])

    def ended(self, approval: Approval) -> None:
        """Nobody approves the verdict any more; the order stays as it is."""
        end_verdict(_verdict_of(approval), by=approval.decided_by)


def _verdict_of(approval: Approval) -> Verdict:
    return Verdict.objects.get(pk=approval.facts["verdict"])


register(VerdictAct())
