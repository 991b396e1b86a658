"""The one way to a new status, for answers, status checks, callbacks and staff alike."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from purchases.models import Incident, Order, OrderEvent
from purchases.order_life import ASKED_ABOUT, FINAL, HoldReason, Status, may_move
from purchases.services import timing
from purchases.services.bookkeeping import keep_books
from upstream.messages import Transaction

if TYPE_CHECKING:
    from staff.models import User

log = structlog.get_logger()

# What only the upstream can know about an order.
_REPORTED = frozenset({Status.PENDING, Status.SUCCESS, Status.FAILED})


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What somebody says has become of an order. `price` in whole rupiah; `wait` in seconds until it is due again."""

    status: Status
    hold_reason: HoldReason | str = ""
    error_code: str = ""
    message: str = ""
    note: str = ""
    trx_id: str = ""
    sn: str = ""
    price: int | None = None
    product_code: str = ""
    destination: str = ""
    raw: dict[str, Any] | None = None
    wait: float | None = None

    @classmethod
    def reported(cls, transaction: Transaction, *, raw: dict[str, Any] | None) -> Outcome:
        """What the upstream reports in a Transaction, by answer, status or callback."""
        return cls(
            status=Status(transaction.status),
            message=transaction.message,
            trx_id=transaction.trx_id,
            sn=transaction.sn or "",
            price=transaction.price,
            product_code=transaction.product_code,
            destination=transaction.destination,
            raw=raw,
        )


def apply_outcome(
    order_id: int,
    outcome: Outcome,
    *,
    source: OrderEvent.Source,
    attempt: int | None = None,
    actor: User | None = None,
    receipt_id: int | None = None,
) -> Order:
    """Move the order to what `outcome` says, with its event and its entries in the books, in one transaction.

    Returns the order as it is then. Raises `BalanceShort` when an order is queued again that is more than available.

    - The same again changes nothing. What is older than what we know (pending after success) changes nothing.
    - A contradiction of a final status never overwrites: it becomes an `Incident`, the row stays.
    - `attempt`: the claim that this is the answer to. When the order was claimed again since, an answer that reports no
      transaction is void.
    """
    with transaction.atomic():
        order = Order.objects.select_for_update().get(pk=order_id)
        incident = _Incidents(order=order, source=source, raw=outcome.raw, receipt_id=receipt_id)
        before = Status(order.status)
        is_report = outcome.status in _REPORTED and source != OrderEvent.Source.STAFF

        if is_report:
            if not _is_about(order, outcome, incident):
                return order
        elif attempt is not None and attempt != order.attempt:
            return order
        if (
            outcome.status in {Status.REJECTED, Status.HELD}
            and source == OrderEvent.Source.SUBMIT
            and order.was_in_doubt
        ):
            # This sending was refused, but an earlier one may have arrived: the refusal speaks only for itself.
            outcome = replace(outcome, status=Status.UNKNOWN, hold_reason="", wait=None)
        if before == outcome.status:
            if before in FINAL and is_report:
                _compare_with_final(order, outcome, incident)
            return order
        if not may_move(before, outcome.status):
            _refuse(order, outcome, incident)
            return order

        now = timezone.now()
        order.status = outcome.status
        order.hold_reason = outcome.hold_reason if outcome.status == Status.HELD else ""
        order.error_code = outcome.error_code
        order.message = outcome.message or order.message
        order.final_at = now if outcome.status in FINAL else None
        order.next_check_at = _next_look(order, outcome)
        if is_report:
            order.trx_id = outcome.trx_id or order.trx_id
            order.sn = outcome.sn or order.sn
            # What the books debit: the first report fixes it.
            order.price = order.price or outcome.price or order.max_price
        order.save(
            update_fields=[
                *("status", "hold_reason", "error_code", "message", "final_at", "next_check_at"),
                *("trx_id", "sn", "price"),
            ]
        )
        OrderEvent.objects.create(
            order=order,
            at=now,
            from_status=before,
            to_status=outcome.status,
            source=source,
            actor=actor,
            note=(outcome.note or outcome.message or outcome.error_code)[:500],
            raw=outcome.raw,
            receipt_id=receipt_id,
        )
        keep_books(order, before=before, is_report=is_report, is_answer=source == OrderEvent.Source.SUBMIT, actor=actor)
    log.info("order_moved", ref_id=order.ref_id, before=str(before), after=order.status, source=str(source))
    return order


def _next_look(order: Order, outcome: Outcome) -> dt.datetime | None:
    if outcome.wait is not None:
        return timing.in_seconds(outcome.wait)
    if outcome.status == Status.QUEUED:
        return timezone.now()
    if outcome.hold_reason == HoldReason.NEVER_ARRIVED:
        return timing.in_seconds(settings.ORDER_CHECK_MAX_SECONDS)
    if outcome.status in ASKED_ABOUT:
        return timing.next_check_at(order.checks)
    return None


@dataclass(frozen=True, kw_only=True)
class _Incidents:
    """Records incidents of one order, told by one message."""

    order: Order
    source: OrderEvent.Source
    raw: dict[str, Any] | None
    receipt_id: int | None

    def record(self, kind: Incident.Kind, detail: str) -> None:
        """Remember it once, however often the upstream says it again."""
        _incident, is_new = Incident.objects.get_or_create(
            order=self.order,
            kind=kind,
            detail=detail[:500],
            defaults={"source": self.source, "raw": self.raw, "receipt_id": self.receipt_id},
        )
        if is_new:
            log.error("order_incident", ref_id=self.order.ref_id, kind=str(kind), source=str(self.source))


def _is_about(order: Order, outcome: Outcome, incident: _Incidents) -> bool:
    """Whether the report is about this order's purchase; what does not fit becomes an incident.

    Another product or destination under our ref_id tells nothing about ours. A second trx_id, or a price that is
    another than before, none, or above the confirmed one, is ours and for a person to look at.
    """
    if outcome.product_code != order.product_code:
        incident.record(Incident.Kind.MISMATCH, f"product {outcome.product_code!r} instead of {order.product_code!r}")
        return False
    if _bare(outcome.destination) != _bare(order.destination):
        incident.record(Incident.Kind.MISMATCH, "the destination is not the order's")
        return False
    if order.trx_id and outcome.trx_id != order.trx_id:
        incident.record(Incident.Kind.CONTRADICTION, f"a second trx_id than {order.trx_id!r}: {outcome.trx_id!r}")
    if not outcome.price:
        taken = order.price or order.max_price
        incident.record(Incident.Kind.OTHER_PRICE, f"reported without a price, taken to be {taken} rupiah")
    elif order.price and outcome.price != order.price:
        incident.record(Incident.Kind.OTHER_PRICE, f"another price than {order.price} is reported: {outcome.price}")
    elif outcome.price > order.max_price:
        incident.record(
            Incident.Kind.PRICE_ABOVE_MAX, f"charged {outcome.price}, confirmed were {order.max_price} rupiah"
        )
    return True


def _bare(destination: str) -> str:
    """The destination without what services write differently: separators, and 0 or 62 before a phone number."""
    return re.sub(r"^(0|62)", "", re.sub(r"[^0-9A-Za-z]", "", destination)).lower()


def _compare_with_final(order: Order, outcome: Outcome, incident: _Incidents) -> None:
    if outcome.sn and outcome.sn != order.sn:
        incident.record(Incident.Kind.CONTRADICTION, f"another SN than {order.sn!r} is reported: {outcome.sn!r}")


def _refuse(order: Order, outcome: Outcome, incident: _Incidents) -> None:
    """A move that the order's life does not know: a contradiction, or merely old news."""
    before = Status(order.status)
    if outcome.status in {Status.SUCCESS, Status.FAILED}:
        is_contradiction = True
    elif outcome.status == Status.PENDING:
        # Old news about a transaction that we know. One that we took for never accepted cannot be pending.
        is_contradiction = not order.trx_id
    else:
        # A definite "no, nothing charged" against a transaction that the upstream has reported.
        is_contradiction = outcome.status in {Status.REJECTED, Status.HELD} and order.trx_id != ""
    if is_contradiction:
        said = outcome.error_code or outcome.status
        incident.record(Incident.Kind.CONTRADICTION, f"{said} is reported for an order that is {before}")
