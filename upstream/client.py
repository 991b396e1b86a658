"""The client of the upstream API: it sends one `Request` at a time.

Every call, in this order: refuse to run inside a database transaction; check address, credentials and fields; get a
permit of the rate budget; send once; read the answer strictly. It never sends anything twice: the caller decides what
to do after an error, and the kind of error (`upstream.errors`) says which step is safe. A call ends within the connect
timeout + the read timeout, even if the upstream answers slowly.

A call that only reads gets a permit itself; its `call_class` decides how long it waits for the permit. A call that
moves money needs a permit from `reserve`, so that an order's permit comes before its claim; the call always settles it.

Each method returns a `Reply` or raises `Rejected`, `Unavailable`, `OutcomeUnknown` or `Misconfigured`, and
`CallInsideTransaction` as a fault of the program.

Secrets and signatures are only in the bytes that are sent: if the upstream repeats them, they are masked before the
answer is read.
"""

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Generic, TypeVar

import structlog
from django.db import connections
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from core.measures import CALL_SECONDS
from upstream.budget import Budget, CallClass, Permit
from upstream.config import Config
from upstream.endpoints import Endpoint
from upstream.error_codes import ErrorCode
from upstream.errors import CallInsideTransaction, OutcomeUnknown, Rejected, Unavailable, UpstreamError, Wire
from upstream.messages import MAX_AMOUNT, REF_ID_PATTERN, Message
from upstream.replies import read_reply
from upstream.requests import Request, sign
from upstream.transport import HttpReply, Lost, NotSent, Transport

T = TypeVar("T", bound=Message)

log = structlog.get_logger(__name__)

# The number of characters that are kept of an answer that is not JSON.
_TEXT_KEPT = 2_000


@dataclass(frozen=True)
class Reply(Generic[T]):
    """A good answer: the checked `data`, and the whole response JSON (`raw`, to be stored).

    The upstream acted between `sent_at` and `received_at` (aware, UTC); `received_at` is never before `sent_at`.
    """

    data: T
    raw: dict[str, Any]
    sent_at: datetime
    received_at: datetime
    wire: Wire | None = None


class Client:
    """Talks to the upstream. Safe to share between threads; use `get_client()`."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.budget = Budget(config)
        self._transport = Transport(connect_timeout=config.connect_timeout, read_timeout=config.read_timeout)

    def reserve(self, endpoint: Endpoint, *, call_class: CallClass, patience: float = 0.0) -> Permit:
        """Get a permit for one call; use it within 15 seconds or cancel it.

        An interactive call waits up to `config.interactive_wait` seconds, a background one up to `patience`. Raises
        `Unavailable`.
        """
        wait = self.config.interactive_wait if call_class is CallClass.INTERACTIVE else patience
        return self.budget.reserve(endpoint, call_class, wait)

    @sensitive_variables()
    def send(self, request: Request[T], right: Permit | CallClass = CallClass.BACKGROUND) -> Reply[T]:
        """Make one call with this permit, or with a new one; settle the permit and log the outcome.

        A request that moves money needs a permit that its caller got before claiming the order.
        """
        endpoint, ref_id = request.endpoint, request.ref_id
        began = time.monotonic()
        outcome = kind = "fault"
        permit = right if isinstance(right, Permit) else None
        try:
            _refuse_inside_transaction()
            self.config.check()
            _check_fields(request.fields, ref_id)
            if isinstance(right, CallClass) and not endpoint.moves_money:
                permit = self.reserve(endpoint, call_class=right)
            if permit is None or not permit.start(endpoint):
                # The caller was frozen meanwhile: another process may have claimed the order.
                raise Unavailable("permit_expired")
            reply = self._exchange(request, permit)
            outcome = kind = "answer"
            return reply
        except UpstreamError as error:
            outcome, kind = error.label, type(error).__name__
            raise
        finally:
            if permit is not None and not permit.started:
                permit.cancel()
            CALL_SECONDS.labels(endpoint.value, kind).observe(time.monotonic() - began)
            milliseconds = round((time.monotonic() - began) * 1000)
            log.info("upstream call", endpoint=endpoint.value, ref_id=ref_id, outcome=outcome, ms=milliseconds)

    @sensitive_variables()
    def _exchange(self, request: Request[T], permit: Permit) -> Reply[T]:
        """Send the request with a started permit and read its answer."""
        endpoint, ref_id = request.endpoint, request.ref_id
        secret_id, secret_key = self.config.secret_id, self.config.secret_key
        signature = sign(secret_id=secret_id, secret_key=secret_key, ref_id=ref_id if endpoint.signs_ref_id else None)
        content = {"secret_id": secret_id, "signature": signature, "ref_id": ref_id, **request.fields}
        body = json.dumps({name: value for name, value in content.items() if value is not None}).encode()

        redact = _masking(signature, secret_key)
        sent_at, began = timezone.now(), time.monotonic()
        http_reply: HttpReply | UpstreamError
        try:
            http_reply = self._transport.post(
                self.config.base_url + endpoint.path,
                body,
                began_at=permit.began_at,
                max_bytes=endpoint.max_bytes,
                fresh_connection=endpoint.moves_money,
            )
        except NotSent:
            permit.cancel()
            http_reply = Unavailable("connect")
        except Lost as lost:  # its permit is not settled: the request counts until the longest life of a call is over
            http_reply = OutcomeUnknown(lost.reason)
            http_reply.wire = Wire(sent_at=sent_at, waited=permit.waited, latency=time.monotonic() - began)
        if isinstance(http_reply, UpstreamError):
            raise http_reply
        latency = time.monotonic() - began
        permit.complete(http_reply.written_at)
        answer = http_reply.body or b""
        wire = Wire(
            sent_at=sent_at,
            waited=permit.waited,
            latency=latency,
            http_status=http_reply.status,
            size=len(answer),
            digest=hashlib.sha256(answer).hexdigest() if answer else "",
        )

        retry_after = None
        if http_reply.status == 429:
            retry_after = _seconds(http_reply.retry_after, default=self.config.rate(endpoint.limits[0]).window)
            self.budget.block(retry_after, endpoint)
        try:
            data, raw = read_reply(
                http_status=http_reply.status,
                body=http_reply.body,
                model=request.message,
                ref_id=ref_id,
                retry_after=retry_after,
                redact=redact,
            )
        except UpstreamError as error:
            error.wire = wire if error.raw else replace(wire, text=_beginning(http_reply.body, redact))
            raise
        received_at = sent_at + timedelta(seconds=latency)
        return Reply(data=data, raw=raw, sent_at=sent_at, received_at=received_at, wire=wire)


def get_client() -> Client:
    """Return the client for the current settings; equal settings share one client. Raises `Misconfigured`."""
    return _client_for(Config.from_settings())


@lru_cache(maxsize=8)
def _client_for(config: Config) -> Client:
    return Client(config)


def _refuse_inside_transaction() -> None:
    """Raise `CallInsideTransaction`: a purchase cannot be rolled back, and a slow answer must not hold row locks.

    The transaction that Django's TestCase wraps around a test does not count, as with `atomic(durable=True)`.
    """
    for connection in connections.all(initialized_only=True):
        if connection.in_atomic_block and not all(
            getattr(block, "_from_testcase", False) for block in connection.atomic_blocks
        ):
            raise CallInsideTransaction(f"the upstream was called inside a transaction on {connection.alias!r}")


def _check_fields(fields: Mapping[str, str | int | None], ref_id: str | None) -> None:
    """Raise `Rejected`, as the upstream would, for a request that can never be valid, and send nothing."""
    fault = None
    if ref_id is not None and not re.fullmatch(REF_ID_PATTERN, ref_id):
        fault = "ref_id must be 1 to 64 of A-Z a-z 0-9 - _ ."
    for name, value in fields.items():
        if isinstance(value, str) and not (0 < len(value) <= 100 and value.isprintable()):
            fault = f"{name} must be 1 to 100 printable characters"
        elif isinstance(value, bool | float) or (isinstance(value, int) and not 0 <= value <= MAX_AMOUNT):
            fault = f"{name} must be whole rupiah"
    if fault is not None:
        raise Rejected(ErrorCode.INVALID_REQUEST, message=fault)


def _masking(*secrets: str) -> Callable[[str], str]:
    """Return a function that masks these secrets in a text; a key of a few letters is left, as words contain it too."""
    masked = [secret for secret in secrets if len(secret) >= 8]

    def mask(text: str) -> str:
        for secret in masked:
            text = text.replace(secret, "***")
        return text

    return mask


def _seconds(retry_after: str | None, *, default: float) -> float:
    """Read a Retry-After header in seconds; `default` if it is missing or not a plain number."""
    text = (retry_after or "").strip()
    return float(text) if re.fullmatch(r"[0-9]{1,6}", text) else default


def _beginning(body: bytes | None, redact: Callable[[str], str]) -> str:
    """The beginning of an answer, masked before it is cut."""
    return redact((body or b"")[: 64 * 1024].decode(errors="replace"))[:_TEXT_KEPT].replace("\x00", "�")
