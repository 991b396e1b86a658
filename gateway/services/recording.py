"""Keeps each exchange with the upstream (the request, the answer, the facts of the wire), and later deletes it."""

import datetime as dt
from typing import Any, TypeVar

import structlog
from django.db import DatabaseError, connection
from django.db.models import Q
from django.utils import timezone
from psycopg.types.json import Json
from structlog.contextvars import get_contextvars

from gateway.models import Exchange
from gateway.services.account import NOTE_ANSWER, values_of_note
from upstream.client import Reply
from upstream.endpoints import Endpoint
from upstream.errors import UpstreamError, Wire
from upstream.messages import Message
from upstream.requests import Request

log = structlog.get_logger()
T = TypeVar("T", bound=Message)

# Longer answers (bytes) are kept only as size and digest. The same holds for good answers without an order or inquiry:
# lists, which the catalogue keeps, and balances, which have a column.
_MOST_KEPT = 64 * 1024

_RECORD = """
    INSERT INTO gateway_exchange (id, answered_no, endpoint, ref_id, sent_at, answered_at, outcome, status, trx_id,
        balance, raw, request, http_status, latency_ms, waited_ms, attempt, error, trace_id)
    VALUES (%(id)s,
        CASE WHEN %(is_answer)s THEN nextval(pg_get_serial_sequence('gateway_exchange', 'id')) END,
        %(endpoint)s, %(ref_id)s, %(sent_at)s, %(answered_at)s, %(outcome)s, %(status)s, %(trx_id)s,
        %(balance)s, %(raw)s, %(request)s, %(http_status)s, %(latency_ms)s, %(waited_ms)s, %(attempt)s, %(error)s,
        %(trace_id)s)
    RETURNING answered_no
"""
_RECORD_ANSWER = f"WITH noted AS ({NOTE_ANSWER}) {_RECORD}"
# The most rows that one statement deletes, so that its locks and its log stay small.
BATCH = 2_000


def record(
    request: Request[T],
    *,
    sent_no: int,
    sent_at: dt.datetime,
    attempt: int,
    reply: Reply[T] | None = None,
    error: UpstreamError | None = None,
) -> int | None:
    """Store the exchange. For a good answer, note it on the account's row, too, and return its number.

    None for an error, and when the database fails; the caller still has the answer.
    """
    wire = reply.wire if reply else error.wire if error else None
    values: dict[str, Any] = {
        "id": sent_no,
        "is_answer": reply is not None,
        "endpoint": request.endpoint.value,
        "ref_id": request.ref_id or "",
        "sent_at": wire.sent_at if wire else sent_at,
        "answered_at": reply.received_at if reply else timezone.now() if error is not None and error.raw else None,
        "outcome": "answer" if reply else f"{type(error).__name__}: {error}"[:200],
        "status": str(getattr(reply.data, "status", "")) if reply else "",
        "trx_id": str(getattr(reply.data, "trx_id", ""))[:100] if reply else "",
        "balance": getattr(reply.data, "balance", None) if reply else None,
        "raw": _answer(request, reply, error, wire),
        "request": Json({name: value for name, value in request.fields.items() if value is not None}),
        "http_status": wire.http_status if wire else None,
        "latency_ms": round(wire.latency * 1000) if wire else None,
        "waited_ms": round(wire.waited * 1000) if wire else None,
        "attempt": attempt,
        "error": error.label[:140] if error else "",
        "trace_id": get_contextvars().get("trace_id", ""),
    }
    try:
        with connection.cursor() as cursor:
            if reply:
                cursor.execute(_RECORD_ANSWER, values | values_of_note())
            else:
                cursor.execute(_RECORD, values)
            answered_no: int | None = cursor.fetchone()[0]
            return answered_no
    except DatabaseError:
        log.exception("exchange_not_recorded", endpoint=request.endpoint.value, ref_id=request.ref_id)
        return None


def _answer(request: Request[T], reply: Reply[T] | None, error: UpstreamError | None, wire: Wire | None) -> Json | None:
    """The answer to keep; its secrets are masked already."""
    raw = reply.raw if reply else error.raw if error else None
    if wire is None or wire.size == 0:
        return Json(raw) if raw else None
    if wire.size > _MOST_KEPT or (reply is not None and not request.ref_id):
        return Json({"bytes": wire.size, "sha256": wire.digest})
    return Json(raw or {"text": wire.text})


def forget_exchanges(*, before: dt.datetime, from_no: int, needed: Q) -> int:
    """Delete exchanges sent before this moment and this number, except those that match `needed`; returns how many.

    Balance readings stay. It goes through each endpoint once, in the order of time, by its index.
    """
    return sum(_forget(endpoint, before, from_no, needed) for endpoint in Endpoint)


def _forget(endpoint: Endpoint, before: dt.datetime, from_no: int, needed: Q) -> int:
    exchanges = Exchange.objects.past(before, from_no).filter(endpoint=endpoint).order_by("sent_at")
    if endpoint is Endpoint.BALANCE:
        exchanges = exchanges.errors()  # these stay, and are many
    after, forgotten = dt.datetime.min.replace(tzinfo=dt.UTC), 0
    # Needed exchanges stay, so the next batch begins after them.
    while rows := list(exchanges.filter(sent_at__gt=after).values_list("pk", "sent_at")[:BATCH]):
        after = rows[-1][1]
        old = Exchange.objects.filter(~needed, pk__in=[pk for pk, _at in rows])
        forgotten += old._raw_delete(connection.alias)  # nothing refers to them
    return forgotten
