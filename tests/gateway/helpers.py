"""Answers of the upstream as the gateway keeps them, without a request."""

import datetime as dt
from typing import Any

from django.utils import timezone

from gateway.models import Exchange
from gateway.services import next_number
from upstream.endpoints import Endpoint


def read_balance(balance: int, at: dt.datetime | None = None) -> Exchange:
    """Let the upstream report this balance (rupiah), numbered as of now, and dated `at` (or now)."""
    at = at or timezone.now()
    return Exchange.objects.create(
        pk=next_number(),
        answered_no=next_number(),
        endpoint=Endpoint.BALANCE,
        sent_at=at,
        answered_at=at,
        outcome="answer",
        balance=balance,
    )


def kept_exchange(ref_id: str, at: dt.datetime | None = None, **facts: Any) -> Exchange:
    """An exchange about an order or a bill check, as the gateway keeps it: answered unless it has an `error`."""
    at, error = at or timezone.now(), facts.get("error", "")
    return Exchange.objects.create(
        **{
            "pk": next_number(),
            "answered_no": None if error else next_number(),
            "endpoint": Endpoint.TRANSACTION_STATUS,
            "ref_id": ref_id,
            "sent_at": at,
            "answered_at": None if error else at,
            "outcome": error or "answer",
            "request": {},
            "latency_ms": 120,
            "waited_ms": 0,
            **facts,
        }
    )


def denied_balance_request(code: str) -> Exchange:
    """A balance request that the upstream has denied with this code, which the document does not name."""
    error = f"OutcomeUnknown: unknown_code: {code}"
    return kept_exchange("", endpoint=Endpoint.BALANCE, error=error, http_status=403, raw={"error_code": code})
