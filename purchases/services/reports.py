"""The upstream's reports of an order, by answer, status request or callback, are applied here."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from core.notation import is_same_number
from purchases.models import Incident, Order, OrderEvent
from purchases.services.incidents import record_contradiction, record_incident
from purchases.services.moving import Cause, Move, begin, lock_order_for_move, lock_orders_for_move, write
from purchases.services.serials import check_serials
from purchases.services.trx_ids import check_trx_ids
from purchases.states import FINAL, Status, may_move
from upstream.messages import Transaction

# The facts that a report can add to an order that it does not move.
_FACTS = ["accepted_no", "pending_no", "trx_id", "sn", "sn_by_hand"]

# If people decided one of these without a report, the books have debited the confirmed price.
_DEBITED = frozenset({Status.SUCCESS, Status.REVERSED})


@dataclass(frozen=True, kw_only=True)
class Report:
    """One message of the upstream about a transaction.

    `asked_no`: the number that was taken before the request which it answers. `raw`: the message as it came.
    """

    data: Transaction
    source: OrderEvent.Source
    raw: dict[str, Any] | None = None
    asked_no: int | None = None
    callback_id: int | None = None

    @property
    def status(self) -> Status:
        """The order's status, as the upstream reports it."""
        return Status(self.data.status)

    @property
    def origin(self) -> dict[str, Any]:
        """The source, as an incident keeps it."""
        return {"source": self.source, "raw": self.raw, "callback_id": self.callback_id}


def apply_report(order_id: int, report: Report) -> Order:
    """Move the order to the reported status, with its event and its entries, in one transaction; return it.

    A repeated report changes nothing, nor does one that is older than what we know (pending after success). A
    contradiction of a final status becomes an `Incident`; the status stays.
    """
    with transaction.atomic():
        order = lock_order_for_move(order_id)
        _apply({order: report})
    return order


def apply_reports(reports: Mapping[str, Report]) -> dict[str, tuple[Status, Status]]:
    """`apply_report` for many orders, by their ref_id; returns the status before and after of each that exists.

    In one transaction and a few statements: if one fails, none is applied, nor anything else in the transaction.
    """
    with transaction.atomic(savepoint=False):
        orders = lock_orders_for_move(reports)
        before = {ref_id: Status(order.status) for ref_id, order in orders.items()}
        _apply({order: reports[ref_id] for ref_id, order in orders.items()})
    return {ref_id: (before[ref_id], Status(order.status)) for ref_id, order in orders.items()}


def _apply(reports: Mapping[Order, Report]) -> None:
    before = {order: (order.status, order.sn) for order in reports}
    check_trx_ids(reports)
    moves = [moved for order, report in reports.items() if (moved := _take(order, report))]
    news = [order for order in reports if order.status == Status.SUCCESS and before[order] != (order.status, order.sn)]
    check_serials({order: reports[order].origin for order in news})
    write(moves)  # last: it takes the books


def _take(order: Order, report: Report) -> Move | None:
    """The move of a locked order that the report makes, to be written; a report that moves nothing is compared here."""
    if not _is_about(order, report):
        return None
    known = _facts(order)
    if not order.is_final:  # an end that people decided stays as the books have it
        order.accepted_no = order.accepted_no or order.locked_no
    if report.status == Status.PENDING and report.asked_no:
        order.pending_no = max(report.asked_no, order.pending_no or 0)
    if may_move(Status(order.status), report.status):
        return _follow(order, report)
    _compare(order, report)
    if _facts(order) != known:
        order.save(update_fields=_FACTS)
    return None


def _facts(order: Order) -> list[object]:
    return [getattr(order, name) for name in _FACTS]


def _follow(order: Order, report: Report) -> Move:
    data = report.data
    return begin(
        order,
        report.status,
        Cause(source=report.source, note=data.message, raw=report.raw, callback_id=report.callback_id),
        error_code="",
        message=data.message or order.message,
        trx_id=data.trx_id or order.trx_id,
        sn=data.sn or order.sn,
        # The amount that the books debit: the first report fixes it.
        price=order.price or data.price or order.max_price,
    )


def _is_about(order: Order, report: Report) -> bool:
    """Whether the report is about this order's purchase; a difference becomes an incident.

    A report of another product or destination under our ref_id is not about this order. It is about this order, and
    for a person to look at, if it has a second trx_id, no price, a price above the confirmed one, or a price that
    differs from the one before or from the debit in the books.
    """
    data = report.data
    if data.product_code != order.product_code:
        detail = f"product {data.product_code!r} instead of {order.product_code!r}"
        _incident(order, report, Incident.Kind.MISMATCH, detail)
        return False
    if not is_same_number(data.destination, order.destination):
        _incident(order, report, Incident.Kind.MISMATCH, "the destination is not the order's")
        return False
    if order.trx_id and data.trx_id != order.trx_id:
        detail = f"a second trx_id than {order.trx_id!r}: {data.trx_id!r}"
        _incident(order, report, Incident.Kind.CONTRADICTION, detail)
    if not data.price:
        taken = order.price or order.max_price
        _incident(order, report, Incident.Kind.OTHER_PRICE, f"reported without a price, taken to be {taken} rupiah")
    elif data.price > order.max_price and not order.price:
        detail = f"charged {data.price}, confirmed were {order.max_price} rupiah"
        _incident(order, report, Incident.Kind.PRICE_ABOVE_MAX, detail)
    elif data.price != order.shown_price and (order.price or order.status in _DEBITED):
        detail = f"another price than {order.shown_price} is reported: {data.price}"
        _incident(order, report, Incident.Kind.OTHER_PRICE, detail)
    return True


def _compare(order: Order, report: Report) -> None:
    """A report that moves nothing: the same again, old news, or a contradiction."""
    data, before = report.data, Status(order.status)
    if report.status == before:
        order.trx_id = order.trx_id or data.trx_id  # two people decided so before the upstream said it
        if before in FINAL and data.sn:
            _compare_sn(order, report, data.sn)
        return
    if report.status == Status.PENDING:
        # Old news about a transaction that we know. One that we took for never accepted cannot be pending.
        is_contradiction = not order.trx_id
    else:
        is_contradiction = (before, report.status) != (Status.REVERSED, Status.FAILED)
    if is_contradiction:
        record_contradiction(order, report.status, **report.origin)


def _compare_sn(order: Order, report: Report, sn: str) -> None:
    """Take the upstream's own SN, which comes later if people decided the end. A different SN is an incident."""
    if order.sn and sn != order.sn:
        detail = f"another SN than {order.sn!r} is reported: {sn!r}"
        _incident(order, report, Incident.Kind.CONTRADICTION, detail)
    if not order.sn or order.sn_by_hand:
        order.sn, order.sn_by_hand = sn, False


def _incident(order: Order, report: Report, kind: Incident.Kind, detail: str) -> None:
    record_incident(order, kind, detail, **report.origin)
