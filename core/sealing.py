"""Text that the database keeps encrypted, so that a copy of the database alone shows nothing of it."""

from __future__ import annotations

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class Unreadable(Exception):
    """The text was sealed with another SECRET_KEY, which SECRET_KEY_FALLBACKS does not name."""


def sealed(text: str, purpose: str) -> str:
    """The text as the database keeps it. `purpose`: whose text it is; nothing else opens it."""
    return _box(purpose).encrypt(text.encode()).decode()


def unsealed(kept: str, purpose: str) -> str:
    """The text again. Raises `Unreadable`."""
    try:
        return _box(purpose).decrypt(kept.encode()).decode()
    except InvalidToken as fault:
        raise Unreadable from fault


def _box(purpose: str) -> MultiFernet:
    """Keys made of SECRET_KEY, and of SECRET_KEY_FALLBACKS, which still open what they closed."""
    secrets = [str(secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    digests = [hashlib.sha256(purpose.encode() + b"\0" + secret.encode()).digest() for secret in secrets]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
