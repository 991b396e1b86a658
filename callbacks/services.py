"""Store callbacks, and do what they say."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import structlog
from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import ValidationError

from backoffice.publish import publish
from callbacks.models import Receipt, Refusal, RefusalCount
from purchases.errors import NotPossible
from purchases.models import Order, OrderEvent
from purchases.order_life import ASKED_ABOUT
from purchases.services import Outcome, apply_outcome
from purchases.tasks import check_order
from upstream import strict_json
from upstream.messages import CallbackBody

if TYPE_CHECKING:
    from staff.models import User

log = structlog.get_logger()

# X-Signature may equal the signature of our own requests, which no database may hold; the rest are a browser's secrets.
_HEADERS_NOT_KEPT = frozenset({"x-signature", "cookie", "authorization", "proxy-authorization"})
_HEADER_LENGTH = 500


def receive(
    *, body: bytes, headers: dict[str, str], source_address: str | None, is_signed: bool, ref_id: str, event: str
) -> Receipt:
    """Store a genuine callback and hand it to a worker; the very same delivery again is only counted.

    Same delivery means the same X-Delivery-Id and the same bytes: an id used for other bytes is a callback of its own.
    """
    delivery_id = next((value for name, value in headers.items() if name.lower() == "x-delivery-id"), "")[:100]
    delivery_id = delivery_id.replace("\x00", "")
    content_hash = hashlib.sha256(body).hexdigest()
    same = Receipt.objects.filter(delivery_id=delivery_id, content_hash=content_hash)
    if same.update(repeats=F("repeats") + 1):
        return same.get()
    try:
        with transaction.atomic():
            receipt = Receipt.objects.create(
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
            )
            transaction.on_commit(lambda: _enqueue(receipt.pk))
    except IntegrityError:
        same.update(repeats=F("repeats") + 1)
        return same.get()
    return receipt


def process(receipt_id: int) -> Receipt:
    """Do what a stored callback says, once; return the receipt as it is then.

    Signed over its body, it settles the order by itself; otherwise it is a hint, and the status is asked for first
    (contract, Callback). An unknown ref_id changes nothing and asks nothing.
    """
    receipt = Receipt.objects.get(pk=receipt_id)
    if receipt.state != Receipt.State.RECEIVED:
        return receipt
    try:
        message = CallbackBody.model_validate(strict_json.loads(bytes(receipt.body), floats=False))
    except ValidationError as error:
        fields = ", ".join(sorted({".".join(str(part) for part in fault["loc"]) or "body" for fault in error.errors()}))
        return _finish(receipt, Receipt.State.MALFORMED, f"not as agreed: {fields}")
    order = Order.objects.filter(ref_id=message.data.ref_id).first()
    if order is None:
        return _finish(receipt, Receipt.State.UNMATCHED, "no order has this ref_id")
    if not receipt.is_signed:
        asked = Order.objects.filter(pk=order.pk, status__in=ASKED_ABOUT).update(next_check_at=timezone.now())
        if asked:
            publish(check_order, order.pk)
        return _finish(receipt, Receipt.State.HINT, "status asked for" if asked else f"order is {order.status}")
    before = order.status
    after = apply_outcome(
        order.pk,
        Outcome.reported(message.data, raw=strict_json.loads(bytes(receipt.body))),
        source=OrderEvent.Source.CALLBACK,
        receipt_id=receipt.pk,
    )
    return _finish(receipt, Receipt.State.APPLIED, f"{before} → {after.status}")


def process_due(limit: int = 100) -> int:
    """Process what waits, oldest first: the way when the broker was down. Returns how many."""
    waiting = list(Receipt.objects.due().values_list("pk", flat=True)[:limit])
    for receipt_id in waiting:
        try:
            process(receipt_id)
        except Exception:
            # One that meets a fault of ours must not keep the others waiting; it stays due, the fault is logged.
            log.exception("receipt_not_processed", receipt=receipt_id)
    return len(waiting)


def process_again(receipt: Receipt, *, actor: User) -> Receipt:
    """Process a receipt once more because a person asks; safe, since applying the same twice changes nothing.

    Raises `NotPossible` while it still waits for its first time.
    """
    reset = Receipt.objects.filter(pk=receipt.pk).exclude(state=Receipt.State.RECEIVED)
    if not reset.update(state=Receipt.State.RECEIVED, processed_at=None):
        raise NotPossible(_("This callback still waits to be processed."))
    log.info("receipt_processed_again", receipt=receipt.pk, actor=actor.get_username())
    return process(receipt.pk)


def count_refusal(*, reason: str, source_address: str | None, size: int) -> None:
    """Count a callback that was turned away; describe only the last few, whatever an attacker sends."""
    today = timezone.localdate()
    with transaction.atomic():
        counter, _created = RefusalCount.objects.get_or_create(day=today, reason=reason[:60])
        RefusalCount.objects.filter(pk=counter.pk).update(count=F("count") + 1)
        newest = Refusal.objects.create(reason=reason[:60], source_address=source_address, size=size)
        Refusal.objects.filter(pk__lte=newest.pk - Refusal.KEPT).delete()
    log.warning("callback_turned_away", reason=reason, source=source_address)


def _enqueue(receipt_id: int) -> None:
    from callbacks import tasks

    publish(tasks.process_receipt, receipt_id)


def _finish(receipt: Receipt, state: Receipt.State, result: str) -> Receipt:
    receipt.state = state
    receipt.result = result[:300]
    receipt.processed_at = timezone.now()
    receipt.save(update_fields=["state", "result", "processed_at"])
    log.info("receipt_processed", receipt=receipt.pk, ref_id=receipt.ref_id, state=str(state))
    return receipt
