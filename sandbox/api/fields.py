"""Reads a request's body and its fields strictly. Every fault is an ApiError INVALID_REQUEST."""

import json
import re
from typing import Any, NoReturn

from sandbox.errors import ApiError, ErrorCode

REF_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
LARGEST_BODY = 64 * 1024
LARGEST_AMOUNT = 10**15


def invalid(message: str) -> ApiError:
    """INVALID_REQUEST with a message that says what is wrong."""
    return ApiError(ErrorCode.INVALID_REQUEST, message)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a key occurs twice")
    return members


def parse_body(body: bytes) -> dict[str, Any]:
    """The JSON object in `body`. Raises ApiError INVALID_REQUEST for anything else."""
    if len(body) > LARGEST_BODY:
        raise invalid("The body is too large.")
    try:
        parsed = json.loads(body.decode(), object_pairs_hook=_object, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as fault:
        raise invalid("The body is not valid JSON.") from fault
    if not isinstance(parsed, dict):
        raise invalid("The body is not a JSON object.")
    return parsed


def text(body: dict[str, Any], name: str, *, longest: int = 64) -> str:
    """A required text of 1 to `longest` printable characters."""
    value = body.get(name)
    if not isinstance(value, str) or not value or len(value) > longest or not value.isprintable():
        raise invalid(f"{name} is required: text of 1 to {longest} characters.")
    return value


def optional_text(body: dict[str, Any], name: str) -> str | None:
    """A text that may be absent or null."""
    return None if body.get(name) is None else text(body, name)


def optional_rupiah(body: dict[str, Any], name: str) -> int | None:
    """A whole number of rupiah that may be absent or null; never true, 1.0 or "1"."""
    value = body.get(name)
    if value is None:
        return None
    if type(value) is not int or not 0 <= value <= LARGEST_AMOUNT:
        raise invalid(f"{name} must be a whole number of rupiah.")
    return value


def ref_id(body: dict[str, Any]) -> str:
    """The required ref_id: 1 to 64 of letters, digits and - _ ."""
    value = text(body, "ref_id")
    if not REF_ID.fullmatch(value):
        raise invalid("ref_id must be 1 to 64 characters of A-Z a-z 0-9 - _ .")
    return value
