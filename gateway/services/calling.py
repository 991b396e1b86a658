"""The one door to the upstream: makes, judges and records every request of ours."""

import datetime as dt
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import structlog
from django.db import connection
from django.utils import timezone

from core import clock
from core.publish import publish
from gateway.services.account import (
    DENIED,
    configured_fingerprint,
    latest_reading,
    note_answer,
    note_busy,
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

# While the upstream refuses our account, only this request is sent; its first answer lifts the stop.
_PROBE = Endpoint.BALANCE
# The ref_id of a status request that asks only whether our account is accepted: no order has it.
_NO_ORDER = "ACCOUNT-CHECK"
# Seconds for which a background call without a permit, or with a void one, waits for a permit.
_PATIENCE_SECONDS = 5.0


@dataclass(frozen=True, kw_only=True)
class RecordedReply(Generic[T]):
    """A good answer with its place in the one order of everything: the upstream acted between the two numbers.

    `raw` is the whole response JSON, secrets masked.
    """

    data: T
    raw: dict[str, Any]
    sent_no: int
    answered_no: int


def next_number() -> int:
    """The next number of the one sequence that orders requests, answers and reports, on every machine.

    An event with a higher number happened later, even if clocks differ.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence('gateway_exchange', 'id'))")
        return int(cursor.fetchone()[0])


def reserve(endpoint: Endpoint, *, call_class: CallClass, permit_id: str = "", is_probe: bool = False) -> Permit:
    """Get a permit of the rate budget before work that needs one; use or cancel it within 15 seconds.

    `permit_id`: take over this permit, which the dispatcher booked. Without one, or if it became void while its message
    waited, another one of the same class is booked, which takes a few seconds at most. `is_probe`: also while the
    upstream refuses our account. Raises `Unavailable` or `Misconfigured`; nothing was sent then.
    """
    try:
        _refuse_if_stopped(endpoint, is_probe=is_probe)
    except (Unavailable, Misconfigured):
        give_back(permit_id)
        raise
    client = get_client()
    if permit_id:
        permit = client.budget.take_over(permit_id, endpoint)
        if client.budget.is_booked(permit):
            return permit
        # On a busy machine every message may wait this long: work that is put back would never be done.
        log.info("permit_was_void", endpoint=endpoint.value)
        return client.budget.reserve(endpoint, permit.call_class, _PATIENCE_SECONDS)
    return client.reserve(endpoint, call_class=call_class, patience=_PATIENCE_SECONDS)


def give_back(permit_id: str) -> None:
    """Give back a permit ("" for none) that the dispatcher booked for work that is already done."""
    if permit_id:
        # All endpoints of handed-out work have the same limits.
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
    """Make one request and record it. Raises the errors of `upstream.errors`; their kind says which step is safe.

    `permit_id`: the permit that the dispatcher booked for this call. `sent_no`: the number of this request, if an
    order's claim took it before. `attempt`: the ordinal of this request among those of its kind, for the record.
    """
    if permit is None and not request.endpoint.moves_money:
        # Before the number, so that no waiting comes between the two numbers of a reading.
        permit = reserve(request.endpoint, call_class=call_class, permit_id=permit_id)
    elif permit is None:  # otherwise `reserve` has just checked it
        _refuse_if_stopped(request.endpoint)
    sent_no = sent_no or next_number()
    sent_at = timezone.now()
    try:
        reply = get_client().send(request, permit or call_class)
    except UpstreamError as error:
        _note_error(error, request.endpoint)
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
    """The use of a limit: how many of the `calls` that the upstream allows in `window` seconds count now.

    `opens_at`: no request is allowed before this moment, as in the first minute (docs/rate-budget.md), or None.
    """

    used: int
    calls: int
    window: float
    opens_at: dt.datetime | None = None


def limit_use() -> LimitUse | None:
    """The present use of the account's limit; None without Redis, or with settings that cannot be read."""
    try:
        client = get_client()
        rate = client.config.account_rate
        used, closed = client.budget.usage()
    except (Unavailable, Misconfigured):
        return None
    return LimitUse(used, rate.calls, rate.window, clock.now() + dt.timedelta(seconds=closed) if closed else None)


def first_request_at() -> dt.datetime | None:
    """The time of a new shop's first request; None if it may be sent now, or a balance was read before."""
    use = None if latest_reading() else limit_use()
    return use.opens_at if use else None


def read_balance(*, call_class: CallClass = CallClass.BACKGROUND) -> RecordedReply[Balance]:
    """Ask the upstream for our balance. Raises the same as `call`.

    If the upstream denies it with a code that we do not know, a status request shows whether it denies only the balance
    or refuses our account; then sending stops.
    """
    try:
        return call(requests.balance(), call_class=call_class)
    except OutcomeUnknown as error:
        if _is_denied(error) and _refuses_us():
            note_refusal(error.said_code)
        raise


def _refuses_us() -> bool:
    """Whether the upstream denies a status request of ours, too.

    An answer about the order, which it does not know, shows that it accepts our account, and lifts a stop. Without an
    answer nobody knows, and nothing changes. The request goes before background work, which could fill the minute.
    """
    request = requests.transaction_status(ref_id=_NO_ORDER)
    try:
        permit = reserve(request.endpoint, call_class=CallClass.INTERACTIVE, is_probe=True)
        call(request, call_class=CallClass.INTERACTIVE, permit=permit)
    except OutcomeUnknown as error:
        return _is_denied(error)
    except UpstreamError:
        return False  # a code of the document that refuses our account has stopped the sending already
    return False


def request_balance_reading() -> bool:
    """Let a worker read the balance soon; False when the broker is down (beat reads it every minute anyway)."""
    return publish("reconciliation.tasks.read_balance")


def _refuse_if_stopped(endpoint: Endpoint, *, is_probe: bool = False) -> None:
    """Raise `Misconfigured` if this database belongs to another account, or `Unavailable` ("stopped").

    While our account is refused, only the probe may be sent. A restored database sends nothing that spends until a
    person opens it.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT fingerprint, refused_since, is_held FROM gateway_upstreamaccount")
        fingerprint, refused_since, is_held = cursor.fetchone() or ("", None, False)
    if fingerprint and fingerprint != configured_fingerprint():
        raise Misconfigured(
            "This database belongs to another upstream account. Start with `./run`, which says what to do."
        )
    if (refused_since and not is_probe and endpoint is not _PROBE) or (is_held and endpoint.moves_money):
        raise Unavailable("stopped")


def _is_denied(error: OutcomeUnknown) -> bool:
    """Whether the upstream denied it with a code that the document does not name."""
    return bool(error.said_code and error.wire and error.wire.http_status in DENIED)


def _note_error(error: UpstreamError, endpoint: Endpoint) -> None:
    match error:
        case Misconfigured():
            note_refusal(error.error_code or "NOT_CONFIGURED")
        case Unavailable(reason="connect") | OutcomeUnknown(reason="timeout" | "connection"):
            note_unreachable()
        # The document names no code for a refused account: `read_balance` finds out whether it is.
        case OutcomeUnknown() if endpoint is _PROBE and _is_denied(error):
            pass
        # An error page in place of the balance. In place of an order it may be the fault of this order alone.
        case OutcomeUnknown() if endpoint is _PROBE:
            note_unreachable()
        # The upstream checks the limit per IP before the credentials.
        case Rejected(error_code=ErrorCode.RATE_LIMITED):
            note_busy()
        case Rejected() if error.http_status:  # 0 means that nothing was sent
            note_answer()
