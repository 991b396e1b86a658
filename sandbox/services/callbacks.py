"""Callbacks as rows: the message to the merchant, its time, and its signature. `delivery.py` sends them."""

import hashlib
import hmac
import json
import secrets
from datetime import datetime, timedelta

from django.db import transaction as database
from django.utils import timezone

from sandbox.messages import moment, transaction_data
from sandbox.models import Account, CallbackStyle, Delivery, Transaction
from sandbox.scenarios import SCENARIOS, Callback, Content
from sandbox.services import clock, scheduler
from sandbox.services.playing import sped


def queue_planned(transaction: Transaction, *, early: bool) -> None:
    """Queue the callbacks that the transaction's scenario plans for its acceptance (`early`) or its settling.

    Queues none in a moved time: the process that makes the past polls, and the web would date callbacks today.
    """
    if clock.is_moved():
        return
    scenario = SCENARIOS.get(transaction.scenario or 0)
    for planned in scenario.callbacks if scenario else (Callback(),):
        if planned.early is early:
            queue(transaction, planned.content, due_at=timezone.now() + sped(planned.after))


def queue(transaction: Transaction, content: Content, *, due_at: datetime) -> Delivery | None:
    """Queue a callback about the transaction's present state, due at an aware time. None without a callback URL."""
    if not Account.objects.exclude(callback_url="").exists():
        return None
    happened = transaction.settled_at or timezone.now()
    data = transaction_data(transaction)
    if content in (Content.FORGED, Content.CONTRADICTION):
        data |= {"status": "failed", "sn": None, "message": "The provider could not process the transaction."}
    if content is Content.STALE:
        data |= {"status": "pending", "sn": None, "message": "The transaction is being processed."}
        happened -= timedelta(seconds=2)
    if content is Content.FORGED:
        happened = due_at
    event = f"transaction.{data['status']}"
    body = {"event": event, "timestamp": moment(happened), "data": data}
    delivery = Delivery.objects.create(
        ref_id=transaction.ref_id,
        event=event,
        body=json.dumps(body, separators=(",", ":")),
        content=content.value,
        next_attempt_at=due_at,
    )
    database.on_commit(scheduler.wake)
    return delivery


def resend(delivery: Delivery) -> None:
    """Send a delivery again now, with its own delivery id; its schedule starts again."""
    Delivery.objects.filter(pk=delivery.pk).update(next_attempt_at=timezone.now(), tries=0, delivered_at=None)
    database.on_commit(scheduler.wake)


@database.atomic
def resend_newest(ref_id: str) -> Delivery | None:
    """Resend the newest true delivery of a ref_id, or queue a first one if there is none.

    None if the transaction is not final, or without a callback URL.
    """
    delivery = Delivery.objects.filter(ref_id=ref_id, content=Content.TRUE.value).order_by("-id").first()
    if delivery is not None:
        resend(delivery)
        return delivery
    final = Transaction.objects.filter(ref_id=ref_id, status__in=["success", "failed"]).first()
    return queue(final, Content.TRUE, due_at=timezone.now()) if final else None


def signature(account: Account, delivery: Delivery) -> str:
    """The X-Signature header of a delivery in the account's style, lower-case hex; "" means no header."""
    key = account.secret_key if delivery.content != Content.FORGED.value else secrets.token_hex(16)
    match account.callback_style:
        case CallbackStyle.HMAC_SHA256_BODY:
            return hmac.new(key.encode(), delivery.body.encode(), hashlib.sha256).hexdigest()
        case CallbackStyle.MD5_REF:
            return hashlib.md5(f"{account.secret_id}:{key}:{delivery.ref_id}".encode()).hexdigest()  # noqa: S324
        case _:
            return ""
