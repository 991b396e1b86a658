"""Store callbacks, and do what they say."""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import TYPE_CHECKING

import structlog
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import ValidationError

from callbacks.errors import StillWaiting
from callbacks.models import (
    LEASE_SECONDS,
    Callback,
    CallbackRefusal,
    CallbackRefusalCount,
    CallbackState,
    RefusalReason,
)
from core import clock
from core.publish import publish
from gateway.dispatching import Due
from gateway.line import Work, ring_when_committed
from gateway.polling import backoff, in_seconds
from purchases.models import Order, OrderEvent
from purchases.services import Report, apply_report
from purchases.states import POLLED
from upstream import strict_json
from upstream.callback_signature import SIGNATURE_HEADERS
from upstream.messages import CallbackBody

if TYPE_CHECKING:
    from staff.models import User

log = structlog.get_logger()

# No database may hold a signature that may equal those of our own requests; the rest are a browser's secrets.
_HEADERS_NOT_KEPT = SIGNATURE_HEADERS | {"cookie", "authorization", "proxy-authorization"}
_HEADER_LENGTH = 500
_PROCESS = "callbacks.tasks.process_callback"


def receive(
    *, body: bytes, headers: dict[str, str], source_address: str | None, is_signed: bool, ref_id: str, event: str
) -> Callback:
    """Store a genuine callback and hand it to a worker; the very same delivery again is only counted.

    Same delivery means the same X-Delivery-Id and the same bytes: an id used for other bytes is a callback of its own.
    """
    delivery_id = next((value for name, value in headers.items() if name.lower() == "x-delivery-id"), "")[:100]
    delivery_id = delivery_id.replace("\x00", "")
    content_hash = hashlib.sha256(body).hexdigest()
    same = Callback.objects.filter(delivery_id=delivery_id, content_hash=content_hash)
    if same.update(repeats=F("repeats") + 1):
        return same.get()
    try:
        with transaction.atomic():
            callback = Callback.objects.create(
                delivery_id=delivery_id,
                content_hash=content_hash,
                event=event,
                ref_id=ref_id,
                body=body,
                headers={
                    name: value[:_HEADER_LENGTH].replace("\x00", "")
                    for name, value in headers.items()
                    if name.lower() not in _HEADERS_NOT_KEPT
                },
                source_address=source_address,
                is_signed=is_signed,
                next_try_at=in_seconds(LEASE_SECONDS),
            )
            transaction.on_commit(lambda: _enqueue(callback.pk))
    except IntegrityError:
        same.update(repeats=F("repeats") + 1)
        return same.get()
    return callback


def process(callback_id: int) -> Callback:
    """Do what a stored callback says, once; return the callback as it is then.

    Signed over its body, it settles the order by itself; otherwise it is a hint, and the order is polled (contract,
    Callback). An unknown ref_id changes nothing and asks nothing.

    When our own code fails on it, the fault is kept on its row and it is tried again later, so that it holds up no
    other callback.
    """
    callback = Callback.objects.get(pk=callback_id)
    if callback.state != CallbackState.RECEIVED:
        return callback
    try:
        return _process(callback)
    except Exception as error:
        log.exception("callback_not_processed", callback=callback.pk)
        callback.tries += 1
        callback.fault = f"{type(error).__name__}: {error}"[:300]
        callback.next_try_at = in_seconds(backoff(callback.tries, first=LEASE_SECONDS))
        callback.save(update_fields=["tries", "fault", "next_try_at"])
        return callback


def _process(callback: Callback) -> Callback:
    try:
        message = CallbackBody.model_validate(strict_json.loads(bytes(callback.body), floats=False))
    except ValidationError as error:
        fields = ", ".join(sorted({".".join(str(part) for part in fault["loc"]) or "body" for fault in error.errors()}))
        return _finish(callback, CallbackState.MALFORMED, fields)
    order = Order.objects.filter(ref_id=message.data.ref_id).first()
    if order is None:
        return _finish(callback, CallbackState.UNMATCHED)
    if not callback.is_signed:
        now = clock.now()
        if Order.objects.filter(pk=order.pk, status__in=POLLED).update(next_poll_at=now):
            ring_when_committed(now)
        return _finish(callback, CallbackState.HINT, order.status)
    before = order.status
    report = Report(
        said=message.data,
        source=OrderEvent.Source.CALLBACK,
        raw=strict_json.loads(bytes(callback.body)),
        callback_id=callback.pk,
    )
    after = apply_report(order.pk, report)
    return _finish(callback, CallbackState.APPLIED, f"{before} → {after.status}")


def take_due(limit: int) -> list[Work]:
    """Lease up to `limit` callbacks that wait, oldest due first; return their work: the way when a task was lost."""
    with transaction.atomic():
        due = list(Callback.objects.select_for_update(skip_locked=True).due().values_list("pk", flat=True)[:limit])
        Callback.objects.filter(pk__in=due).update(next_try_at=in_seconds(LEASE_SECONDS))
    return [Work(_PROCESS, callback_id) for callback_id in due]


def _earliest() -> dt.datetime | None:
    waiting = Callback.objects.filter(state=CallbackState.RECEIVED).order_by("next_try_at")
    return waiting.values_list("next_try_at", flat=True).first()


DUE_CALLBACKS = Due(earliest=_earliest, take=take_due, asks_upstream=False)


def process_again(callback: Callback, *, actor: User) -> Callback:
    """Process a callback again because a person asks; safe, since applying the same twice changes nothing.

    Raises `StillWaiting` while it waits for its first time; one on which our code failed may be tried at any time.
    """
    done_or_failed = Callback.objects.filter(pk=callback.pk).exclude(state=CallbackState.RECEIVED, tries=0)
    if not done_or_failed.update(state=CallbackState.RECEIVED, processed_at=None):
        raise StillWaiting(_("This callback still waits to be processed."))
    log.info("callback_processed_again", callback=callback.pk, actor=actor.get_username())
    return process(callback.pk)


def count_refusal(*, reason: RefusalReason, source_address: str | None, size: int) -> None:
    """Count a callback that was rejected; describe only the last few, whatever an attacker sends."""
    today = timezone.localdate()
    with transaction.atomic():
        counter, _created = CallbackRefusalCount.objects.get_or_create(day=today, reason=reason)
        CallbackRefusalCount.objects.filter(pk=counter.pk).update(count=F("count") + 1)
        newest = CallbackRefusal.objects.create(reason=reason, source_address=source_address, size=size)
        CallbackRefusal.objects.filter(pk__lte=newest.pk - CallbackRefusal.KEPT).delete()
    log.warning("callback_rejected", reason=reason.value, source=source_address)


def _enqueue(callback_id: int) -> None:
    publish(_PROCESS, callback_id)


def _finish(callback: Callback, state: CallbackState, result: str = "") -> Callback:
    callback.state = state
    callback.result = result[:300]
    callback.processed_at = timezone.now()
    callback.tries, callback.fault = 0, ""
    callback.save(update_fields=["state", "result", "processed_at", "tries", "fault"])
    log.info("callback_processed", callback=callback.pk, ref_id=callback.ref_id, state=str(state))
    return callback
