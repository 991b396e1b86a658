"""The act that takes a second person: adjustments of the books."""

import datetime as dt
from collections.abc import Collection
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from approvals.acts import Act, Line, Seen, register
from approvals.models import Approval, Content
from core.money import signed_rupiah
from core.rights import Right
from core.times import clock
from reconciliation.models import Adjustment, Difference
from reconciliation.services.decisions import (
    ADJUSTMENT,
    approve_adjustment,
    content_of,
    end_adjustment,
    lock_proposal,
    refuse_closed,
    refuse_decided,
)
from staff.models import User


@register
class AdjustmentAct(Act):
    """Missing money that is taken into the books."""

    name = ADJUSTMENT
    label = _("Adjustment of the books")
    may_ask = Right.PROPOSE_ADJUSTMENTS
    may_approve = Right.APPROVE_ADJUSTMENTS

    def content_now(self, approval: Approval) -> Content:
        """The difference as it is now. Raises `DecisionRefused` when it is closed, or the proposal decided."""
        return content_of(*lock_proposal(_adjustment_of(approval)))

    def questions(self, approvals: Collection[Approval]) -> list[QuerySet[Any, Any]]:
        keys = {approval.facts["adjustment"] for approval in approvals if "adjustment" in approval.facts}
        return [Adjustment.objects.select_related("difference").filter(pk__in=keys).order_by("pk")]

    def content_seen(self, approval: Approval, seen: Seen) -> Content:
        """The difference as it is now. Raises the same as `content_now`."""
        proposed = next(
            (adjustment for adjustment in seen.answers[0] if adjustment.pk == approval.facts.get("adjustment")), None
        )
        if proposed is None:
            return approval.facts
        refuse_closed(proposed.difference)
        refuse_decided(proposed)
        return content_of(proposed.difference, proposed)

    def execute(self, approval: Approval, *, approver: User) -> str:
        return str(approve_adjustment(_adjustment_of(approval), actor=approver).pk)

    def lines(self, content: Content) -> list[Line]:
        """The amount, the kind of difference, and the times between which the upstream's balance moved."""
        begin, end = (dt.datetime.fromisoformat(content[name]) for name in ("from_at", "to_at"))
        return [
            Line("amount", _("Posted to the books"), signed_rupiah(content["amount"])),
            Line("label", _("Difference"), str(Difference.Label(content["label"]).label)),
            Line("from_at", _("It happened after"), clock(begin)),
            Line("to_at", _("and before"), clock(end)),
        ]

    def about(self, approval: Approval) -> str:
        content = approval.facts
        return f"{Difference.Label(content['label']).label} {signed_rupiah(content['amount'])}"

    def amount(self, content: Content) -> int | None:
        """Rupiah, signed."""
        amount: int = content["amount"]
        return amount

    def url(self, approval: Approval) -> str:
        return reverse("difference_detail", args=[approval.facts["difference"]])

    def ended(self, approval: Approval) -> None:
        """End the proposal that nobody approves any more; the difference stays open unless its refund has come."""
        end_adjustment(_adjustment_of(approval), by=approval.decided_by)


def _adjustment_of(approval: Approval) -> Adjustment:
    return Adjustment.objects.select_related("difference").get(pk=approval.facts["adjustment"])
