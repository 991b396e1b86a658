"""The ways in which a call to the upstream can fail, by the one question that matters: may it have been executed?

- `Rejected`: definitely refused. `balance_untouched` says whether *the request that got this answer* certainly charged
  nothing (a refused status request says nothing about its purchase).
- `Unavailable`: certainly not sent. It is safe to send the same later.
- `OutcomeUnknown`: perhaps sent. Only the status may be polled; nothing may be bought again.
- `Misconfigured`: the account or our settings are wrong. Every further call would end the same way: stop and alert.

No other exception leaves this room, except `CallInsideTransaction`, which is a fault of the program.
No message holds a secret or a signature.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from upstream.error_codes import ErrorCode, meaning_of


class CallInsideTransaction(RuntimeError):
    """The upstream was called while a database transaction was open: a rollback could not undo the purchase."""


@dataclass(frozen=True, kw_only=True)
class Wire:
    """The facts of one request on the wire; none of them holds a secret or a signature.

    `waited`: seconds that it waited for the rate budget. `latency`: seconds until the whole answer, or until we gave
    up. `http_status` is None and `size` 0 without an answer; `digest` is the SHA-256 (hex) of its bytes, "" when it was
    too long or encoded. `text`: the beginning of an answer that is not JSON.
    """

    sent_at: datetime
    waited: float
    latency: float
    http_status: int | None = None
    size: int = 0
    digest: str = ""
    text: str = ""


class UpstreamError(Exception):
    """The parent of the four kinds: the call gave no usable answer.

    `raw` is the whole response JSON, if any, with secrets masked; `wire` is None when nothing was sent.
    """

    raw: dict[str, Any] | None = None
    wire: Wire | None = None

    @property
    def label(self) -> str:
        """The kind of error and its code or reason, by which errors are grouped; never the upstream's own text."""
        detail = getattr(self, "error_code", None) or getattr(self, "reason", "")
        return f"{type(self).__name__}: {detail}"


class Rejected(UpstreamError):
    """The upstream definitely refused.

    `message` is the upstream's text for people. `http_status` is 0 when we refused the request before sending, because
    it can never be valid. `retry_after` is in seconds, only for RATE_LIMITED.
    """

    def __init__(
        self,
        error_code: ErrorCode,
        message: str = "",
        http_status: int = 0,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(error_code, message, http_status, retry_after)
        self.error_code = error_code
        self.message = message
        self.http_status = http_status
        self.retry_after = retry_after

    @property
    def balance_untouched(self) -> bool:
        """Whether the request that got this answer certainly charged nothing."""
        return meaning_of(self.error_code).balance_untouched

    def __str__(self) -> str:
        return f"{self.error_code}: {self.message}" if self.message else str(self.error_code)


class Unavailable(UpstreamError):
    """The request was certainly not sent.

    `reason`: "budget" (the rate budget has no room), "budget_unreachable" (Redis is down, so nobody knows whether there
    is room), "permit_expired", "connect" (no connection to the upstream) or "stopped" (it refuses our account, or this
    restored shop is not open yet). `retry_after`: try again after this many seconds.
    """

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason, retry_after)
        self.reason = reason
        self.retry_after = retry_after

    def __str__(self) -> str:
        return self.reason if self.retry_after is None else f"{self.reason}, again in {self.retry_after:.1f} s"


class OutcomeUnknown(UpstreamError):
    """The request may have been executed, and there is no answer that we can trust.

    `reason`: "timeout", "connection", "http_500" (or another 5xx), "malformed: …" or "unknown_code: …". With an unknown
    code, `said_code` and `said` are this code and the upstream's text for people.
    """

    def __init__(self, reason: str, *, said_code: str = "", said: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.said_code = said_code
        self.said = said


class Misconfigured(UpstreamError):
    """Credentials, signature, account or settings are wrong: stop sending and alert.

    `error_code` is the upstream's code, or None when our own settings are at fault and nothing was sent.
    """

    def __init__(self, reason: str, error_code: ErrorCode | None = None) -> None:
        super().__init__(reason, error_code)
        self.reason = reason
        self.error_code = error_code

    def __str__(self) -> str:
        return f"{self.error_code}: {self.reason}" if self.error_code else self.reason
