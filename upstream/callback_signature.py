"""Verifies the sender of a callback, in one of three ways that the setting UPSTREAM_CALLBACK_VERIFIER chooses.

To change how callbacks are signed, change or add a row of `VERIFIERS`; no other code knows a formula or a header.

- `hmac_sha256_body`: the header is the hex HMAC-SHA256 of the raw body. It covers the status, so such a callback may
  settle an order by itself.
- `md5_ref`: the header is made like the signature of our own requests. It does not cover the status, so the callback
  is only a hint.
- `none`: nothing is signed. Every callback passes and is only a hint.
"""

import hashlib
import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from upstream.errors import Misconfigured
from upstream.requests import sign


@dataclass(frozen=True, kw_only=True)
class Incoming:
    """A received callback, with our credentials: everything that can go into a signature."""

    secret_id: str
    secret_key: str = field(repr=False)
    headers: Mapping[str, str]
    body: bytes
    ref_id: str | None


@dataclass(frozen=True)
class Verifier:
    """`expected` computes the signature of a genuine callback (None: impossible); for `signs` see `signs()`."""

    expected: Callable[[Incoming], str | None] | None
    signs: bool
    header: str = "X-Signature"


def _hmac_sha256_body(incoming: Incoming) -> str:
    return hmac.new(incoming.secret_key.encode(), incoming.body, hashlib.sha256).hexdigest()


def _md5_ref(incoming: Incoming) -> str | None:
    if incoming.ref_id is None:
        return None
    return sign(secret_id=incoming.secret_id, secret_key=incoming.secret_key, ref_id=incoming.ref_id)


VERIFIERS: dict[str, Verifier] = {
    "hmac_sha256_body": Verifier(_hmac_sha256_body, signs=True),
    "md5_ref": Verifier(_md5_ref, signs=False),
    "none": Verifier(None, signs=False),
}
# A callback's signature may equal that of our own requests, so it is never stored.
SIGNATURE_HEADERS = frozenset(verifier.header.lower() for verifier in VERIFIERS.values())


def _verifier(name: str) -> Verifier:
    try:
        return VERIFIERS[name]
    except KeyError:
        raise Misconfigured(f"UPSTREAM_CALLBACK_VERIFIER is not one of {', '.join(VERIFIERS)}") from None


def signs(verifier: str) -> bool:
    """Whether a callback that passed this verifier may settle an order alone; else the order must be polled first.

    Raises `Misconfigured` for an unknown verifier.
    """
    return _verifier(verifier).signs


def verify(verifier: str, incoming: Incoming) -> bool:
    """Whether the callback's signature is genuine.

    Compares in constant time. Without a secret key only the verifier `none` passes: anybody could compute an HMAC with
    an empty key. Raises `Misconfigured` for an unknown verifier.
    """
    chosen = _verifier(verifier)
    if chosen.expected is None:
        return True
    if not incoming.secret_key:
        return False
    expected = chosen.expected(incoming)
    if expected is None:
        return False
    given = incoming.headers.get(chosen.header, "").strip().lower()
    return hmac.compare_digest(expected.encode(), given.encode(errors="replace"))
