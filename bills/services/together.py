"""Pays several checked bills of one customer at once: each is a separate payment, the cash is given for all."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from approvals.errors import AlreadyAsked
from bills.models import BillCheck
from bills.services.paying import place_payment
from core.errors import OrderRefused
from drawers import services as drawers
from drawers.services import PaymentFacts
from purchases.errors import NeedsApproval
from purchases.models import Order
from purchases.services import ask_for_approval
from staff.models import User


@dataclass(frozen=True)
class SeenBill:
    """A check with the total and the shop's fee that a person has seen, in rupiah."""

    check: BillCheck
    total: int
    fee: int

    @property
    def amount(self) -> int:
        """Rupiah that the customer pays for it."""
        return self.total + self.fee


@dataclass
class PaidTogether:
    """The result: new and earlier payments, the number that waits for approval, and the refusals of the others.

    `refusals`: by the check's ref_id. `change`: rupiah of the given cash that go back.
    """

    placed: list[Order] = field(default_factory=list)
    known: list[Order] = field(default_factory=list)
    asked: int = 0
    refusals: dict[str, OrderRefused] = field(default_factory=dict)
    change: int = 0


def pay_together(bills: Sequence[SeenBill], *, paid_by: User, payment: PaymentFacts, reason: str = "") -> PaidTogether:
    """Place the payment of each bill once, for any number of calls; a refused payment does not stop the others.

    `payment`: how the customer pays for all of them. `reason`: for the second person, if bills are above the limit.
    Each bill gets its own amount of the given cash. The change is noted with the first bill that was placed, once all
    are tried. A refusal of all of them, such as credit above the cap, is raised before anything is stored.
    """
    if bills:
        payment = replace(payment, paid_at_once=bills[0].check.batch)
    unpaid = sum(bill.amount for bill in bills if not bill.check.order)
    if unpaid:
        payment.refuse_unless_sold(unpaid, seller=paid_by)
    came = PaidTogether()
    kept = 0
    for bill in bills:
        try:
            order, is_new = place_payment(
                bill.check, amount=bill.total, fee=bill.fee, paid_by=paid_by, payment=payment.part(bill.amount)
            )
        except NeedsApproval as need:
            came.asked += 1
            kept += bill.amount  # its cash is taken now, and its payment is placed after the approval
            try:
                ask_for_approval(need, actor=paid_by, reason=reason)
            except AlreadyAsked as before:  # a request waits already; if it is a colleague's, so is its cash
                kept -= 0 if before.approval.is_of(paid_by) else bill.amount
        except OrderRefused as refusal:
            came.refusals[bill.check.ref_id] = refusal
        else:
            (came.placed if is_new else came.known).append(order)
            kept += bill.amount if _is_of_this_cash(order, payment, paid_by) else 0
    came.change = max(0, (payment.cash_given or 0) - kept)
    if came.placed and came.change:
        drawers.note_change(came.placed[0].payment, came.change)
    return came


def _is_of_this_cash(order: Order, payment: PaymentFacts, paid_by: User) -> bool:
    """Whether the cash that is given now pays this; it pays an earlier payment only of this person in this batch."""
    is_same = order.placed_by_id == paid_by.pk and order.payment.paid_at_once == payment.paid_at_once
    return is_same and order.payment.cash_given is not None
