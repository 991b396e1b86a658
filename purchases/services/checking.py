"""Ask the upstream what has become of an order. Asking is always safe."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from balance.services import note_parked, record_status_reading, sending_is_stopped, watching_account
from purchases.models import Incident, Order, OrderEvent
from purchases.order_life import ASKED_ABOUT, HoldReason, Status
from purchases.services import timing
from purchases.services.outcome import Outcome, apply_outcome
from upstream.budget import CallClass
from upstream.client import get_client
from upstream.errors import ErrorCode, Misconfigured, OutcomeUnknown, Rejected, Unavailable

# While nothing may be sent, or no connection could be made, look again after this long (seconds).
_RETRY_SECONDS = 30.0


class Found(StrEnum):
    """What came of asking."""

    REPORTED = "reported"
    NOT_FOUND = "not found"
    NO_ANSWER = "no answer"


def check(order_id: int, *, call_class: CallClass) -> Found:
    """Ask for the status of an order that the upstream has or may have, and apply the answer; return what was found.

    A fault changes nothing but the time of the next look (document, Resources: status is read by `ref_id`).
    """
    order = Order.objects.asked_about().filter(pk=order_id).first()
    if order is None:
        return Found.NO_ANSWER
    if order.status == Status.SENDING and order.sent_at and not timing.may_still_be_on_its_way(order.sent_at):
        # Whoever sent it did not live to tell.
        order = apply_outcome(
            order.pk,
            Outcome(status=Status.UNKNOWN, note="the sender was interrupted"),
            source=OrderEvent.Source.POLL,
            attempt=order.attempt,
        )
    if sending_is_stopped():
        _look_again(order, wait=_RETRY_SECONDS)
        return Found.NO_ANSWER
    try:
        with watching_account():
            answer = get_client().transaction_status(ref_id=order.ref_id, call_class=call_class)
    except Rejected as error:
        if error.error_code == ErrorCode.TRANSACTION_NOT_FOUND:
            _note_not_found(order)
            return Found.NOT_FOUND
        _look_again(order, wait=error.retry_after, counts=error.error_code != ErrorCode.RATE_LIMITED)
    except Unavailable as error:
        _look_again(order, wait=error.retry_after or _RETRY_SECONDS)
    except Misconfigured:
        _look_again(order, wait=_RETRY_SECONDS)
    except OutcomeUnknown:
        _look_again(order, counts=True)
    else:
        _look_again(order, counts=True)
        after = apply_outcome(order.pk, Outcome.reported(answer.data, raw=answer.raw), source=OrderEvent.Source.POLL)
        # Only now: whatever keeps the reading from being stored, the outcome is safe.
        record_status_reading(answer=answer, is_ours=after.trx_id == answer.data.trx_id)
        return Found.REPORTED
    return Found.NO_ANSWER


def _look_again(order: Order, *, wait: float | None = None, counts: bool = False) -> None:
    """Set when the sweep looks at this order next: after `wait` seconds, else by the back-off."""
    checks = order.checks + (1 if counts else 0)
    due = timing.next_check_at(checks) if wait is None else timing.in_seconds(wait)
    Order.objects.asked_about().filter(pk=order.pk, attempt=order.attempt).update(checks=checks, next_check_at=due)


def _note_not_found(asked: Order) -> None:
    """The contract's rule on "not found": only repeated answers over the grace period mean "never arrived".

    A request that is still under way proves nothing yet, so its answers do not count. A bill payment is repeated
    instead, identically.
    """
    _look_again(asked, counts=True)
    now = timezone.now()
    with transaction.atomic():
        order = Order.objects.select_for_update().get(pk=asked.pk)
        if order.attempt != asked.attempt or order.status not in ASKED_ABOUT:
            return  # moved meanwhile, or held as never arrived already
        if order.status == Status.PENDING:
            Incident.objects.get_or_create(
                order=order,
                kind=Incident.Kind.LOST_AFTER_ACCEPTANCE,
                detail=f"accepted as {order.trx_id}, now the status request says not found",
                defaults={"source": OrderEvent.Source.POLL},
            )
            # It may stay so for ever: the books are compared without waiting for its end.
            note_parked(ref_id=order.ref_id)
            return
        if order.status == Status.SENDING and order.sent_at and timing.may_still_be_on_its_way(order.sent_at):
            return
        # Not after a refusal: it may be about the first sending ("already paid"), which only the grace period clears.
        pays_again = order.kind == Order.Kind.BILL and order.status == Status.UNKNOWN and not order.error_code
        order.not_found_count += 1
        order.not_found_since = order.not_found_since or now
        order.save(update_fields=["not_found_count", "not_found_since"])
        grace = dt.timedelta(seconds=settings.ORDER_NOT_FOUND_GRACE_SECONDS)
        never_arrived = (
            order.not_found_count >= settings.ORDER_NOT_FOUND_ANSWERS and now - order.not_found_since >= grace
        )
    if pays_again:
        # The document's one exception: an identical payment is safe to repeat (/v1/bill/pay 5). A purchase never is.
        wait = timing.doubling(settings.ORDER_CHECK_FIRST_SECONDS, order.attempt)
        apply_outcome(
            order.pk,
            Outcome(status=Status.QUEUED, error_code=ErrorCode.TRANSACTION_NOT_FOUND, wait=wait),
            source=OrderEvent.Source.POLL,
            attempt=order.attempt,
        )
    elif never_arrived:
        apply_outcome(
            order.pk,
            Outcome(
                status=Status.HELD,
                hold_reason=HoldReason.NEVER_ARRIVED,
                error_code=ErrorCode.TRANSACTION_NOT_FOUND,
                note=f"not found {order.not_found_count} times since {order.not_found_since:%H:%M:%S} UTC",
            ),
            source=OrderEvent.Source.POLL,
            attempt=order.attempt,
        )
