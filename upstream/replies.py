"""Turns the bytes of an answer into a message or one of the errors. Pure: no network, no clock.

An answer is believed only if all its parts agree: a strict JSON envelope whose `code` is the HTTP status, and either
HTTP 200 with data of the endpoint's shape and the request's `ref_id`, or a 4xx with a known error code (or a 503 with a
code that may come with it). Everything else is `OutcomeUnknown`, never a success and never a failure.
"""

import re
from collections.abc import Callable
from typing import Any, Literal, TypeVar

from pydantic import ValidationError

from upstream.error_codes import ErrorCode, Next, meaning_of
from upstream.errors import Misconfigured, OutcomeUnknown, Rejected, UpstreamError
from upstream.messages import Message, Rupiah, Words
from upstream.strict_json import NotStrictJson, loads

T = TypeVar("T", bound=Message)


class _Envelope(Message):
    code: Rupiah
    message: Words = ""


class _Success(_Envelope):
    status: Literal["success"]
    data: dict[str, Any]


class _Error(_Envelope):
    status: Literal["error"]
    error_code: str


def read_reply(
    *,
    http_status: int,
    body: bytes | None,
    model: type[T],
    ref_id: str | None,
    retry_after: float | None = None,
    redact: Callable[[str], str] = lambda text: text,
) -> tuple[T, dict[str, Any]]:
    """Return the message and the whole response as parsed.

    `body` is None when it was too long or encoded; `ref_id` is None when the endpoint has none. `retry_after` (seconds)
    goes into a `Rejected` for RATE_LIMITED. `redact` is applied to every text of the response first. Raises `Rejected`,
    `Misconfigured` or `OutcomeUnknown`.
    """
    raw, fault = _parsed(body, redact)
    try:
        if http_status >= 500 and http_status != 503:
            raise OutcomeUnknown(f"http_{http_status}")
        if http_status < 400 and http_status != 200:
            raise OutcomeUnknown(f"malformed: http_{http_status}")
        if fault:
            raise OutcomeUnknown("http_503" if http_status == 503 else f"malformed: {fault}")
        if http_status == 200:
            return _read_success(raw, model, ref_id), raw
        raise _read_error(raw, http_status, retry_after)
    except UpstreamError as error:
        error.raw = raw if isinstance(raw, dict) else None  # for people who investigate it
        raise


def _parsed(body: bytes | None, redact: Callable[[str], str]) -> tuple[Any, str]:
    """The response with secrets masked and "", or None and the reason why it cannot be read."""
    if body is None:
        return None, "too long or encoded"
    try:
        return _redacted(loads(body), redact), ""
    except NotStrictJson as fault:
        return None, str(fault)


def _read_success(raw: Any, model: type[T], ref_id: str | None) -> T:
    envelope = _validated(_Success, raw, "envelope")
    if envelope.code != 200:
        raise OutcomeUnknown("malformed: code")
    message = _validated(model, envelope.data, "data")
    if ref_id is not None and getattr(message, "ref_id", None) != ref_id:
        raise OutcomeUnknown("malformed: ref_id")
    return message


def _read_error(raw: Any, http_status: int, retry_after: float | None) -> UpstreamError:
    try:
        envelope = _validated(_Error, raw, "envelope")
        error_code = _known(envelope)
    except OutcomeUnknown as unknown:
        return OutcomeUnknown("http_503") if http_status == 503 else unknown
    meaning = meaning_of(error_code)
    if http_status == 503 and not meaning.may_be_503:
        return OutcomeUnknown("http_503")
    if envelope.code != http_status:
        return OutcomeUnknown("malformed: code")
    if meaning.next is Next.STOP:
        return Misconfigured(envelope.message, error_code)
    return Rejected(
        error_code,
        message=envelope.message,
        http_status=http_status,
        retry_after=retry_after if error_code is ErrorCode.RATE_LIMITED else None,
    )


def _known(envelope: _Error) -> ErrorCode:
    try:
        return ErrorCode(envelope.error_code)
    except ValueError:
        printable = re.fullmatch(r"[A-Z0-9_]{1,64}", envelope.error_code)
    code = envelope.error_code if printable else "?"
    raise OutcomeUnknown(f"unknown_code: {code}", said_code=code, said=envelope.message)


def _validated(model: type[T], raw: Any, part: str) -> T:
    """Validate, and on failure name the first field at fault, without its value."""
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        where = ".".join(str(step) for step in error.errors(include_input=False, include_url=False)[0]["loc"][:4])
    raise OutcomeUnknown(f"malformed: {where or part}"[:120])


def _redacted(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [_redacted(item, redact) for item in value]
    if isinstance(value, dict):
        return {redact(key): _redacted(item, redact) for key, item in value.items()}
    return value
