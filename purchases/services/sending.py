"""Send a queued order to the upstream, at most once per claim."""

from __future__ import annotations

import structlog
from django.db import transaction
from django.db.models import F

from backoffice.publish import publish
from balance.services import present_moment, record_sending_reading, sending_is_stopped, watching_account
from purchases.models import Order, OrderEvent
from purchases.order_life import HoldReason, Status
from purchases.services import timing
from purchases.services.bookkeeping import note_claim
from purchases.services.outcome import Outcome, apply_outcome
from upstream.budget import CallClass, Permit
from upstream.client import Answer, Client, Endpoint, get_client
from upstream.errors import ErrorCode, Misconfigured, OutcomeUnknown, Rejected, Unavailable
from upstream.messages import Transaction

log = structlog.get_logger()

# While the upstream refuses our account, queued orders look again this often (seconds).
_STOPPED_SECONDS = 30.0
# After "certainly not sent" (no connection) the order tries again after this long (seconds).
_RETRY_SECONDS = 10.0

# The upstream is still checking the bill that we pay: the same request again after this long (seconds).
_NOT_READY_SECONDS = 5.0

_HOLD_REASONS = {
    ErrorCode.INSUFFICIENT_BALANCE: HoldReason.BALANCE_SHORT,
    ErrorCode.PRICE_CHANGED: HoldReason.PRICE_CHANGED,
    ErrorCode.CUT_OFF: HoldReason.CUT_OFF,
    ErrorCode.PRODUCT_UNAVAILABLE: HoldReason.DISTURBED,
    ErrorCode.AMOUNT_MISMATCH: HoldReason.AMOUNT_MISMATCH,
}
# The catalogue that we showed was not the upstream's any more.
_CATALOGUE_IS_OLD = frozenset({ErrorCode.PRICE_CHANGED, ErrorCode.PRODUCT_NOT_FOUND, ErrorCode.PRODUCT_UNAVAILABLE})


def submit(order_id: int, *, call_class: CallClass) -> None:
    """Send the order if it is queued and the rate budget lets it; apply what the upstream answers.

    The claim (`sending`) is committed before the socket is written, and whoever finds `sending` may only ask for the
    status: so a killed worker, a doubled message or a second worker never sends it twice.
    """
    queued = Order.objects.filter(pk=order_id, status=Status.QUEUED).first()
    if queued is None:
        return
    endpoint = Endpoint.BILL_PAY if queued.kind == Order.Kind.BILL else Endpoint.TRANSACTION_CREATE
    if sending_is_stopped():
        _postpone(order_id, _STOPPED_SECONDS)
        return
    client = get_client()
    try:
        # Before the claim: an order that waits for the budget has certainly not been sent.
        permit = client.reserve(endpoint, call_class=call_class)
    except Unavailable as error:
        _postpone(order_id, error.retry_after or _RETRY_SECONDS)
        return
    except Misconfigured:
        _postpone(order_id, _STOPPED_SECONDS)
        return
    order = claim(order_id)
    if order is None:
        permit.cancel()
        return
    answer = _send(client, order, permit)
    outcome = answer if isinstance(answer, Outcome) else Outcome.reported(answer.data, raw=answer.raw)
    after = apply_outcome(order.pk, outcome, source=OrderEvent.Source.SUBMIT, attempt=order.attempt)
    if isinstance(answer, Answer):
        # Only now: whatever keeps the reading from being stored, the outcome is safe.
        is_ours = after.trx_id == answer.data.trx_id
        record_sending_reading(answer=answer, claimed_at=order.sent_at, is_ours=is_ours)


def claim(order_id: int) -> Order | None:
    """Take a queued order for sending: committed `sending`, a new attempt. None when somebody else has taken it."""
    now = present_moment()
    with transaction.atomic():
        taken = Order.objects.filter(pk=order_id, status=Status.QUEUED).update(
            status=Status.SENDING,
            attempt=F("attempt") + 1,
            sent_at=now,
            checks=0,
            not_found_count=0,
            not_found_since=None,
            next_check_at=timing.first_check_at(),
        )
        if not taken:
            return None
        OrderEvent.objects.create(
            order_id=order_id,
            at=now,
            from_status=Status.QUEUED,
            to_status=Status.SENDING,
            source=OrderEvent.Source.SUBMIT,
        )
        order = Order.objects.get(pk=order_id)
        note_claim(order)
        return order


def _send(client: Client, order: Order, permit: Permit) -> Answer[Transaction] | Outcome:
    """Make the one request: the upstream's report of the transaction, or the outcome when there is none."""
    try:
        with watching_account():
            if order.kind == Order.Kind.BILL:
                return client.bill_pay(ref_id=order.ref_id, amount=order.max_price, permit=permit)
            return client.create_transaction(
                ref_id=order.ref_id,
                product_code=order.product_code,
                destination=order.destination,
                max_price=order.max_price,
                permit=permit,
            )
    except Rejected as error:
        return _after_rejection(error, attempt=order.attempt)
    except Unavailable as error:
        return Outcome(status=Status.QUEUED, note=f"not sent: {error.reason}", wait=error.retry_after or _RETRY_SECONDS)
    except Misconfigured as error:
        return Outcome(
            status=Status.QUEUED, error_code=error.error_code or "", note=error.reason, wait=_STOPPED_SECONDS
        )
    except OutcomeUnknown as error:
        return Outcome(status=Status.UNKNOWN, note=error.reason)


def _after_rejection(error: Rejected, *, attempt: int) -> Outcome:
    """The contract's table of error codes, for purchases and bill payments."""
    code = error.error_code
    if code in _CATALOGUE_IS_OLD:
        from purchases import tasks

        publish(tasks.sync_catalogue)
    if code == ErrorCode.RATE_LIMITED:
        wait = error.retry_after or _RETRY_SECONDS
        return Outcome(status=Status.QUEUED, error_code=code, message=error.message, wait=wait)
    if code == ErrorCode.INQUIRY_PENDING:
        # The person has confirmed the total; the upstream is not ready to take it (document, /v1/bill/pay 7).
        wait = timing.doubling(_NOT_READY_SECONDS, attempt)
        return Outcome(status=Status.QUEUED, error_code=code, message=error.message, wait=wait)
    if not error.balance_untouched:
        return Outcome(status=Status.UNKNOWN, error_code=code, message=error.message)
    if code in _HOLD_REASONS:
        return Outcome(status=Status.HELD, hold_reason=_HOLD_REASONS[code], error_code=code, message=error.message)
    return Outcome(status=Status.REJECTED, error_code=code, message=error.message)


def _postpone(order_id: int, seconds: float) -> None:
    Order.objects.filter(pk=order_id, status=Status.QUEUED).update(next_check_at=timing.in_seconds(seconds))
