"""The one door to the upstream: every request of ours is made, judged and recorded here."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import structlog
from django.db import connection
from django.utils import timezone

from core import clock
from core.publish import publish
from gateway.services.account import (
    configured_fingerprint,
    latest_reading,
    note_answer,
    note_refusal,
    note_unreachable,
)
from gateway.services.recording import record
from upstream import requests
from upstream.budget import CallClass, Permit
from upstream.client import get_client
from upstream.endpoints import Endpoint
from upstream.error_codes import ErrorCode
from upstream.errors import Misconfigured, OutcomeUnknown, Rejected, Unavailable, UpstreamError
from upstream.messages import Balance, Message
from upstream.requests import Request

log = structlog.get_logger()
T = TypeVar("T", bound=Message)

# While the upstream refuses our account, only this request is sent: its first answer lifts the stop.
_PROBE = Endpoint.BALANCE
# A background call without a permit, or a message whose permit is void, waits this long for one (seconds).
_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class RecordedReply(Generic[T]):
    """A good answer with its place in the order of everything: the upstream acted between the two numbers.

    `raw` is the whole response JSON, secrets masked.
    """

    data: T
    raw: dict[str, Any]
    sent_no: int
    answered_no: int


def next_number() -> int:
    """The next number of the one sequence that orders requests, answers and what we learn, on every machine.

    A higher number happened later, even if clocks differ.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence('gateway_exchange', 'id'))")
        return int(cursor.fetchone()[0])


def reserve(endpoint: Endpoint, *, call_class: CallClass, permit_id: str = "") -> Permit:
    """Get a permit of the rate budget before doing what only makes sense with one; use or cancel it within 15 seconds.

    `permit_id`: take over this one, which the dispatcher booked. Without, or when the message with it has waited for
    longer than a permit can be begun, another one is booked, for whom that one was, which takes a few seconds at most.
    Raises `Unavailable` or `Misconfigured`; nothing was sent then.
    """
    try:
        _refuse_if_stopped(endpoint)
    except (Unavailable, Misconfigured):
        give_back(permit_id)
        raise
    client = get_client()
    if permit_id:
        permit = client.budget.take_over(permit_id, endpoint)
        if client.budget.is_booked(permit):
            return permit
        # On a busy machine every message may wait so long: put back, the work would never go on.
        log.info("permit_was_void", endpoint=endpoint.value)
        return client.budget.reserve(endpoint, permit.call_class, _PATIENCE_SECONDS)
    return client.reserve(endpoint, call_class=call_class, patience=_PATIENCE_SECONDS)


def give_back(permit_id: str) -> None:
    """Give back a permit that the dispatcher booked for what turned out to be done already; "" for none."""
    if permit_id:
        # Every endpoint that work is handed out for has the same limits.
        get_client().budget.take_over(permit_id, Endpoint.TRANSACTION_STATUS).cancel()


def call(
    request: Request[T],
    *,
    call_class: CallClass = CallClass.BACKGROUND,
    permit: Permit | None = None,
    permit_id: str = "",
    sent_no: int | None = None,
    attempt: int = 1,
) -> RecordedReply[T]:
    """Make one request and record it. Raises the errors of `upstream.errors`; their kind says what is safe then.

    `permit_id`: the permit that the dispatcher booked for this call. `sent_no`: the number of this request, if it
    was taken before, with an order's claim. `attempt`: for the record, the how-many-th of its kind in a row.
    """
    if permit is None and not request.endpoint.moves_money:
        # Before the number: between the numbers of a reading no time is spent on waiting.
        permit = reserve(request.endpoint, call_class=call_class, permit_id=permit_id)
    elif permit is None:  # otherwise it was looked at just before, with the permit
        _refuse_if_stopped(request.endpoint)
    sent_no = sent_no or next_number()
    sent_at = timezone.now()
    try:
        reply = get_client().send(request, permit or call_class)
    except UpstreamError as error:
        _note_error(error)
        if not isinstance(error, Unavailable):
            record(request, sent_no=sent_no, sent_at=sent_at, attempt=attempt, error=error)
        raise
    answered_no = record(request, sent_no=sent_no, sent_at=reply.sent_at, attempt=attempt, reply=reply)
    if answered_no is None:
        note_answer()
        answered_no = next_number()
    return RecordedReply(data=reply.data, raw=reply.raw, sent_no=sent_no, answered_no=answered_no)


@dataclass(frozen=True)
class LimitUse:
    """How many of the `calls` that the upstream allows within `window` seconds count now.

    `opens_at`: no request is allowed before this moment, as in the first minute (docs/rate-budget.md); else None.
    """

    used: int
    calls: int
    window: float
    opens_at: dt.datetime | None = None


def limit_use() -> LimitUse | None:
    """How much of the account's limit is used now; None without Redis or settings that can be read."""
    try:
        client = get_client()
        rate = client.config.account_rate
        used, closed = client.budget.usage()
    except (Unavailable, Misconfigured):
        return None
    return LimitUse(used, rate.calls, rate.window, clock.now() + dt.timedelta(seconds=closed) if closed else None)


def first_request_at() -> dt.datetime | None:
    """When the first request of a new shop may go; None when there has been an answer, or it may go now."""
    use = None if latest_reading() else limit_use()
    return use.opens_at if use else None


def read_balance(*, call_class: CallClass = CallClass.BACKGROUND) -> RecordedReply[Balance]:
    """Ask the upstream for our balance. Raises as `call` does."""
    return call(requests.balance(), call_class=call_class)


def request_balance_reading() -> bool:
    """Have a worker read the balance soon; False when the broker is down (beat reads it every minute anyway)."""
    return publish("reconciliation.tasks.read_balance")


def _refuse_if_stopped(endpoint: Endpoint) -> None:
    """Send nothing to another account than this database's own, nothing but the probe while ours is refused.

    And nothing that spends from a restored database before a person has opened it.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT fingerprint, refused_since, is_held FROM gateway_upstreamaccount")
        fingerprint, refused_since, is_held = cursor.fetchone() or ("", None, False)
    if fingerprint and fingerprint != configured_fingerprint():
        raise Misconfigured(
            "This database belongs to another upstream account. Start with `./run`, which says what to do."
        )
    if (refused_since and endpoint is not _PROBE) or (is_held and endpoint.moves_money):
        raise Unavailable("stopped")


def _note_error(error: UpstreamError) -> None:
    match error:
        case Misconfigured():
            note_refusal(error)
        case Unavailable(reason="connect") | OutcomeUnknown(reason="timeout" | "connection"):
            note_unreachable()
        # The limit per IP is answered before anybody looks at the credentials; status 0 means that nothing was sent.
        case Rejected() if error.error_code != ErrorCode.RATE_LIMITED and error.http_status:
            note_answer()
