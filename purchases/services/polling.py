"""Polls the status of an order at the upstream. Polling is always safe."""

import datetime as dt
import time
from enum import StrEnum

from django.conf import settings
from django.db import transaction

from core import clock
from gateway import services as gateway
from gateway.line import ring_when_committed
from gateway.polling import backoff, in_seconds, next_poll_at, wait_after
from gateway.services import may_be_lost
from purchases.models import Incident, LostOrder, Order, OrderEvent
from purchases.services.decisions import Decision, apply_verdict
from purchases.services.incidents import record_incident
from purchases.services.moving import lock_order_for_move
from purchases.services.reports import Report, apply_report
from purchases.services.sending import submit
from purchases.states import POLLED, ActionReason, Status
from upstream import requests
from upstream.budget import CallClass
from upstream.error_codes import ErrorCode
from upstream.errors import Rejected, Unavailable, UpstreamError

_POLL = OrderEvent.Source.POLL
_LOOK_EVERY_SECONDS = 0.25


class Found(StrEnum):
    """The result of a poll."""

    REPORTED = "reported"
    NOT_FOUND = "not found"
    NO_ANSWER = "no answer"
    NOT_ASKED = "not asked"


def poll(
    order_id: int, *, call_class: CallClass, permit_id: str = "", is_any: bool = False, by_hand: bool = False
) -> Found:
    """Ask for the status of an order that the upstream has or may have, and apply the answer; return what was found.

    `permit_id`: as for `submit`. `is_any`: in any status, also if it was not sent as far as this database knows. A
    fault changes nothing but the time of the next poll (document, Resources: status is read by `ref_id`).

    `by_hand`: a person asks, beside the polls that fall due: an answer leaves the next one and the back-off as they
    were. A try that was not made falls due again, as always.
    """
    order = (Order.objects.all() if is_any else Order.objects.polled()).filter(pk=order_id).first()
    if order is None:
        gateway.give_back(permit_id)
        return Found.NO_ANSWER
    if order.status == Status.SENDING and not _may_be_under_way(order):
        # The sender was interrupted before the answer was stored.
        unknown = Decision(status=Status.UNKNOWN, source=_POLL, facts={"code": "interrupted"})
        order = apply_verdict(order.pk, unknown, attempt=order.attempt)
    try:
        request = requests.transaction_status(ref_id=order.ref_id)
        reply = gateway.call(request, call_class=call_class, permit_id=permit_id, attempt=order.polls + 1)
    except UpstreamError as error:
        _poll_later(order, wait=wait_after(error), by_hand=by_hand)
        if isinstance(error, Unavailable):
            return Found.NOT_ASKED
        if isinstance(error, Rejected) and error.error_code == ErrorCode.TRANSACTION_NOT_FOUND:
            _count_not_found(order)
            return Found.NOT_FOUND
        return Found.NO_ANSWER
    _poll_later(order, by_hand=by_hand)
    apply_report(order.pk, Report(data=reply.data, source=_POLL, raw=reply.raw, asked_no=reply.sent_no))
    return Found.REPORTED


def has_arrived(ref_id: str) -> bool:
    """Whether the upstream knows this ref_id, which has no order here and may have been sent before a restore.

    Raises an `UpstreamError` without a clear answer.
    """
    try:
        gateway.call(requests.transaction_status(ref_id=ref_id))
    except Rejected as error:
        if error.error_code == ErrorCode.TRANSACTION_NOT_FOUND:
            return False
        raise
    return True


def _may_be_under_way(order: Order) -> bool:
    """Whether its last sending may still be on its way, so that "not found" means nothing yet."""
    longest_call = settings.UPSTREAM_CONNECT_TIMEOUT + settings.UPSTREAM_READ_TIMEOUT
    return order.sent_at is not None and clock.now() < order.sent_at + dt.timedelta(seconds=longest_call)


def _poll_later(order: Order, *, wait: float | None = None, by_hand: bool) -> None:
    """Poll it again after `wait` seconds; without `wait`, this poll counts and the back-off decides.

    A poll by hand does not count: people who check often would make the next ones rare. One that was not made only
    brings the next one forward: repeated presses during a fault would move it on each time.
    """
    if by_hand and wait is None:
        return
    polls = order.polls + (wait is None)
    due = next_poll_at(polls) if wait is None else in_seconds(wait)
    same_sending = Order.objects.polled().filter(pk=order.pk, attempt=order.attempt)
    if by_hand:
        same_sending.filter(next_poll_at__gt=due).update(next_poll_at=due)
    else:
        same_sending.update(polls=polls, next_poll_at=due)
    ring_when_committed(due)


def _count_not_found(polled: Order) -> None:
    """The contract's rule on "not found": only repeated answers over the grace period mean "never arrived".

    While the sending may still be under way, the answer proves nothing and does not count. A bill payment is repeated
    instead, identically.
    """
    now = clock.now()
    with transaction.atomic():
        order = lock_order_for_move(polled.pk)
        if order.attempt != polled.attempt or order.status not in POLLED:
            return  # moved meanwhile, or already judged as never arrived
        if order.status == Status.PENDING:
            detail = f"accepted as {order.trx_id}, now the status request says not found"
            record_incident(order, Incident.Kind.LOST_AFTER_ACCEPTANCE, detail, source=_POLL)
            return
        if order.status == Status.SENDING:
            return
        order.not_found_count += 1
        order.not_found_since = order.not_found_since or now
        order.save(update_fields=["not_found_count", "not_found_since"])
        if decision := _after_not_found(order, order.not_found_since):
            apply_verdict(order.pk, decision)


def _after_not_found(order: Order, since: dt.datetime) -> Decision | None:
    times, code = order.not_found_count, ErrorCode.TRANSACTION_NOT_FOUND
    # No repeat after a refusal: it may be about the first sending ("already paid"), which only the grace period clears.
    # No repeat from before a restore: a payment that a person confirmed then may by now be cancelled, or paid in
    # another way.
    is_lost = may_be_lost(order.created_at) or LostOrder.objects.filter(order=order).exists()
    if order.kind == Order.Kind.BILL and not order.error_code and not is_lost:
        # The document's one exception: an identical payment is safe to repeat (/v1/bill/pay 5). A purchase never is.
        wait = backoff(order.attempt)
        return Decision(status=Status.QUEUED, source=_POLL, error_code=code, wait=wait)
    grace = dt.timedelta(seconds=settings.ORDER_NOT_FOUND_GRACE_SECONDS)
    if times < settings.ORDER_NOT_FOUND_ANSWERS or clock.now() - since < grace:
        return None
    return Decision(
        status=Status.NEEDS_ACTION,
        source=_POLL,
        action_reason=ActionReason.NEVER_ARRIVED,
        error_code=code,
        facts={"code": "not_found", "times": times, "since": since.isoformat()},
    )


def follow(order: Order, *, seconds: float) -> Order:
    """Wait up to `seconds` until the order is final or needs action, and do what falls due for it; return it then."""
    until = time.monotonic() + seconds
    order.refresh_from_db()
    while not order.is_final and order.status != Status.NEEDS_ACTION and time.monotonic() < until:
        time.sleep(min(_LOOK_EVERY_SECONDS, max(0.0, until - time.monotonic())))
        order.refresh_from_db()
        if order.next_poll_at is None or order.next_poll_at > clock.now():
            continue
        if order.status == Status.QUEUED:
            submit(order.pk, call_class=CallClass.INTERACTIVE)
        elif order.status in POLLED:
            poll(order.pk, call_class=CallClass.INTERACTIVE)
        order.refresh_from_db()
    return order
