"""Our own decisions about an order, by rule or by people, are applied here."""

from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from purchases.models import Order, OrderEvent
from purchases.services.incidents import record_contradiction
from purchases.services.moving import Cause, begin, lock_order_for_move, write
from purchases.services.serials import check_serials
from purchases.states import ActionReason, Status, may_move
from staff.models import User


@dataclass(frozen=True, kw_only=True)
class Decision:
    """The new status of an order, and the reason. `max_price`, `selling_price`: rupiah, newly confirmed.

    `wait`: seconds until it is due again. `uncharged_no`: the number of a sending that has certainly not been charged.
    `sn`: entered by hand; the upstream's own stays.
    """

    status: Status
    source: OrderEvent.Source
    actor: User | None = None
    action_reason: ActionReason | str = ""
    error_code: str = ""
    message: str = ""
    note: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    max_price: int | None = None
    selling_price: int | None = None
    wait: float | None = None
    uncharged_no: int | None = None
    sn: str = ""


def apply_verdict(order_id: int, decision: Decision, *, attempt: int | None = None) -> Order:
    """Move the order to what we have decided, with its event and its entries, in one transaction; return it.

    `attempt`: the claim that the decision is about. Nothing happens if the order was claimed again since, or if the
    upstream has reported more meanwhile; a definite no about a reported transaction is an incident.
    Raises `BalanceShort` if the order is queued again and costs more than is available.
    """
    with transaction.atomic():
        order = lock_order_for_move(order_id)
        if (attempt is not None and attempt != order.attempt) or order.status == decision.status:
            return order
        if may_move(Status(order.status), decision.status):
            _follow(order, decision)
        elif decision.status in {Status.REJECTED, Status.NEEDS_ACTION} and order.trx_id:
            record_contradiction(order, decision.error_code or decision.status, source=decision.source)
    return order


def _follow(order: Order, decision: Decision) -> None:
    # An earlier sending stays in doubt, even if the outcome of this one is known.
    is_cleared = decision.uncharged_no is not None and decision.uncharged_no == order.sent_no
    moved = begin(
        order,
        decision.status,
        Cause(
            source=decision.source,
            actor=decision.actor,
            note=decision.note or decision.message,
            facts=decision.facts,
        ),
        wait=decision.wait,
        action_reason=decision.action_reason,
        error_code=decision.error_code,
        message=decision.message or order.message,
        max_price=decision.max_price or order.max_price,
        selling_price=decision.selling_price or order.selling_price,
        sent_no=None if is_cleared else order.sent_no,
        sn=order.sn or decision.sn,
        sn_by_hand=order.sn_by_hand or bool(decision.sn and not order.sn),
    )
    if decision.status == Status.SUCCESS:
        check_serials({order: {"source": decision.source}})
    write([moved])  # last: it takes the books
