"""The signature that every request carries (document, Authentication)."""

import hashlib


def sign(*, secret_id: str, secret_key: str, ref_id: str | None = None) -> str:
    """Return the lower-case hex MD5 of `secret_id:secret_key:ref_id`, or of `secret_id:secret_key` without a `ref_id`.

    The upstream dictates MD5 (document, Authentication 3). The result is as good as a password for that `ref_id`:
    it must never be logged or stored.
    """
    parts = [secret_id, secret_key] if ref_id is None else [secret_id, secret_key, ref_id]
    return hashlib.md5(":".join(parts).encode(), usedforsecurity=False).hexdigest()
