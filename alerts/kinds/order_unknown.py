"""An order may have been charged, and nobody knows its final result."""

import datetime as dt

from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, at, may
from core.money import rupiah
from core.rights import Right
from gateway.models import Exchange
from purchases.models import Order
from purchases.models.orders import may_be_charged
from purchases.presenting import step_if_never_arrived
from purchases.states import POLLED, ActionReason, Status

_AFTER = dt.timedelta(minutes=15)


class OrderUnknown(AlertKind, permission=Right.VIEW_ORDERS, of_branch=True):
    """One alert for each order. Other words say that it awaits a decision: then nothing happens by itself."""

    def reasons(self, now: Now) -> list[Reason]:
        first_sending = Exchange.objects.filter(pk=OuterRef("sent_no")).values("sent_at")
        since, amount = Coalesce(Subquery(first_sending), F("sent_at")), Coalesce("price", "max_price")
        doubtful = Order.objects.filter(may_be_charged()).annotate(since=since, amount=amount)
        late = doubtful.filter(since__lt=now.time - _AFTER).order_by("since")[:200]
        return [
            Reason(key=order["ref_id"], facts={**order, "since": order["since"].isoformat()})
            for order in late.values("ref_id", "status", "amount", "since", branch=F("payment__branch"))
        ]

    def grade(self, facts: Facts) -> int:
        """Worse when it needs a decision."""
        return int(facts.get("status") == Status.NEEDS_ACTION)

    def words(self, facts: Facts, person: Person) -> Words:
        ref_id, status = str(facts.get("ref_id", "?")), facts.get("status")
        if status == Status.NEEDS_ACTION:
            title = _("Order %(ref_id)s: %(reason)s.")
            next_step = step_if_never_arrived(may_decide=may(person, Right.RESOLVE_ORDERS))
        else:
            title = _("Order %(ref_id)s: no final result for 15 minutes.")
            may_poll = status in POLLED and (may(person, Right.RESOLVE_ORDERS) or may(person, Right.BUY))
            step = _("Open it and ask the provider now.") if may_poll else _("It is followed until there is one.")
            next_step = _("Do not sell it again.") + " " + step
        return Words(
            title=title % {"ref_id": ref_id, "reason": ActionReason.NEVER_ARRIVED.label.lower()},
            facts=(
                _("%(amount)s may have been charged; sent %(since)s.")
                if may(person, Right.VIEW_COST)
                else _("It may have been charged; sent %(since)s.")
            )
            % {"amount": rupiah(facts.get("amount", 0)), "since": at(facts, "since")},
            next_step=next_step,
            url=reverse("order_detail", args=[ref_id]) if "ref_id" in facts else "",
        )
