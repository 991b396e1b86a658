"""Goes on with batches, a few rows at a time: has bills checked, and places the rows of released batches.

Each order and each inquiry goes in the background's turns, after those of people.

PostgreSQL is the truth: a batch that runs has a due time, and each row becomes its order in one transaction, under the
ref_id and the key that were made when it was checked. So a killed worker or a lost message only costs time.
"""

import datetime as dt
import time
from typing import Any

import structlog
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import translation

from batches.errors import BatchRefused
from batches.models import ASKING, Batch, BatchRow, outcome_is_unknown
from batches.services.billing import ask, fresh_checks, mark_changed, pay, take_over
from batches.services.checking import ask_when_due
from batches.services.releasing import end, lock_batch, may_release, say_what_waits, stop, words_for_readers
from batches.states import FOR_A_PERSON, BatchState, Fault, RowState
from bills.errors import CheckExpired, FeeChanged, Replaced, TotalChanged
from bills.models import BillCheck
from bills.services import inquire
from bills.states import AnswerKind
from catalogue.destinations import InvalidDestination
from core import clock
from core.bulk import update_rows
from core.errors import OrderRefused
from core.rights import Right
from credit.errors import CreditRefused
from drawers.errors import PaymentUnclear
from gateway.dispatching import Due
from gateway.line import Work, ring_when_committed
from gateway.services import may_be_lost
from purchases.errors import BalanceShort, LimitReached, NeedsApproval, OutsideHours
from purchases.models import Order
from purchases.services import doubt, has_arrived, poll, submit
from purchases.services.placing import Approved, place_order, queue_order
from purchases.states import OPEN, POLLED, Status
from upstream.budget import CallClass
from upstream.errors import UpstreamError

log = structlog.get_logger()

PLACE = "batches.tasks.place_rows"
# At most this many orders of one batch are queued or of unknown outcome, and this many bills inquired, at a time: a
# pause stops the batch at once, other polls come in between, and an outage does not put every order in doubt.
AHEAD = 10
# Seconds until the next rows are taken, and until a batch of a killed worker is found again.
_PAUSE, _LEASE = 2.0, 30.0
# These refuse all later rows, too: a person has to do something first.
_STOPS = (BalanceShort, LimitReached, OutsideHours, NeedsApproval, CreditRefused, PaymentUnclear)
# The database is away or busy, which is not the row's fault: the row is tried again when the batch falls due.
_TRY_LATER = (OperationalError, InterfaceError)
_LOOK_EVERY_SECONDS = 0.5


def place_rows(batch_id: int) -> None:
    """Have the next bills of a batch checked; place as many rows of a released batch as there is room for."""
    ask_rows(batch_id)
    of_batch = Order.objects.filter(batch_row__batch=batch_id)
    ahead = of_batch.filter(Q(status=Status.QUEUED) | outcome_is_unknown()).count()
    for _row in range(AHEAD - ahead):
        if not _place_next(batch_id):
            break
    _due_in(_PAUSE, Batch.objects.filter(pk=batch_id, next_at__isnull=False))


def ask_rows(batch_id: int) -> None:
    """Take over the answers about the bills of a batch, and have the billers of the next bills asked."""
    with transaction.atomic():
        batch = lock_batch(batch_id)
        if batch.state not in {BatchState.CHECKED, BatchState.RUNNING}:
            return
        asking = batch.rows.filter(ASKING).select_related("product").order_by("line")
        unanswered = Q(bill_check__answer=AnswerKind.NONE, bill_check__next_poll_at__isnull=False)
        answered = list(asking.exclude(bill_check=None).exclude(unanswered))
        take_over(answered, is_released=batch.is_released)
        news = list(asking.filter(bill_check=None)[: max(0, AHEAD - asking.filter(unanswered).count())])
        fresh = fresh_checks(news) if news else {}
        for row in news:
            try:
                with transaction.atomic():
                    ask(row, batch, fresh.get((row.product_id, row.destination)))
            except _TRY_LATER:
                raise
            except Exception:
                log.exception("batch_bill_failed", batch=batch.pk, line=row.line)
                row.mark_wrong(Fault.UNEXPECTED)
        update_rows([*answered, *news], ("bill_check", "max_price", "selling_price", "state", "fault", "said"))
        if batch.state == BatchState.CHECKED:
            ask_when_due(batch)
            batch.save(update_fields=["next_at"])
        else:
            say_what_waits(batch)


def take_due(limit: int) -> list[Work]:
    """Lease up to `limit` batches that are due, and return what is to be done about them."""
    with transaction.atomic():
        due = Batch.objects.select_for_update(skip_locked=True).filter(next_at__lte=clock.now())
        keys = list(due.order_by("next_at").values_list("pk", flat=True)[:limit])
        _due_in(_LEASE, Batch.objects.filter(pk__in=keys))
    return [Work(PLACE, pk) for pk in keys]


def _earliest() -> QuerySet[Any]:
    return Batch.objects.filter(next_at__isnull=False).order_by("next_at").values_list("next_at")


DUE_BATCHES = Due(earliest=_earliest, take=take_due, tasks=(PLACE,), asks_upstream=False)


def _due_in(seconds: float, batches: QuerySet[Batch]) -> None:
    moment = clock.now() + dt.timedelta(seconds=seconds)
    with transaction.atomic():
        if batches.update(next_at=moment):
            ring_when_committed(moment)


def _place_next(batch_id: int) -> bool:
    """Place the next row of the batch; False if there is none for now, or the batch has ended or stopped.

    A row on which our code fails waits for a person, and the others go on. Nothing was sent for it: its order would
    have been committed together with the row.
    """
    key = _next_key(batch_id)
    try:
        return _place_row(batch_id, key, is_sent=key is not None and _was_sent_before_restore(key))
    except _TRY_LATER:
        raise
    except UpstreamError:
        return False  # asked again when the batch falls due
    except Exception:
        if key is None:
            raise
        log.exception("batch_row_failed", batch=batch_id, row=key)
    with transaction.atomic():
        batch = lock_batch(batch_id)
        if row := batch.rows.filter(pk=key, state=RowState.READY).first():
            row.mark_wrong(Fault.UNEXPECTED)
            row.save(update_fields=["state", "fault", "said"])
            say_what_waits(batch)
    return True


def _next_key(batch_id: int) -> int | None:
    """The key of the next row that can be placed; None unless the batch runs.

    A second row for the same sale waits until the first has ended.
    """
    moving = OPEN - {Status.NEEDS_ACTION}
    same = Order.objects.filter(
        product=OuterRef("product"), destination=OuterRef("destination"), status__in=sorted(moving)
    )
    ready = BatchRow.objects.filter(
        Q(is_twice_meant=False) | ~Exists(same),
        batch=batch_id,
        batch__state=BatchState.RUNNING,
        state=RowState.READY,
    )
    return ready.order_by("line").values_list("pk", flat=True).first()


def _was_sent_before_restore(key: int) -> bool:
    """Whether a purchase was sent in the time that a restored database lost: if so it is polled, and not sent again.

    Always False for a row from after the restore, and for a bill: an identical second payment of a bill is safe. Raises
    an `UpstreamError`.
    """
    row = BatchRow.objects.select_related("batch").get(pk=key)
    if row.is_bill or not may_be_lost(row.batch.created_at):
        return False
    return not Order.objects.filter(ref_id=row.ref_id).exists() and has_arrived(row.ref_id)


def _place_row(batch_id: int, key: int | None, *, is_sent: bool) -> bool:
    """Place the row with this key; without a key, end the batch if no row is left.

    `is_sent`: the upstream has its order already.
    """
    with transaction.atomic():
        batch = lock_batch(batch_id)
        if batch.state != BatchState.RUNNING:
            return False
        if key is None:
            end(batch)
            return False
        row = batch.rows.filter(pk=key, state=RowState.READY).select_related("product").first()
        if row is None:
            return True  # another worker was faster
        seller = batch.released_by
        rights = [Right.BUY, *([Right.CHECK_BILLS] if row.is_bill else [])]
        approver = batch.approval.decided_by if batch.approval else None
        if seller and not (seller.is_active and seller.has_perms(rights) and may_release(seller, approver)):
            stop(batch, BatchRefused("off"))
            return False
        reader = batch.created_by or seller
        with translation.override((reader and reader.language) or translation.get_language()):
            try:
                row.order = _place(batch, row, is_sent=is_sent)
            except _STOPS as refusal:
                stop(batch, refusal)
                log.info("batch_stopped", batch=batch.pk, code=refusal.code)
                return False
            except (CheckExpired, Replaced):
                row.bill_check = None  # the biller is asked again, and only the same total is paid
                row.mark_wrong(Fault.ASKING)
            except TotalChanged as refusal:
                mark_changed(row, was=row.selling_price, now=refusal.total + row.fee)
            except FeeChanged as refusal:
                mark_changed(row, was=row.selling_price, now=(row.max_price or 0) + refusal.fee)
            except (OrderRefused, InvalidDestination) as refusal:
                row.state, row.fault = RowState.REFUSED, refusal.code[:40]
                row.said = words_for_readers(refusal, batch)
            else:
                row.state = RowState.PLACED
        row.save(update_fields=["state", "fault", "said", "order", "bill_check"])
        if row.fault in FOR_A_PERSON:
            say_what_waits(batch)
    return True


def _place(batch: Batch, row: BatchRow, *, is_sent: bool) -> Order:
    if row.product is None or row.max_price is None:
        raise LookupError(row.ref_id)  # the database's constraints
    approved = None
    if batch.approval and batch.approval.decided_by:
        approved = Approved(ref_id=row.ref_id, approval=batch.approval.pk, by=batch.approval.decided_by)
    if row.is_bill:
        return pay(row, batch, approved)
    if is_sent:  # any state that it has by now
        order = queue_order(
            kind=Order.Kind.PURCHASE,
            ref_id=row.ref_id,
            product=row.product,
            destination=row.destination,
            max_price=row.max_price,
            selling_price=row.selling_price or row.max_price,
            idempotency_key=row.idempotency_key,
            placed_by=batch.released_by,
            enqueue=False,
            in_background=True,
            approved=approved,
            payment=batch.payment,
        )
        doubt(order.pk)
        return order
    return place_order(
        product=row.product,
        destination=row.destination,
        max_price=row.max_price,
        takes_less=True,
        selling_price=row.selling_price,
        idempotency_key=row.idempotency_key,
        placed_by=batch.released_by,
        confirm_repeat=row.is_repeat_meant or row.is_twice_meant,
        approved=approved,
        payment=batch.payment,
        ref_id=row.ref_id,
        in_background=True,
    )


def follow(batch: Batch, *, seconds: float) -> Batch:
    """Wait up to `seconds` until each row has its end or needs a person; do what falls due; return the batch then."""
    until = time.monotonic() + seconds
    batch.refresh_from_db()
    while not is_over(batch) and time.monotonic() < until:
        if batch.next_at and batch.next_at <= clock.now():
            place_rows(batch.pk)
        checks = BillCheck.objects.filter(batch_rows__batch=batch).due(clock.now())
        for check in checks:
            inquire(check.pk, call_class=CallClass.BACKGROUND)
        for order in Order.objects.filter(batch_row__batch=batch, next_poll_at__lte=clock.now()).order_by(
            "next_poll_at"
        ):
            if order.status == Status.QUEUED:
                submit(order.pk, call_class=CallClass.BACKGROUND)
            elif order.status in POLLED:
                poll(order.pk, call_class=CallClass.BACKGROUND)
        time.sleep(min(_LOOK_EVERY_SECONDS, max(0.0, until - time.monotonic())))
        batch.refresh_from_db()
    return batch


def is_over(batch: Batch) -> bool:
    """Whether none of it changes by itself any more: it is checked, paused, or ended with all of its orders."""
    if batch.next_at is not None:
        return False
    moving = OPEN - {Status.NEEDS_ACTION}
    return not batch.rows.filter(order__status__in=sorted(moving)).exists()
