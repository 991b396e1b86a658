"""Stores callbacks, and processes them."""

import datetime as dt
import hashlib
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import psycopg
import structlog
from django.contrib.postgres.functions import TransactionNow
from django.db import connection, transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from psycopg.types.json import Json
from pydantic import ValidationError

from callbacks.errors import BodyGone, StillWaiting
from callbacks.models import LEAST_DAYS, Callback, CallbackState
from core import clock
from core.bulk import update_rows
from core.publish import WakeUp, publish
from gateway.dispatching import Due
from gateway.line import Work, ring_when_committed
from gateway.polling import backoff, in_seconds
from policies.services import policies
from purchases.models import Order, OrderEvent
from purchases.services import Report, apply_reports
from purchases.services.sweeping import ASK_ANYWAY
from purchases.states import POLLED
from staff.models import User
from upstream import strict_json
from upstream.callback_signature import SIGNATURE_HEADERS
from upstream.messages import CallbackBody, Transaction

log = structlog.get_logger()

# A callback's signature may equal that of our own requests, so it is never stored; the others are secrets, too.
_HEADERS_NOT_KEPT = SIGNATURE_HEADERS | {"cookie", "authorization", "proxy-authorization"}
_HEADER_LENGTH = 500

# At most this many unsigned callbacks about an order cause a poll in this time.
_MOST_HINTS, _LATELY = 5, dt.timedelta(minutes=10)
# Columns that processing writes.
_OUTCOME = ("state", "result", "processed_at", "tries", "fault")
# The most callbacks in one transaction, which holds their orders' locks for about 0.1 s.
_BATCH = 50
# After a fault of ours a callback is tried again in this many seconds, then after growing pauses.
_FIRST_PAUSE_SECONDS = 5.0
# The most bodies that one statement empties, so that its locks and its log stay small.
FORGOTTEN_AT_ONCE = 1_000
_TASK = "callbacks.tasks.process_waiting"
# While many callbacks come, each process sends a wake-up twice a second.
_wake_up = WakeUp(_TASK, longest=0.5)
_asked = threading.Event()
_one_at_a_time = threading.Lock()
# The pause between two runs, at any rate of callbacks: in small batches each callback costs three times as much.
_RUN_EVERY_SECONDS = 0.25
_next_run = [0.0]


# The statement that stores a callback also counts a repeat.
_RECEIVE = """
    INSERT INTO callbacks_callback (received_at, delivery_id, content_hash, event, ref_id, body, headers,
        source_address, is_signed, repeats, state, result, next_try_at, tries, fault)
    VALUES (%(now)s, %(delivery_id)s, %(content_hash)s, %(event)s, %(ref_id)s, %(body)s, %(headers)s,
        %(source_address)s::inet, %(is_signed)s, 0, %(state)s, '', %(due)s, 0, '')
    ON CONFLICT (content_hash, is_signed) DO UPDATE SET repeats = callbacks_callback.repeats + 1
    RETURNING id, repeats
"""


def receive(
    *, body: bytes, headers: Mapping[str, str], source_address: str | None, is_signed: bool, ref_id: str, event: str
) -> int:
    """Store a genuine callback and wake up a worker; a repeat of the same bytes is only counted. Returns its key.

    The X-Delivery-Id does not count: it is not signed, so an eavesdropper could make many callbacks from one.
    """
    kept = {name.lower(): value.replace("\x00", "") for name, value in headers.items()}
    values: dict[str, Any] = {
        "now": timezone.now(),
        "due": clock.now(),
        "delivery_id": kept.get("x-delivery-id", "")[:100],
        "content_hash": hashlib.sha256(body).hexdigest(),
        "event": event,
        "ref_id": ref_id,
        "body": body,
        "headers": Json(
            {name: value[:_HEADER_LENGTH] for name, value in kept.items() if name not in _HEADERS_NOT_KEPT}
        ),
        "source_address": source_address,
        "is_signed": is_signed,
        "state": CallbackState.RECEIVED.value,
    }
    with connection.cursor() as cursor:
        cursor.execute(_RECEIVE, values)
        callback_id, repeats = cursor.fetchone()
    if not repeats:
        transaction.on_commit(_wake_up.ask)
    return int(callback_id)


def process_waiting() -> bool:
    """Process all waiting callbacks in batches, the oldest due first; return whether it has taken any.

    Only one thread of a process works, at most four times a second; a second thread returns at once, and the first one
    searches again. Several processes share the work: each skips what another has locked.
    """
    has_taken = False
    _asked.set()
    while _asked.is_set() and _one_at_a_time.acquire(blocking=False):
        try:
            time.sleep(max(0.0, _next_run[0] - time.monotonic()))
            _next_run[0] = time.monotonic() + _RUN_EVERY_SECONDS
            _asked.clear()
            while (taken := process_batch(_BATCH)) == _BATCH:
                has_taken = True
            if taken:  # search again for new callbacks, and for further ones about the same orders
                has_taken = True
                _asked.set()
        finally:
            _one_at_a_time.release()
    return has_taken


def process_batch(limit: int) -> int:
    """Process up to `limit` callbacks that are due, in one transaction; return how many were taken.

    If several are about one order, only the oldest settles it now. When one fails, each is processed by itself.
    """
    taken: list[Callback] = []
    try:
        with transaction.atomic():
            taken = list(Callback.objects.select_for_update(skip_locked=True).due()[:limit])
            _process(taken)
    except Exception as error:
        log.warning("callbacks_processed_one_by_one", count=len(taken), fault=type(error).__name__)
        if not taken:
            raise
        for callback in taken:
            process(callback.pk)
    return len(taken)


def process(callback_id: int) -> Callback:
    """Process a stored callback, once; return the callback as it is afterwards.

    If its body is signed, it settles the order by itself; otherwise it is a hint, and the order is polled (contract,
    Callback). With an unknown ref_id nothing changes and nothing is polled.

    When our own code fails on it, the fault is kept on its row and it is tried again later, so that it holds up no
    other callback.
    """
    try:
        with transaction.atomic():
            callback = Callback.objects.select_for_update().get(pk=callback_id)
            if callback.state == CallbackState.RECEIVED:
                _process([callback])
    except Exception as error:
        log.exception("callback_not_processed", callback=callback_id)
        callback = Callback.objects.get(pk=callback_id)
        callback.tries += 1
        callback.fault = f"{type(error).__name__}: {_without_row(error)}"[:300]
        callback.next_try_at = in_seconds(backoff(callback.tries, first=_FIRST_PAUSE_SECONDS))
        callback.save(update_fields=["tries", "fault", "next_try_at"])
    return callback


def _without_row(error: Exception) -> str:
    """The error's words; of the database's only the first line: its details quote the row, with a customer's number."""
    cause = error.__cause__
    return (cause.diag.message_primary if isinstance(cause, psycopg.Error) else None) or str(error)


def _process(callbacks: Sequence[Callback]) -> None:
    """Process these locked callbacks, and write their results to their rows.

    If several are about one order, only the first settles it now; the others are processed later, against the result.
    """
    messages = {callback: message for callback in callbacks if (message := _read(callback))}
    signed: dict[str, Callback] = {}
    for callback, message in messages.items():
        if callback.is_signed:
            signed.setdefault(message.data.ref_id, callback)
    hints = [callback for callback in messages if not callback.is_signed]
    settled = apply_reports({ref_id: _report(callback, messages[callback]) for ref_id, callback in signed.items()})
    for ref_id, callback in signed.items():
        if moved := settled.get(ref_id):
            _finish(callback, CallbackState.APPLIED, " → ".join(moved))
        else:
            _finish(callback, CallbackState.UNMATCHED)
    _poll_orders({callback: messages[callback].data for callback in hints})
    strange = [callback for callback in callbacks if callback not in messages and callback.ref_id]
    often = _often_hinted({callback.ref_id for callback in strange if not callback.is_signed})
    if asked := {callback.ref_id for callback in strange if callback.is_signed or callback.ref_id not in often}:
        # They settle nothing, but something has happened. Not here: the books may be held.
        transaction.on_commit(partial(_poll_now, ref_id__in=asked))
    update_rows([callback for callback in callbacks if callback.processed_at], _OUTCOME)


def _read(callback: Callback) -> CallbackBody | None:
    """Its message; None if it is invalid, which finishes the callback."""
    try:
        return CallbackBody.model_validate(strict_json.loads(bytes(callback.body)))
    except ValidationError as error:
        fields = ", ".join(sorted({".".join(str(part) for part in fault["loc"]) or "body" for fault in error.errors()}))
        _finish(callback, CallbackState.MALFORMED, fields)
        return None


def _report(callback: Callback, message: CallbackBody) -> Report:
    return Report(
        data=message.data,
        source=OrderEvent.Source.CALLBACK,
        raw=strict_json.loads(bytes(callback.body)),
        callback_id=callback.pk,
    )


def _poll_orders(hints: Mapping[Callback, Transaction]) -> None:
    """Have the orders of unsigned callbacks polled. `hints`: the transaction of each callback.

    A final order, or one that was certainly not charged, is not polled any more. If a callback contradicts it, or names
    an SN that it lacks, it is still polled: the answer is believed, as a move, an SN or an incident.
    """
    if not hints:
        return
    orders = {
        order.ref_id: order for order in Order.objects.filter(ref_id__in={said.ref_id for said in hints.values()})
    }
    often = _often_hinted(orders.keys())
    polled = [order.pk for order in orders.values() if order.status in POLLED]
    _poll_now(pk__in=[order.pk for order in orders.values() if order.ref_id not in often])
    in_question = dict[str, int]()
    for callback, said in hints.items():
        order = orders.get(said.ref_id)
        if order is None:
            _finish(callback, CallbackState.UNMATCHED)
            continue
        is_news = said.status.value != order.status or (said.sn is not None and not order.sn)
        if order.pk not in polled and is_news:
            in_question[order.ref_id] = order.pk
        _finish(callback, CallbackState.HINT, order.status)
    for ref_id, pk in sorted(in_question.items()):
        if ref_id not in often:
            transaction.on_commit(partial(publish, ASK_ANYWAY, pk))


def _often_hinted(ref_ids: Collection[str]) -> set[str]:
    """Those of these ref_ids about which `_MOST_HINTS` unsigned callbacks were processed in `_LATELY`.

    The next ones cause no poll: forged callbacks must not use up the rate budget, nor make the next polls rare.
    """
    if not ref_ids:
        return set()
    lately = Callback.objects.filter(
        ref_id__in=ref_ids,
        is_signed=False,
        state__in=[CallbackState.HINT, CallbackState.MALFORMED],
        processed_at__gt=clock.now() - _LATELY,
    )
    counted = lately.order_by().values("ref_id").annotate(count=Count("pk")).filter(count__gte=_MOST_HINTS)
    return set(counted.values_list("ref_id", flat=True))


def _poll_now(**which: Any) -> None:
    """Have these orders polled at once, if they are still polled. They are locked in the order of their keys."""
    now = clock.now()
    with transaction.atomic():
        polled = Order.objects.filter(**which, status__in=POLLED).order_by("pk").select_for_update(no_key=True)
        if Order.objects.filter(pk__in=list(polled.values_list("pk", flat=True))).update(next_poll_at=now):
            ring_when_committed(now)


def take_due(_limit: int) -> list[Work]:
    """One piece of work for all due callbacks, those whose wake-up was lost or on which our code failed; else none."""
    first = Callback.objects.due().values_list("pk", flat=True).first()
    return [] if first is None else [Work(_TASK, first)]


def _earliest() -> QuerySet[Any]:
    waiting = Callback.objects.filter(state=CallbackState.RECEIVED).order_by("next_try_at")
    return waiting.values_list("next_try_at")


DUE_CALLBACKS = Due(earliest=_earliest, take=take_due, tasks=(_TASK,), asks_upstream=False)


def process_again(callback: Callback, *, actor: User) -> Callback:
    """Process a callback again for a person; safe, because applying the same twice changes nothing.

    Raises `StillWaiting` while it waits for its first processing; after a fault of ours it may be tried at any time.
    Raises `BodyGone` when its body is no longer kept.
    """
    done_or_failed = Callback.objects.filter(pk=callback.pk, body_gone_at=None).exclude(
        state=CallbackState.RECEIVED, tries=0
    )
    if not done_or_failed.update(state=CallbackState.RECEIVED, processed_at=None):
        if Callback.objects.filter(pk=callback.pk, body_gone_at__isnull=False).exists():
            raise BodyGone(_("What this callback said is kept no more."))
        raise StillWaiting(_("This callback still waits to be processed."))
    log.info("callback_processed_again", callback=callback.pk, actor=actor.get_username())
    return process(callback.pk)


def forget_old_bodies() -> int:
    """Empty bodies that are older than the policy `callbacks_kept_days`, in batches; returns how many (0 without it).

    Bodies about an order stay for as many days after its end. All other columns stay, with the body's SHA-256.
    """
    days = policies().callbacks_kept_days
    if days is None:
        return 0
    # The database refuses to forget too early, and in the future, by its own clock.
    before = clock.now() - dt.timedelta(days=max(days, LEAST_DAYS))
    orders = Order.objects.filter(Q(final_at=None) | Q(final_at__gte=before), ref_id=OuterRef("ref_id"))
    old = Callback.objects.filter(body_gone_at=None, received_at__lt=before).exclude(state=CallbackState.RECEIVED)
    by_time = old.order_by("received_at", "pk")
    rows, forgotten = list(by_time[:FORGOTTEN_AT_ONCE].values_list("received_at", "pk")), 0
    while rows:
        batch = old.filter(~Exists(orders), pk__in=[pk for _at, pk in rows])
        forgotten += batch.update(body=b"", body_gone_at=TransactionNow())
        at, last = rows[-1]  # needed bodies stay, so the next batch begins after them
        behind = by_time.filter(Q(received_at__gt=at) | Q(received_at=at, pk__gt=last))
        rows = list(behind[:FORGOTTEN_AT_ONCE].values_list("received_at", "pk"))
    log.info("callback_bodies_forgotten", count=forgotten, before=before.isoformat())
    return forgotten


def _finish(callback: Callback, state: CallbackState, result: str = "") -> None:
    callback.state = state
    callback.result = result[:300]
    callback.processed_at = timezone.now()
    callback.tries, callback.fault = 0, ""
    log.info("callback_processed", callback=callback.pk, ref_id=callback.ref_id, state=str(state))
