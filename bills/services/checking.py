"""Ask what a customer owes. Asking costs nothing and may be repeated: the identical body returns the stored result."""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterable
from typing import TYPE_CHECKING

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from backoffice.publish import publish
from balance.services import sending_is_stopped, watching_account
from bills.errors import NotABill
from bills.models import Answer, BillCheck
from purchases.destinations import kind_of, normalise
from purchases.errors import NotPossible, OrderRefused
from purchases.models import Order, Product, SavedNumber
from purchases.models.catalogue import ProductType
from purchases.services import timing
from purchases.services.placing import new_ref_id
from purchases.services.sweeping import SWEEP_EVERY_SECONDS
from upstream.budget import CallClass
from upstream.client import get_client
from upstream.errors import ErrorCode, Misconfigured, OutcomeUnknown, Rejected, Unavailable, UpstreamError
from upstream.messages import BillInquiry, InquiryStatus

if TYPE_CHECKING:
    from staff.models import User

log = structlog.get_logger()

_AT_MOST = 20
# Our own code, beside the upstream's, for a bill of nothing.
NOTHING_TO_PAY = "NOTHING_TO_PAY"
# Without an answer for so long, nobody waits at the counter any more: asking stops until somebody asks again.
_GIVE_UP_AFTER = dt.timedelta(hours=1)


def start_check(
    *,
    product: Product,
    destination: str,
    checked_by: User | None,
    saved_number: SavedNumber | None = None,
    enqueue: bool = True,
) -> BillCheck:
    """Store a check with its own ref_id and have it asked at once; return it, pending.

    Raises `NotABill` or `InvalidDestination`; nothing is stored or asked then.
    """
    check = _new_check(product, destination, checked_by, saved_number)
    check.next_ask_at = timing.in_seconds(timing.HEAD_START_SECONDS if enqueue else settings.ORDER_LEASE_SECONDS)
    with transaction.atomic():
        check.save(force_insert=True)
        if enqueue:
            transaction.on_commit(lambda: _enqueue(check.pk))
    return check


def start_checks(numbers: Iterable[SavedNumber], *, checked_by: User) -> uuid.UUID:
    """Check all these saved bills in the background, as the rate budget allows; return the batch to follow.

    Numbers without a biller, or whose biller cannot be asked now, are left out.
    """
    batch = uuid.uuid4()
    with transaction.atomic():
        for number in numbers:
            if number.product is None:
                continue
            try:
                check = _new_check(number.product, number.destination, checked_by, number)
            except OrderRefused:
                continue
            check.batch = batch
            check.next_ask_at = timezone.now()
            check.save(force_insert=True)
    return batch


def ask(check_id: int, *, call_class: CallClass) -> None:
    """Send the inquiry if it still waits for an answer, and store what the upstream says."""
    check = BillCheck.objects.filter(pk=check_id, answer=Answer.NONE).first()
    if check is None:
        return
    if sending_is_stopped():
        _ask_later(check, wait=30.0)
        return
    try:
        with watching_account():
            answer = get_client().bill_inquiry(
                ref_id=check.ref_id,
                product_code=check.product_code,
                destination=check.destination,
                call_class=call_class,
            )
    except Rejected as error:
        if error.error_code == ErrorCode.RATE_LIMITED:
            _ask_later(check, wait=error.retry_after)
        else:
            _store_refusal(check, error)
    except Unavailable as error:
        _ask_later(check, wait=error.retry_after or 10.0)
    except Misconfigured:
        _ask_later(check, wait=30.0)
    except OutcomeUnknown as error:
        # The identical question again is safe, and returns the result if there is one.
        _ask_later(check, message=error.reason, counts=True)
    else:
        if answer.data.status is InquiryStatus.PENDING:
            _ask_later(check, counts=True)
        else:
            _store_bill(check, answer.data)


def ask_again(check: BillCheck, *, call_class: CallClass = CallClass.INTERACTIVE) -> BillCheck:
    """Ask the identical question again and take over the present amounts; return the check as it is then.

    For a check whose total has changed, or that stopped waiting. The call is made here and now: do not hold a lock.
    Raises `NotPossible` when the biller refused it before, and an `UpstreamError` when no answer could be had.
    """
    if check.answer == Answer.REFUSAL:
        raise NotPossible(check.message or check.error_code)
    if check.answer == Answer.NONE:
        BillCheck.objects.filter(pk=check.pk, answer=Answer.NONE).update(next_ask_at=timezone.now())
        _enqueue(check.pk)
        return check
    with watching_account():
        answer = get_client().bill_inquiry(
            ref_id=check.ref_id,
            product_code=check.product_code,
            destination=check.destination,
            call_class=call_class,
        )
    if answer.data.status is InquiryStatus.VALID:
        _store_bill(check, answer.data)
    check.refresh_from_db()
    return check


def sweep_checks() -> int:
    """Hand checks that are due to the background worker, as many as the rate budget lets through; return how many."""
    from bills import tasks

    if not BillCheck.objects.due(timezone.now()).exists() or sending_is_stopped():
        return 0
    try:
        allowance = min(get_client().budget.background_allowance(within_seconds=SWEEP_EVERY_SECONDS), _AT_MOST)
    except UpstreamError:
        return 0
    if allowance <= 0:
        return 0
    with transaction.atomic():
        # Whatever went wrong with them: nobody asks for ever.
        BillCheck.objects.filter(
            answer=Answer.NONE, next_ask_at__isnull=False, created_at__lt=timezone.now() - _GIVE_UP_AFTER
        ).update(next_ask_at=None)
        due = list(BillCheck.objects.select_for_update(skip_locked=True).due(timezone.now())[:allowance])
        BillCheck.objects.filter(pk__in=[check.pk for check in due]).update(
            next_ask_at=timing.in_seconds(settings.ORDER_LEASE_SECONDS)
        )
    for check in due:
        publish(tasks.ask_again, check.pk)
    return len(due)


def _new_check(
    product: Product, destination: str, checked_by: User | None, saved_number: SavedNumber | None
) -> BillCheck:
    if product.type != ProductType.POSTPAID:
        raise NotABill("prepaid")
    if not product.is_listed:
        raise NotABill("vanished")
    if not product.is_available:
        raise NotABill("disturbed")
    return BillCheck(
        ref_id=new_ref_id(),
        product=product,
        product_code=product.code,
        product_name=product.name,
        destination=normalise(kind_of(product), destination),
        checked_by=checked_by,
        saved_number=saved_number,
    )


def _store_bill(asked: BillCheck, bill: BillInquiry) -> None:
    """Take over the biller's amounts. While the payment is on its way they stay as they were confirmed."""
    if not bill.total:
        BillCheck.objects.filter(pk=asked.pk, answer=Answer.NONE).update(
            answer=Answer.REFUSAL,
            error_code=NOTHING_TO_PAY,
            customer_name=bill.customer_name,
            answered_at=timezone.now(),
            next_ask_at=None,
        )
        return
    with transaction.atomic():
        check = BillCheck.objects.select_for_update().get(pk=asked.pk)
        order = Order.objects.filter(ref_id=check.ref_id).first()
        if order is not None and order.status != "held":
            return
        check.answer = Answer.BILL
        check.customer_name = bill.customer_name
        check.period = bill.period
        check.details = [
            {"period": line.period, "amount": line.amount, "penalty": line.penalty} for line in bill.details
        ]
        check.amount, check.admin_fee, check.penalty = bill.amount, bill.admin_fee, bill.penalty
        check.total, check.expires_at = bill.total, bill.expires_at
        check.error_code = check.message = ""
        check.answered_at = timezone.now()
        check.next_ask_at = None
        check.asks += 1
        check.save()
    log.info("bill_checked", ref_id=check.ref_id)


def _store_refusal(asked: BillCheck, error: Rejected) -> None:
    BillCheck.objects.filter(pk=asked.pk, answer=Answer.NONE).update(
        answer=Answer.REFUSAL,
        error_code=error.error_code,
        message=error.message[:1000],
        answered_at=timezone.now(),
        next_ask_at=None,
        asks=asked.asks + 1,
    )
    log.info("bill_refused", ref_id=asked.ref_id, error_code=str(error.error_code))


def _ask_later(check: BillCheck, *, wait: float | None = None, message: str = "", counts: bool = False) -> None:
    asks = check.asks + (1 if counts else 0)
    # A biller answers within seconds or a minute, and a person waits: the asking slows down gently.
    pause = min(settings.ORDER_CHECK_FIRST_SECONDS * 1.25 ** min(asks - 1, 60), settings.ORDER_CHECK_MAX_SECONDS)
    due: dt.datetime | None = timing.in_seconds(pause if wait is None else wait)
    if timezone.now() > check.created_at + _GIVE_UP_AFTER:
        due = None
    BillCheck.objects.filter(pk=check.pk, answer=Answer.NONE).update(asks=asks, next_ask_at=due, message=message[:1000])


def _enqueue(check_id: int) -> None:
    from bills import tasks

    publish(tasks.ask_now, check_id)
