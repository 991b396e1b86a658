"""Exchanges as the pages show them."""

import json
from collections.abc import Sequence
from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _, gettext_lazy, pgettext_lazy

from core.looks import LookChoices
from core.numbers import json_as_seen, numbers_in, text_as_seen
from gateway.models import Exchange
from upstream.endpoints import Endpoint
from upstream.error_codes import ErrorCode, meaning_of

# The text in place of a secret in a stored request.
MASKED = "***"
_CODES = {code.value for code in ErrorCode}
_ENDPOINTS = {endpoint.value for endpoint in Endpoint}

ENDPOINT_WORDS = {
    Endpoint.BALANCE: gettext_lazy("Balance"),
    Endpoint.CATEGORIES: gettext_lazy("Categories"),
    Endpoint.BRANDS: gettext_lazy("Brands"),
    Endpoint.PRODUCTS: gettext_lazy("Products"),
    Endpoint.TRANSACTION_CREATE: gettext_lazy("Purchase"),
    Endpoint.TRANSACTION_STATUS: gettext_lazy("Order status"),
    Endpoint.BILL_INQUIRY: gettext_lazy("Bill inquiry"),
    Endpoint.BILL_PAY: gettext_lazy("Bill payment"),
}


class ExchangeResult(LookChoices):
    """The outcome of a request of ours."""

    ANSWER = "answer", "circle-check", "good", pgettext_lazy("exchange", "Answered")
    REJECTED = "Rejected", "alert-triangle", "warn", pgettext_lazy("exchange", "Rejected")
    UNKNOWN = "OutcomeUnknown", "alert-triangle", "bad", pgettext_lazy("exchange", "No usable answer")
    REFUSED = "Misconfigured", "alert-triangle", "bad", pgettext_lazy("exchange", "Account refused")


def result_of(error: str) -> ExchangeResult:
    """The outcome, by the group of its error ("" for none)."""
    kind = error.partition(":")[0]
    return ExchangeResult(kind) if kind in ExchangeResult.values else ExchangeResult.ANSWER


def detail_of(error: str) -> str:
    """The code or the reason of an error, without its kind."""
    return error.partition(": ")[2]


def error_words(error: str) -> str:
    """The meaning of the upstream's code; "" for a reason of ours."""
    code = detail_of(error)
    return str(meaning_of(ErrorCode(code)).words) if code in _CODES else ""


def endpoint_words(endpoint: str) -> str:
    """The request, in words."""
    return str(ENDPOINT_WORDS[Endpoint(endpoint)]) if endpoint in _ENDPOINTS else endpoint


def milliseconds(duration: int | None) -> str:
    """A duration, e.g. "230 ms" or "5.2 s"."""
    if duration is None:
        return "–"
    return f"{duration} ms" if duration < 10_000 else f"{duration / 1000:.1f} s"


def numbers_of(exchange: Exchange, *known: str) -> list[str]:
    """The customers' numbers that request and answer may contain; `known`: those of its order or bill."""
    return sorted({*known, *numbers_in(exchange.request), *numbers_in(exchange.raw)})


def request_body(exchange: Exchange, numbers: Sequence[str]) -> str:
    """The request's body, formatted; credentials are masked, and `numbers` are masked for people who may not see them.

    "" when the body was not kept.
    """
    if exchange.request is None:
        return ""
    body: dict[str, Any] = {"secret_id": MASKED, "signature": MASKED}
    if exchange.ref_id:
        body["ref_id"] = exchange.ref_id
    path = f"POST {Endpoint(exchange.endpoint).path}\n" if exchange.endpoint in _ENDPOINTS else ""
    return path + _pretty(json_as_seen({**body, **exchange.request}, *numbers))


def answer_body(exchange: Exchange, numbers: Sequence[str]) -> str:
    """The answer, formatted, with `numbers` masked in the same way; "" when it was not kept."""
    if exchange.raw is None or is_short(exchange):
        return ""
    if exchange.raw.keys() == {"text"}:
        return text_as_seen(str(exchange.raw["text"]), *numbers)
    return _pretty(json_as_seen(exchange.raw, *numbers))


def is_short(exchange: Exchange) -> bool:
    """Whether only the size and the digest of its answer are stored."""
    return exchange.raw is not None and exchange.raw.keys() == {"bytes", "sha256"}


def error_cell(exchange: Exchange) -> SafeString | str:
    """The code or reason of an error, and its meaning; otherwise the status in the answer."""
    if not exchange.error:
        return exchange.status
    code, words = detail_of(exchange.error), error_words(exchange.error)
    return format_html('<span class="mono">{}</span>{}', code, format_html('<div class="sub">{}</div>', words))


def ordinal_words(exchange: Exchange) -> str:
    """ "request 3", from the second request on; else ""."""
    return _("request %(n)s") % {"n": exchange.attempt} if exchange.attempt > 1 else ""


def _pretty(body: Any) -> str:
    return json.dumps(body, indent=2, ensure_ascii=False)
