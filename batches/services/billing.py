"""The bills of a batch: their billers are asked in the background's turns, and each is paid by the service of bills.

The answer belongs to a `BillCheck`; the row names it, and takes the cost from it. A check is valid for minutes: if it
has expired, the biller is asked again before the payment, and only the same total is paid.
"""

import datetime as dt
from collections.abc import Sequence

from batches.models import Batch, BatchRow
from batches.states import Fault, RowState
from bills.errors import AlreadyPaid, CheckExpired, NotPayable
from bills.models import BillCheck
from bills.services import place_payment, start_check
from bills.services.paying import lock_check_for_payment
from bills.states import AnswerKind, Standing
from catalogue.destinations import InvalidDestination
from core import clock
from core.errors import OrderRefused
from core.money import rupiah
from purchases.errors import OpenDuplicate
from purchases.models import Order
from purchases.services.placing import Approved
from purchases.states import Status
from upstream.error_codes import ErrorCode, OwnCode

# A check counts as expired this long before its end: a payment may wait that long for the background's turn, and one
# that is sent too late is rejected.
_TIME_TO_SEND = dt.timedelta(minutes=2)
_PAID_ELSEWHERE = (ErrorCode.BILL_ALREADY_PAID, OwnCode.NOTHING_TO_PAY)


def apply_answers(rows: Sequence[BatchRow]) -> None:
    """Set on each row what its biller has answered; a row without an answer is being checked. Nothing is stored."""
    keys = {row.bill_check_id for row in rows if row.bill_check_id}
    checks = BillCheck.objects.with_standing().in_bulk(keys) if keys else {}
    for row in rows:
        check = checks.get(row.bill_check_id or 0)
        if check and (check.product_id, check.destination) != (row.product_id, row.destination):
            check = None  # the row was corrected
        _apply(row, check)


def _apply(row: BatchRow, check: BillCheck | None) -> None:
    row.bill_check = check
    match Standing(check.now_standing) if check else None:
        case Standing.PAYABLE | Standing.EXPIRED if check and check.total and row.product:
            row.max_price, row.selling_price = check.total, check.total + row.product.fee
            row.state, row.fault, row.said = RowState.READY, "", ""
        case Standing.UNANSWERED:
            row.mark_wrong(Fault.UNANSWERED)
        case Standing.REFUSED if check:
            is_paid = check.error_code in _PAID_ELSEWHERE
            row.mark_wrong(Fault.PAID if is_paid else Fault.BILLER, "" if is_paid else check.error_code)
        case Standing.PAID_BEFORE | Standing.PAID if check:
            row.mark_wrong(Fault.PAID, check.paid_ref or check.ref_id)
        case Standing.ASKING:
            row.mark_wrong(Fault.ASKING)
        case None | Standing.REPLACED | Standing.ENDED | Standing.EXPIRED:
            row.bill_check = None
            row.mark_wrong(Fault.ASKING)
        case _ if check:
            row.mark_wrong(Fault.OPEN, check.open_ref or check.ref_id)


def take_over(rows: Sequence[BatchRow], *, is_released: bool) -> None:
    """Set the answers on the rows of bills that are being checked. Nothing is stored.

    `is_released`: a person has released them for their totals. A bill with another total then waits for a person.
    """
    before = {row.pk: (row.max_price, row.selling_price) for row in rows}
    apply_answers(rows)
    for row in rows if is_released else ():
        cost, pays = before[row.pk]
        if row.state == RowState.READY and (row.max_price, row.selling_price) != (cost, pays):
            mark_changed(row, was=pays, now=row.selling_price)
            row.max_price, row.selling_price = cost, pays  # as it was released, and perhaps paid by the customer
        elif row.fault in {Fault.PAID, Fault.BILLER, Fault.OPEN, Fault.NOT_FOR_SALE}:
            row.state = RowState.REFUSED


def mark_changed(row: BatchRow, *, was: int | None, now: int | None) -> None:
    """Mark a bill that waits for a person, because what the customer pays has changed from `was` to `now`; rupiah."""
    row.mark_wrong(Fault.TOTAL_CHANGED, f"{rupiah(was)} → {rupiah(now)}")


def fresh_checks(rows: Sequence[BatchRow]) -> dict[tuple[int | None, str], BillCheck]:
    """The newest unpaid check of each bill that stays valid for some minutes, by product (key) and number.

    If a check cannot be paid for another reason, its standing says so when the answer is taken over.
    """
    late_enough = clock.now() + _TIME_TO_SEND
    answered = BillCheck.objects.filter(answer=AnswerKind.BILL, order=None, expires_at__gt=late_enough)
    same = answered.filter(destination__in={row.destination for row in rows}).order_by("pk")
    return {(check.product_id, check.destination): check for check in same}


def ask(row: BatchRow, batch: Batch, fresh: BillCheck | None) -> None:
    """Give a bill the `fresh` check, or a new one that waits in the background's turns."""
    if row.product is None:
        raise LookupError(row.ref_id)  # only rows with a biller come here
    try:
        row.bill_check = fresh or start_check(
            product=row.product,
            destination=row.destination,
            checked_by=batch.released_by or batch.created_by,
            due_at=clock.now(),
        )
    except (OrderRefused, InvalidDestination):
        row.mark_wrong(Fault.NOT_FOR_SALE, row.product.code)


def pay(row: BatchRow, batch: Batch, approved: Approved | None) -> Order:
    """Place the payment of a bill for exactly the total and the fee of the row.

    Raises what `place_payment` raises, and a refusal if somebody else has paid the bill meanwhile; `CheckExpired` also
    for a check that would probably expire before the payment is sent.
    """
    if row.bill_check_id is None or row.max_price is None:
        raise LookupError(row.ref_id)  # the database's constraints
    check = lock_check_for_payment(row.bill_check_id)
    if check.order:
        raise _paid_by(check.order, check)
    if _expires_on_the_way(check):
        raise CheckExpired
    order, _is_new = place_payment(
        check,
        amount=row.max_price,
        fee=row.fee,
        paid_by=batch.released_by,
        approved=approved,
        payment=batch.payment,
        in_background=True,
    )
    return order


def _expires_on_the_way(check: BillCheck) -> bool:
    """Whether the time left is less than a payment needs, or less than half of the check's time if that is shorter."""
    if check.expires_at is None or check.answered_at is None:
        return False  # not payable for other reasons
    needed = min(_TIME_TO_SEND, (check.expires_at - check.answered_at) / 2)
    return check.expires_at - clock.now() < needed


def _paid_by(order: Order, check: BillCheck) -> OrderRefused:
    if not order.is_final:
        return OpenDuplicate(order)
    return AlreadyPaid(order) if order.status == Status.SUCCESS else NotPayable(check)
