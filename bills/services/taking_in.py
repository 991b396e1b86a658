"""After a restore: take in every order that the journal of what is sent knows, a bill with its check.

Lock order: as for a payment: the approval, the check, the order, the books.
"""

import datetime as dt
from typing import Any

from django.db import transaction

from bills.models import BillCheck
from bills.states import AnswerKind
from purchases.models import Lack, LostOrder, Order
from purchases.services import end_approval, take_in

_AMOUNTS = ("customer_name", "period", "details", "months", "amount", "admin_fee", "penalty", "total")


def take_in_lost() -> int:
    """Take in the orders that can be taken in now; returns how many still wait."""
    waiting = 0
    for lost in LostOrder.objects.filter(order=None):
        with transaction.atomic():
            end_approval(lost)
            check = BillCheck.objects.select_for_update().filter(ref_id=lost.ref_id).first()
            order = take_in(lost)
            if order is None:
                waiting += 1
            elif order.kind == Order.Kind.BILL:
                _give_check(lost, order, check)
    return waiting


def _give_check(lost: LostOrder, order: Order, check: BillCheck | None) -> None:
    """Tie the payment to its check, with the amounts that the customer saw, even if the total has changed.

    `check`: locked; None for a check from after the restored moment, which is stored again.
    """
    bill = lost.line["bill"]
    if check and check.order_id:
        return
    if bill is None and (check is None or check.answer != AnswerKind.BILL):
        LostOrder.objects.filter(pk=lost.pk).update(lacks=[*LostOrder.objects.get(pk=lost.pk).lacks, Lack.BILL])
        return
    check = check or _new_check(order, created_at=bill["created_at"])
    check.order = order
    if bill:
        for name in _AMOUNTS:
            setattr(check, name, bill[name])
        check.expires_at, check.answered_at = _time(bill["expires_at"]), _time(bill["answered_at"])
        check.answer, check.error_code, check.next_poll_at = AnswerKind.BILL, "", None
    check.save()


def _new_check(order: Order, *, created_at: str) -> BillCheck:
    return BillCheck(
        ref_id=order.ref_id,
        product=order.product,
        product_code=order.product_code,
        product_name=order.product_name,
        destination=order.destination,
        checked_by=order.placed_by,
        asked_by=order.placed_by,
        created_at=_time(created_at),
    )


def _time(text: Any) -> dt.datetime:
    return dt.datetime.fromisoformat(text)
