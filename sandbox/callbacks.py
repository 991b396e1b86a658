"""Callbacks as rows: what will be told to the merchant, when, and how it is signed. `delivery.py` sends them."""

import hashlib
import hmac
import json
import secrets
from datetime import datetime, timedelta

from django.db import transaction as database
from django.utils import timezone

from sandbox import clock
from sandbox.api.messages import transaction_data
from sandbox.models import Account, CallbackStyle, Delivery, Transaction
from sandbox.scenarios import Content


def queue(transaction: Transaction, content: Content, *, due_at: datetime) -> Delivery | None:
    """Write a callback about the transaction as it stands, due at an aware moment. None without a callback URL."""
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
    body = {"event": event, "timestamp": timezone.localtime(happened).isoformat(timespec="seconds"), "data": data}
    delivery = Delivery.objects.create(
        ref_id=transaction.ref_id,
        event=event,
        body=json.dumps(body, separators=(",", ":")),
        content=content.value,
        retries=content is not Content.FORGED,
        next_attempt_at=due_at,
    )
    database.on_commit(clock.wake)
    return delivery


def resend(delivery: Delivery) -> None:
    """Send a delivery again now, with its own delivery id, and start its schedule anew."""
    Delivery.objects.filter(pk=delivery.pk).update(next_attempt_at=timezone.now(), tries=0, delivered_at=None)
    database.on_commit(clock.wake)


def resend_newest(ref_id: str) -> Delivery | None:
    """Resend the newest true delivery of a ref_id, or queue a first one if its final state was never told.

    None if there is nothing final to tell, or nowhere to tell it.
    """
    with database.atomic():
        delivery = Delivery.objects.filter(ref_id=ref_id, content=Content.TRUE.value).order_by("-id").first()
        if delivery is not None:
            resend(delivery)
            return delivery
        final = Transaction.objects.filter(ref_id=ref_id, status__in=["success", "failed"]).first()
        return queue(final, Content.TRUE, due_at=timezone.now()) if final else None


def signature(account: Account, delivery: Delivery) -> str:
    """The X-Signature header of a delivery in the account's style, lower-case hex; empty: send no header."""
    key = account.secret_key if delivery.content != Content.FORGED.value else secrets.token_hex(16)
    match account.callback_style:
        case CallbackStyle.HMAC_SHA256_BODY:
            return hmac.new(key.encode(), delivery.body.encode(), hashlib.sha256).hexdigest()
        case CallbackStyle.MD5_REF:
            return hashlib.md5(f"{account.secret_id}:{key}:{delivery.ref_id}".encode()).hexdigest()  # noqa: S324
        case _:
            return ""
