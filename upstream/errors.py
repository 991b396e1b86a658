"""Everything that may go wrong with a call to the upstream, sorted by the only question that matters for money.

Was the request perhaps carried out?

- `Rejected`: it was answered with a definite no. `balance_untouched` says whether the account is certain to be
  uncharged *by the request that got this answer* (a refused status check says nothing about the purchase it asked
  about).
- `Unavailable`: it was certainly not sent. Sending the same thing later is safe.
- `OutcomeUnknown`: it may have been sent. Only the status endpoint may be asked, nothing may be bought again.
- `Misconfigured`: the account or our settings are wrong. Every further call would end the same way: stop and alert.

No other exception leaves this room, except `CallInsideTransaction`, which is a fault of the program.
No message in here ever holds a secret or a signature.
"""

from dataclasses import dataclass
from enum import StrEnum


class ErrorCode(StrEnum):
    """The error codes of the upstream, as they appear in `error_code`."""

    INVALID_REQUEST = "INVALID_REQUEST"
    INVALID_CREDENTIALS = "INVALID_CREDENTIALS"
    INVALID_SIGNATURE = "INVALID_SIGNATURE"
    INSUFFICIENT_BALANCE = "INSUFFICIENT_BALANCE"
    API_INACTIVE = "API_INACTIVE"
    ACCOUNT_NOT_VERIFIED = "ACCOUNT_NOT_VERIFIED"
    IP_NOT_ALLOWED = "IP_NOT_ALLOWED"
    PRODUCT_NOT_FOUND = "PRODUCT_NOT_FOUND"
    TRANSACTION_NOT_FOUND = "TRANSACTION_NOT_FOUND"
    BILL_NOT_FOUND = "BILL_NOT_FOUND"
    DUPLICATE_REF_ID = "DUPLICATE_REF_ID"
    AMOUNT_MISMATCH = "AMOUNT_MISMATCH"
    INQUIRY_PENDING = "INQUIRY_PENDING"
    PRICE_CHANGED = "PRICE_CHANGED"
    INQUIRY_EXPIRED = "INQUIRY_EXPIRED"
    INVALID_DESTINATION = "INVALID_DESTINATION"
    BILL_NOT_AVAILABLE = "BILL_NOT_AVAILABLE"
    BILL_ALREADY_PAID = "BILL_ALREADY_PAID"
    RATE_LIMITED = "RATE_LIMITED"
    PRODUCT_UNAVAILABLE = "PRODUCT_UNAVAILABLE"
    CUT_OFF = "CUT_OFF"


class Kind(StrEnum):
    """How an error code of the upstream leaves this room."""

    REJECTED = "rejected"
    MISCONFIGURED = "misconfigured"


@dataclass(frozen=True)
class Meaning:
    """What one error code means for the caller.

    `may_be_503` marks the two codes that the upstream sends with HTTP 503; any other code needs a 4xx to be believed.
    """

    balance_untouched: bool
    kind: Kind
    may_be_503: bool = False


_NO = Meaning(balance_untouched=True, kind=Kind.REJECTED)
_NO_FOR_NOW = Meaning(balance_untouched=True, kind=Kind.REJECTED, may_be_503=True)
_ASK_FOR_STATUS = Meaning(balance_untouched=False, kind=Kind.REJECTED)
_STOP = Meaning(balance_untouched=True, kind=Kind.MISCONFIGURED)

MEANINGS: dict[ErrorCode, Meaning] = {
    ErrorCode.INVALID_REQUEST: _NO,
    ErrorCode.INVALID_CREDENTIALS: _STOP,
    ErrorCode.INVALID_SIGNATURE: _STOP,
    ErrorCode.INSUFFICIENT_BALANCE: _NO,
    ErrorCode.API_INACTIVE: _STOP,
    ErrorCode.ACCOUNT_NOT_VERIFIED: _STOP,
    ErrorCode.IP_NOT_ALLOWED: _STOP,
    ErrorCode.PRODUCT_NOT_FOUND: _NO,
    ErrorCode.TRANSACTION_NOT_FOUND: _ASK_FOR_STATUS,
    ErrorCode.BILL_NOT_FOUND: _NO,
    ErrorCode.DUPLICATE_REF_ID: _ASK_FOR_STATUS,
    ErrorCode.AMOUNT_MISMATCH: _NO,
    ErrorCode.INQUIRY_PENDING: _NO,
    ErrorCode.PRICE_CHANGED: _NO,
    ErrorCode.INQUIRY_EXPIRED: _NO,
    ErrorCode.INVALID_DESTINATION: _NO,
    ErrorCode.BILL_NOT_AVAILABLE: _NO,
    ErrorCode.BILL_ALREADY_PAID: _NO,
    ErrorCode.RATE_LIMITED: _NO,
    ErrorCode.PRODUCT_UNAVAILABLE: _NO_FOR_NOW,
    ErrorCode.CUT_OFF: _NO_FOR_NOW,
}


class CallInsideTransaction(RuntimeError):
    """The upstream was called while a database transaction was open: a rollback could not undo the purchase."""


class UpstreamError(Exception):
    """The parent of the four kinds; catching it means "the call gave no answer to use"."""


class Rejected(UpstreamError):
    """The upstream gave a definite no.

    `balance_untouched` defaults to what `MEANINGS` says about the code. `message` is the upstream's text for people.
    `http_status` is 0 when the request was refused here, before sending, because it could never have been valid.
    `retry_after` is in seconds, set for RATE_LIMITED only.
    """

    def __init__(
        self,
        error_code: ErrorCode,
        balance_untouched: bool | None = None,
        message: str = "",
        http_status: int = 0,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(error_code, balance_untouched, message, http_status, retry_after)
        self.error_code = error_code
        self.balance_untouched = (
            MEANINGS[error_code].balance_untouched if balance_untouched is None else balance_untouched
        )
        self.message = message
        self.http_status = http_status
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.error_code}: {self.message}" if self.message else str(self.error_code)


class Unavailable(UpstreamError):
    """The request was certainly not sent.

    `reason`: "budget" (the rate budget has no room), "budget_unreachable" (Redis is down, so nobody can say whether
    there is room) or "connect" (no connection to the upstream). `retry_after`: seconds until it is worth asking
    again.
    """

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason, retry_after)
        self.reason = reason
        self.retry_after = retry_after

    def __str__(self) -> str:
        return self.reason if self.retry_after is None else f"{self.reason}, again in {self.retry_after:.1f} s"


class OutcomeUnknown(UpstreamError):
    """The request may have been carried out and there is no answer to trust.

    `reason`: "timeout", "connection", "http_500" (or another 5xx), "malformed: …" or "unknown_code: …".
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Misconfigured(UpstreamError):
    """Credentials, signature, account or settings are wrong: stop sending and tell somebody.

    `error_code` is the upstream's verdict, or None when our own settings are at fault and nothing was sent.
    """

    def __init__(self, reason: str, error_code: ErrorCode | None = None) -> None:
        super().__init__(reason, error_code)
        self.reason = reason
        self.error_code = error_code

    def __str__(self) -> str:
        return f"{self.error_code}: {self.reason}" if self.error_code else self.reason
