"""Callbacks as the upstream sends them, signed."""

import hashlib
import hmac
import json
from typing import Any

from django.conf import settings
from django.test import Client

from callbacks import services
from callbacks.models import Callback
from purchases.models import Order
from testing.factories import reported

URL = "/callbacks/upstream/"


def body_for(order: Order, status: str = "success", **facts: Any) -> bytes:
    """The body of a callback about this order."""
    data = reported(order, status, **facts).model_dump(mode="json")
    content = {"event": f"transaction.{status}", "timestamp": "2026-08-22T10:00:12+07:00", "data": data}
    return json.dumps(content).encode()


def sign(body: bytes) -> str:
    """Its signature."""
    return hmac.new(settings.UPSTREAM_SECRET_KEY.encode(), body, hashlib.sha256).hexdigest()


def post(body: bytes, *, signature: str | None = None, content_type: str = "application/json", **extra: Any) -> Any:
    """Send it to us; the answer."""
    headers = {"X-Signature": sign(body) if signature is None else signature, "X-Delivery-Id": "d-1"}
    return Client().post(URL, data=body, content_type=content_type, headers=headers | extra.pop("headers", {}), **extra)


def receive(body: bytes, ref_id: str = "x", *, is_signed: bool = True, delivery: str = "d-1") -> Callback:
    """The callback, stored as by its address, and not processed."""
    stored = services.receive(
        body=body,
        headers={"X-Delivery-Id": delivery},
        source_address="127.0.0.1",
        is_signed=is_signed,
        ref_id=ref_id,
        event="transaction.success",
    )
    return Callback.objects.get(pk=stored)
