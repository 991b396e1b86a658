"""Who sent this callback? Three ways to find out, chosen by the setting UPSTREAM_CALLBACK_VERIFIER.

To change how callbacks are signed, change or add a row of `VERIFIERS`; nothing else knows the formulas or the header.

- `hmac_sha256_body`: the header is the hex HMAC-SHA256 of the raw body. It covers the status, so such a callback may
  settle an order by itself.
- `md5_ref`: the header is the signature of our own requests. It does not cover the status, so the callback is a hint
  only.
- `none`: nothing is signed. Every callback passes and is a hint only.
"""

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass

from upstream.errors import Misconfigured
from upstream.signing import sign

HEADER = "X-Signature"


@dataclass(frozen=True)
class Verifier:
    """`expected` computes the header of a genuine callback (None: impossible); for `signs` see `signs()`."""

    expected: Callable[[str, str, bytes, str | None], str | None] | None
    signs: bool


def _hmac_sha256_body(secret_id: str, secret_key: str, body: bytes, ref_id: str | None) -> str | None:  # noqa: ARG001
    return hmac.new(secret_key.encode(), body, hashlib.sha256).hexdigest()


def _md5_ref(secret_id: str, secret_key: str, body: bytes, ref_id: str | None) -> str | None:  # noqa: ARG001
    return None if ref_id is None else sign(secret_id=secret_id, secret_key=secret_key, ref_id=ref_id)


VERIFIERS: dict[str, Verifier] = {
    "hmac_sha256_body": Verifier(_hmac_sha256_body, signs=True),
    "md5_ref": Verifier(_md5_ref, signs=False),
    "none": Verifier(None, signs=False),
}


def _verifier(name: str) -> Verifier:
    try:
        return VERIFIERS[name]
    except KeyError:
        raise Misconfigured(f"UPSTREAM_CALLBACK_VERIFIER is not one of {', '.join(VERIFIERS)}") from None


def signs(verifier: str) -> bool:
    """Whether a callback that passed this verifier may settle an order by itself; otherwise ask for the status first.

    Raises `Misconfigured` for an unknown verifier.
    """
    return _verifier(verifier).signs


def verify(
    *, verifier: str, secret_id: str, secret_key: str, body: bytes, header_signature: str, ref_id: str | None
) -> bool:
    """Whether `header_signature` (the value of `HEADER`, "" if absent) is genuine for this raw body or `ref_id`.

    Compares in constant time. Without a secret key nothing but verifier `none` passes: anybody could compute its HMAC.
    Raises `Misconfigured` for an unknown verifier.
    """
    chosen = _verifier(verifier)
    if chosen.expected is None:
        return True
    if not secret_key:
        return False
    expected = chosen.expected(secret_id, secret_key, body, ref_id)
    if expected is None:
        return False
    return hmac.compare_digest(expected.encode(), header_signature.strip().lower().encode(errors="replace"))
