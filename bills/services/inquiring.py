"""Inquires what a customer owes, which costs nothing and may be repeated: the same body returns the stored result."""

import datetime as dt
import time
import uuid
from collections.abc import Iterable
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from bills.errors import NotABill
from bills.models import BillCheck, Inquiry
from bills.services.paying import lock_check_for_payment
from bills.states import AnswerKind
from catalogue.destinations import InvalidDestination
from catalogue.models import Product, ProductType
from core import clock
from core.errors import OrderRefused
from core.notation import is_same_number
from customers.models import SavedNumber
from gateway import line, polling
from gateway.dispatching import Due
from gateway.line import Work, ring_when_committed
from gateway.services import call, give_back, next_number
from purchases.errors import ActionRefused
from purchases.services.placing import new_ref_id
from purchases.states import Status
from staff.models import User
from upstream import requests
from upstream.budget import CallClass
from upstream.error_codes import Next, OwnCode, meaning_of
from upstream.errors import OutcomeUnknown, Rejected, Unavailable, UpstreamError
from upstream.messages import BillInquiry, InquiryStatus

log = structlog.get_logger()

# After this time without an answer the customer has left the counter: polling stops until a person inquires again.
_GIVE_UP_AFTER = dt.timedelta(hours=1)
# A biller answers within seconds or a minute, and a person waits: the pauses grow slowly.
_PAUSES_GROW_BY = 1.25
_INQUIRE = "bills.tasks.inquire"
_READ_EVERY_SECONDS = 0.25


def start_check(
    *,
    product: Product,
    destination: str,
    checked_by: User | None,
    saved_number: SavedNumber | None = None,
    enqueue: bool = True,
    due_at: dt.datetime | None = None,
) -> BillCheck:
    """Store a check with its own ref_id and have a worker inquire at once; return it, pending.

    `due_at`: when a worker inquires, in the background's turns, because nobody waits for it. Raises `NotABill` or
    `InvalidDestination`; nothing is stored or sent then.
    """
    check = _new_check(product, destination, checked_by, saved_number)
    wait = polling.HEAD_START_SECONDS if enqueue else settings.ORDER_LEASE_SECONDS
    check.next_poll_at = due_at or polling.in_seconds(wait)
    with transaction.atomic():
        check.save(force_insert=True)
        if due_at:
            ring_when_committed(due_at)
        elif enqueue:
            transaction.on_commit(lambda: _enqueue(check.pk, checked_by) and None)
    return check


def start_checks(numbers: Iterable[SavedNumber], *, checked_by: User) -> uuid.UUID:
    """Check all these saved bills in the background, as the rate budget allows; return the batch to follow.

    Numbers without a biller, whose biller cannot be reached now, or that the biller's kind does not take, are left out.
    """
    batch = uuid.uuid4()
    with transaction.atomic():
        for number in numbers:
            if number.product is None:
                continue
            try:
                check = _new_check(number.product, number.destination, checked_by, number)
            except (OrderRefused, InvalidDestination):
                continue
            check.batch = batch
            check.next_poll_at = clock.now()
            check.save(force_insert=True)
            ring_when_committed(check.next_poll_at)
    return batch


def inquire(check_id: int, *, call_class: CallClass, permit_id: str = "") -> bool:
    """Send the inquiry if the check still waits for an answer, and store what the biller says.

    False: it was certainly not sent, and falls due again.

    `permit_id`: the permit that the dispatcher booked for it; without it, one is booked here.
    """
    check = BillCheck.objects.filter(pk=check_id, answer=AnswerKind.NONE).select_related("asked_by").first()
    if check is None:
        give_back(permit_id)
        return True
    try:
        inquiry = _inquire(check, asked_by=check.asked_by, call_class=call_class, permit_id=permit_id)
    except OutcomeUnknown as error:
        # The identical inquiry again is safe, and returns the result if there is one.
        _poll_later(check, error_code=error.said_code, message=error.said if error.said_code else error.reason)
    except UpstreamError as error:
        _poll_later(check, wait=polling.wait_after(error))
        return not isinstance(error, Unavailable)
    else:
        if inquiry.answer == AnswerKind.NONE:
            _poll_later(check)
    return True


def inquire_again(check: BillCheck, *, actor: User | None) -> Inquiry | None:
    """Send the identical inquiry again, take over the answer and return it; None: a worker sends it.

    For a check whose total has changed, or that has no answer yet (for the worker). It calls at once: do not hold a
    lock. Raises `ActionRefused` when the biller refused it before, and an `UpstreamError` when no answer came.
    """
    if check.answer == AnswerKind.REFUSAL:
        raise ActionRefused(str(meaning_of(check.error_code).words))
    BillCheck.objects.filter(pk=check.pk).update(asked_by=actor)
    if check.answer == AnswerKind.NONE:
        BillCheck.objects.filter(pk=check.pk, answer=AnswerKind.NONE).update(
            next_poll_at=polling.in_seconds(polling.HEAD_START_SECONDS)
        )
        _enqueue(check.pk, actor)
        return None
    return _inquire(check, asked_by=actor, call_class=CallClass.INTERACTIVE)


def take_due(limit: int) -> list[Work]:
    """Lease at most `limit` due checks, oldest due first, and return what is to be done about them."""
    with transaction.atomic():
        # Polling ends after any failure.
        BillCheck.objects.filter(
            answer=AnswerKind.NONE, next_poll_at__isnull=False, created_at__lt=clock.now() - _GIVE_UP_AFTER
        ).update(next_poll_at=None)
        due = list(BillCheck.objects.select_for_update(skip_locked=True).due(clock.now())[:limit])
        BillCheck.objects.filter(pk__in=[check.pk for check in due]).update(
            next_poll_at=polling.in_seconds(settings.ORDER_LEASE_SECONDS)
        )
    return [Work(_INQUIRE, check.pk) for check in due]


def _earliest() -> QuerySet[Any]:
    due = BillCheck.objects.filter(answer=AnswerKind.NONE, next_poll_at__isnull=False)
    return due.order_by("next_poll_at").values_list("next_poll_at")


DUE_CHECKS = Due(earliest=_earliest, take=take_due, tasks=(_INQUIRE,))


def why_no_check(product: Product) -> NotABill | None:
    """The reason why this biller cannot be asked now; None when it can."""
    if product.type != ProductType.POSTPAID:
        return NotABill("prepaid")
    if not product.is_listed:
        return NotABill("delisted")
    return None if product.is_available else NotABill("unavailable")


def _new_check(
    product: Product, destination: str, checked_by: User | None, saved_number: SavedNumber | None
) -> BillCheck:
    if refusal := why_no_check(product):
        raise refusal
    return BillCheck(
        ref_id=new_ref_id(),
        product=product,
        product_code=product.code,
        product_name=product.name,
        destination=product.kind.clean(destination),
        checked_by=checked_by,
        asked_by=checked_by,
        saved_number=saved_number,
    )


def months_of(period: str, details: list[dict[str, Any]]) -> list[str]:
    """The months of a bill, in the biller's words: the labels of its details, or its period without details."""
    labels = {line["period"] for line in details if line.get("period")}
    return sorted(labels or {period} - {""})


def _inquire(check: BillCheck, *, asked_by: User | None, call_class: CallClass, permit_id: str = "") -> Inquiry:
    """Ask the biller, keep the answer and take it over. Raises an `UpstreamError` when the biller has not answered.

    The bill of another number does not count as an answer: paying it would pay for somebody else.
    """
    request = requests.bill_inquiry(ref_id=check.ref_id, product_code=check.product_code, destination=check.destination)
    inquiry = Inquiry(bill_check=check, sent_no=next_number(), asked_by=asked_by)
    bill, message = None, ""
    try:
        reply = call(
            request,
            call_class=call_class,
            permit_id=permit_id,
            sent_no=inquiry.sent_no,
            attempt=check.polls + 1,
        )
    except Rejected as error:
        if meaning_of(error.error_code).next in {Next.TRY_AGAIN, Next.WAIT_READY}:
            raise
        inquiry.answer, inquiry.error_code, inquiry.raw = AnswerKind.REFUSAL, error.error_code, error.raw
        message = error.message
    else:
        _refuse_other_bill(check, reply.data)
        bill, inquiry.raw = reply.data, reply.raw
        if bill.status is not InquiryStatus.PENDING:
            inquiry.answer, inquiry.total = AnswerKind.BILL, bill.total
        if inquiry.total == 0:
            inquiry.answer, inquiry.error_code = AnswerKind.REFUSAL, OwnCode.NOTHING_TO_PAY
    _store(inquiry, bill, message=message)
    return inquiry


def _refuse_other_bill(check: BillCheck, bill: BillInquiry) -> None:
    if bill.product_code != check.product_code:
        raise OutcomeUnknown("malformed: product_code")
    if not is_same_number(bill.destination, check.destination):
        raise OutcomeUnknown("malformed: destination")


def _store(inquiry: Inquiry, bill: BillInquiry | None, *, message: str) -> None:
    """Keep the answer; take it over unless a payment of the confirmed total is on its way."""
    with transaction.atomic():
        check = lock_check_for_payment(inquiry.bill_check_id)
        inquiry.save(force_insert=True)
        is_paying = check.order is not None and check.order.status != Status.NEEDS_ACTION
        # The answer "not now" does not remove a bill that we have.
        is_not_now = check.answer == AnswerKind.BILL and meaning_of(inquiry.error_code).next is Next.NEEDS_ACTION
        if inquiry.answer == AnswerKind.NONE or is_paying or is_not_now:
            return
        check.answer, check.answered_at, check.next_poll_at = inquiry.answer, timezone.now(), None
        check.error_code, check.message = inquiry.error_code, message[:1000]
        check.polls += 1
        if bill is not None:
            check.customer_name = bill.customer_name
        if bill is not None and inquiry.answer == AnswerKind.BILL:
            check.period = bill.period
            check.details = [
                {"period": line.period, "amount": line.amount, "penalty": line.penalty} for line in bill.details
            ]
            check.months = months_of(check.period, check.details)
            check.amount, check.admin_fee, check.penalty = bill.amount, bill.admin_fee, bill.penalty
            check.total, check.expires_at = bill.total, _expiry_of(bill)
        check.save()
    log.info("bill_answered", ref_id=check.ref_id, answer=inquiry.answer, error_code=inquiry.error_code)


def _expiry_of(bill: BillInquiry) -> dt.datetime | None:
    """The time until which it can be paid; now at the latest if the upstream says that it has expired."""
    now = clock.now()
    return min(bill.expires_at or now, now) if bill.status is InquiryStatus.EXPIRED else bill.expires_at


def _poll_later(check: BillCheck, *, wait: float | None = None, error_code: str = "", message: str = "") -> None:
    """Inquire again after `wait` seconds; without `wait`, count this inquiry and let the back-off decide."""
    polls = check.polls + (wait is None)
    due: dt.datetime | None = None
    if clock.now() <= check.created_at + _GIVE_UP_AFTER:
        pause = polling.backoff(max(polls - 1, 0), factor=_PAUSES_GROW_BY) if wait is None else wait
        due = polling.in_seconds(pause)
    BillCheck.objects.filter(pk=check.pk, answer=AnswerKind.NONE).update(
        polls=polls, next_poll_at=due, error_code=error_code[:40], message=message[:1000]
    )
    ring_when_committed(due)


def _enqueue(check_id: int, person: User | None) -> bool:
    return line.join(Work(_INQUIRE, check_id), person_id=person.pk if person else None)


def follow_check(check: BillCheck, *, seconds: float) -> BillCheck:
    """Wait up to `seconds` for the biller's answer, inquiring when it is due; return the check as it is then."""
    until = time.monotonic() + seconds
    check.refresh_from_db()
    while check.answer == AnswerKind.NONE and time.monotonic() < until:
        time.sleep(min(_READ_EVERY_SECONDS, max(0.0, until - time.monotonic())))
        check.refresh_from_db()
        if check.answer == AnswerKind.NONE and check.next_poll_at and check.next_poll_at <= clock.now():
            inquire(check.pk, call_class=CallClass.INTERACTIVE)
            check.refresh_from_db()
    return check
