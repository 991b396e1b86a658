"""A JSON parser for money: it refuses text that two parsers could read differently.

It refuses duplicate keys (the last one would silently win), NaN and infinities, NUL and lone surrogates in strings
(PostgreSQL cannot store them), very long numbers, deep nesting, and anything that is not UTF-8.
"""

import json
import math
from typing import Any, NoReturn

MAX_DEPTH = 32
_MAX_DIGITS = 64  # an SN may be a number: the code of a power token has 20 digits


class NotStrictJson(ValueError):
    """The bytes are not JSON in the strict sense of this module; the message says which rule was broken."""


def loads(body: bytes) -> Any:
    """Parse `body`; raise `NotStrictJson` for anything ambiguous or unstorable.

    Finite numbers with a fraction or an exponent become `float`, which the message schemas refuse for money. In a field
    that we do not know they cost no message.
    """
    try:
        value = json.loads(
            body.decode("utf-8"),
            object_pairs_hook=_unique_keys,
            parse_int=_bounded_int,
            parse_float=_finite_float,
            parse_constant=_no_constant,
        )
    except NotStrictJson:
        raise
    except RecursionError:
        raise NotStrictJson("nested too deep") from None
    except UnicodeDecodeError:
        raise NotStrictJson("not UTF-8") from None
    except ValueError:
        raise NotStrictJson("not JSON") from None
    _check(value, depth=0)
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise NotStrictJson("duplicate key")
    return result


def _bounded_int(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise NotStrictJson("number too long")
    return int(digits)


def _finite_float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise NotStrictJson("number too large")
    return value


def _no_constant(name: str) -> NoReturn:
    raise NotStrictJson(f"{name} is not JSON")


def _check(value: object, *, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise NotStrictJson("nested too deep")
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_text(key)
            _check(item, depth=depth + 1)
    elif isinstance(value, list):
        for item in value:
            _check(item, depth=depth + 1)


def _check_text(text: str) -> None:
    if "\x00" in text:
        raise NotStrictJson("NUL in a string")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise NotStrictJson("lone surrogate in a string")
