"""The client of the upstream API: one method per endpoint.

Every call, in this order: refuse to run inside a database transaction; check address and credentials; get a permit of
the rate budget; send once; read the answer strictly. It never sends anything twice: what to do after an error is the
caller's decision, and the kind of error (`upstream.errors`) says what is safe. A call is over within the connect
timeout + the read timeout, however slowly the upstream talks.

Each method returns an `Answer` or raises `Rejected`, `Unavailable`, `OutcomeUnknown` or `Misconfigured`, and
`CallInsideTransaction` as a fault of the program. A `permit` handed in is settled by the call in every case; without
one the call reserves its own.

Secrets and signatures are in the bytes that are sent and nowhere else: should the upstream repeat them, they are masked
before the answer is looked at.
"""

import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Generic, TypeVar

import structlog
from django.db import connections
from django.views.decorators.debug import sensitive_variables

from upstream.answers import read_answer
from upstream.budget import Budget, CallClass, Permit
from upstream.config import Config, Rate
from upstream.endpoints import Endpoint, Limit
from upstream.errors import (
    CallInsideTransaction,
    ErrorCode,
    Misconfigured,
    OutcomeUnknown,
    Rejected,
    Unavailable,
    UpstreamError,
)
from upstream.messages import (
    MAX_AMOUNT,
    REF_ID_PATTERN,
    Balance,
    BillInquiry,
    Brands,
    Categories,
    Message,
    Products,
    Transaction,
)
from upstream.signing import sign
from upstream.transport import HttpAnswer, Lost, NotSent, Transport

__all__ = ["Answer", "CallClass", "Client", "Config", "Endpoint", "Limit", "Permit", "Rate", "get_client"]

T = TypeVar("T", bound=Message)

log = structlog.get_logger(__name__)

# A clock that is kept right by slewing strays less than this during the longest call; more means that it was set.
_CLOCK_STRAYS = timedelta(milliseconds=100)


@dataclass(frozen=True)
class Answer(Generic[T]):
    """A good answer: the checked `data`, and the whole response JSON as it came (`raw`, for storage).

    The upstream acted at some moment between `sent_at` and `received_at` (aware, UTC); `received_at` is never earlier,
    and says how long it took. `clock_was_set`: the wall clock was set meanwhile, so that neither can be compared with
    other moments.
    """

    data: T
    raw: dict[str, Any]
    sent_at: datetime
    received_at: datetime
    clock_was_set: bool = False


class Client:
    """Talks to the upstream. Safe to share between threads; use `get_client()`."""

    def __init__(self, config: Config) -> None:
        self.config = config
        self.budget = Budget(config)
        self._transport = Transport(connect_timeout=config.connect_timeout, read_timeout=config.read_timeout)

    def reserve(self, endpoint: Endpoint, *, call_class: CallClass) -> Permit:
        """Get a permit before doing the work that only makes sense with one; use it within 15 seconds or cancel it.

        Interactive waits up to `config.interactive_wait` seconds, background never. Raises `Unavailable`.
        """
        wait = self.config.interactive_wait if call_class is CallClass.INTERACTIVE else 0.0
        return self.budget.reserve(endpoint, call_class, wait)

    def balance(self, *, call_class: CallClass = CallClass.BACKGROUND, permit: Permit | None = None) -> Answer[Balance]:
        """Read the account's balance, in whole rupiah."""
        return self._call(Endpoint.BALANCE, {}, Balance, call_class, permit)

    def categories(
        self, *, call_class: CallClass = CallClass.BACKGROUND, permit: Permit | None = None
    ) -> Answer[Categories]:
        """Read all categories."""
        return self._call(Endpoint.CATEGORIES, {}, Categories, call_class, permit)

    def brands(
        self,
        category: str | None = None,
        *,
        call_class: CallClass = CallClass.BACKGROUND,
        permit: Permit | None = None,
    ) -> Answer[Brands]:
        """Read the brands, of all categories or one."""
        return self._call(Endpoint.BRANDS, {"category": category}, Brands, call_class, permit)

    def products(
        self,
        category: str | None = None,
        brand: str | None = None,
        type: str | None = None,  # noqa: A002
        *,
        call_class: CallClass = CallClass.BACKGROUND,
        permit: Permit | None = None,
    ) -> Answer[Products]:
        """Read the products, all or some (`type`: "prepaid" or "postpaid"). At most a few calls a minute: cache it."""
        fields = {"category": category, "brand": brand, "type": type}
        return self._call(Endpoint.PRODUCTS, fields, Products, call_class, permit)

    def create_transaction(
        self,
        *,
        ref_id: str,
        product_code: str,
        destination: str,
        max_price: int | None,
        call_class: CallClass = CallClass.INTERACTIVE,
        permit: Permit | None = None,
    ) -> Answer[Transaction]:
        """Buy. `max_price` (whole rupiah) makes the upstream refuse a higher price with PRICE_CHANGED.

        After `OutcomeUnknown` only `transaction_status` tells what happened; never call this again for that order.
        """
        fields = {"product_code": product_code, "destination": destination, "max_price": max_price}
        return self._call(Endpoint.TRANSACTION_CREATE, fields, Transaction, call_class, permit, ref_id=ref_id)

    def transaction_status(
        self, *, ref_id: str, call_class: CallClass = CallClass.BACKGROUND, permit: Permit | None = None
    ) -> Answer[Transaction]:
        """Ask what became of a purchase or a bill payment.

        A `Rejected` from here, whatever its `balance_untouched`, is about the question. It never says that the purchase
        failed; TRANSACTION_NOT_FOUND may only mean that the purchase is still on its way.
        """
        return self._call(Endpoint.TRANSACTION_STATUS, {}, Transaction, call_class, permit, ref_id=ref_id)

    def bill_inquiry(
        self,
        *,
        ref_id: str,
        product_code: str,
        destination: str,
        call_class: CallClass = CallClass.INTERACTIVE,
        permit: Permit | None = None,
    ) -> Answer[BillInquiry]:
        """Check a bill; asking again with the same arguments follows a pending inquiry."""
        fields = {"product_code": product_code, "destination": destination}
        return self._call(Endpoint.BILL_INQUIRY, fields, BillInquiry, call_class, permit, ref_id=ref_id)

    def bill_pay(
        self,
        *,
        ref_id: str,
        amount: int | None,
        call_class: CallClass = CallClass.INTERACTIVE,
        permit: Permit | None = None,
    ) -> Answer[Transaction]:
        """Pay the bill that was checked with this `ref_id`. `amount`: the inquiry's total in whole rupiah.

        The one money call that may be repeated, identically, after `OutcomeUnknown` (document, /v1/bill/pay 5).
        """
        return self._call(Endpoint.BILL_PAY, {"amount": amount}, Transaction, call_class, permit, ref_id=ref_id)

    @sensitive_variables()
    def _call(
        self,
        endpoint: Endpoint,
        fields: Mapping[str, str | int | None],
        model: type[T],
        call_class: CallClass,
        permit: Permit | None,
        *,
        ref_id: str | None = None,
    ) -> Answer[T]:
        """Make one call, settle its permit and log how it ended."""
        began = time.monotonic()
        outcome = "fault"
        try:
            _refuse_inside_transaction()
            self.config.check()
            _check_fields(fields, ref_id)
            if permit is None or not permit.start(endpoint):
                if permit is not None and endpoint.moves_money:
                    # Its caller was frozen since: the order may be somebody else's by now.
                    raise Unavailable("permit_expired")
                _give_back_unused(permit)
                permit = self.reserve(endpoint, call_class=call_class)
                permit.start(endpoint)
            answer = self._exchange(endpoint, fields, model, permit, ref_id)
            outcome = "answer"
            return answer
        except UpstreamError as error:
            outcome = _describe(error)
            raise
        finally:
            _give_back_unused(permit)
            milliseconds = round((time.monotonic() - began) * 1000)
            log.info("upstream call", endpoint=endpoint.value, ref_id=ref_id, outcome=outcome, ms=milliseconds)

    @sensitive_variables()
    def _exchange(
        self,
        endpoint: Endpoint,
        fields: Mapping[str, str | int | None],
        model: type[T],
        permit: Permit,
        ref_id: str | None,
    ) -> Answer[T]:
        """Send the request with a started permit and read its answer."""
        secret_id, secret_key = self.config.secret_id, self.config.secret_key
        signature = sign(secret_id=secret_id, secret_key=secret_key, ref_id=ref_id if endpoint.signs_ref_id else None)
        request = {"secret_id": secret_id, "signature": signature, "ref_id": ref_id, **fields}
        body = json.dumps({name: value for name, value in request.items() if value is not None}).encode()

        sent_at, began = datetime.now(UTC), time.monotonic()
        http_answer: HttpAnswer | UpstreamError
        try:
            http_answer = self._transport.post(
                self.config.base_url + endpoint.path,
                body,
                max_bytes=endpoint.max_bytes,
                fresh_connection=endpoint.moves_money,
            )
        except NotSent:
            permit.cancel()
            http_answer = Unavailable("connect")
        except Lost as lost:  # its permit is left alone: the request counts until the longest life of a call is over
            http_answer = OutcomeUnknown(lost.reason)
        if isinstance(http_answer, UpstreamError):
            raise http_answer
        received_at = sent_at + timedelta(seconds=time.monotonic() - began)
        clock_was_set = abs(datetime.now(UTC) - received_at) > _CLOCK_STRAYS
        permit.complete()

        retry_after = None
        if http_answer.status == 429:
            retry_after = _seconds(http_answer.retry_after, default=self.config.rate(endpoint.limits[0]).window)
            self.budget.block(retry_after, endpoint)
        data, raw = read_answer(
            http_status=http_answer.status,
            body=http_answer.body,
            model=model,
            ref_id=ref_id,
            retry_after=retry_after,
            redact=_masking(signature, secret_key),
        )
        return Answer(data=data, raw=raw, sent_at=sent_at, received_at=received_at, clock_was_set=clock_was_set)


def get_client() -> Client:
    """Return the client for the current settings, the same one while they stay the same. Raises `Misconfigured`."""
    return _client_for(Config.from_settings())


@lru_cache(maxsize=8)
def _client_for(config: Config) -> Client:
    return Client(config)


def _refuse_inside_transaction() -> None:
    """A purchase cannot be rolled back, and a slow answer must not hold row locks.

    The transaction that Django's TestCase wraps around a test does not count, as for `atomic(durable=True)`.
    """
    for connection in connections.all(initialized_only=True):
        if connection.in_atomic_block and not all(
            getattr(block, "_from_testcase", False) for block in connection.atomic_blocks
        ):
            raise CallInsideTransaction(f"the upstream was called inside a transaction on {connection.alias!r}")


def _give_back_unused(permit: Permit | None) -> None:
    if permit is not None and not permit.started:
        permit.cancel()


def _check_fields(fields: Mapping[str, str | int | None], ref_id: str | None) -> None:
    """Refuse, as the upstream would, what can never be a valid request; nothing is sent then."""
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
    """Return what masks these in a text; a key of a few letters, found in ordinary words too, is left alone."""
    pattern = re.compile("|".join(re.escape(secret) for secret in secrets if len(secret) >= 8))
    return lambda text: pattern.sub("***", text)


def _seconds(retry_after: str | None, *, default: float) -> float:
    """Read a Retry-After header in seconds; `default` for one that is missing or is no plain number."""
    text = (retry_after or "").strip()
    return float(text) if re.fullmatch(r"[0-9]{1,6}", text) else default


def _describe(error: UpstreamError) -> str:
    """One word or two for the log: the kind of error and what tells it apart, never the upstream's own text."""
    match error:
        case Rejected(error_code=code) | Misconfigured(error_code=ErrorCode() as code):
            return f"{type(error).__name__}: {code}"
        case Unavailable(reason=reason) | OutcomeUnknown(reason=reason) | Misconfigured(reason=reason):
            return f"{type(error).__name__}: {reason}"
    return type(error).__name__
