"""Text that the database keeps encrypted, so that a copy of the database alone shows nothing of it."""

import base64
import hashlib
from collections.abc import Iterable
from enum import Enum

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings


class Unreadable(Exception):
    """The text was sealed with another SECRET_KEY, which SECRET_KEY_FALLBACKS does not name."""


def sealed(text: str, purpose: str) -> str:
    """The text as the database keeps it. `purpose`: the use of the text; no other purpose opens it."""
    return _box(purpose).encrypt(text.encode()).decode()


def unsealed(kept: str, purpose: str) -> str:
    """The text that was sealed. Raises `Unreadable`."""
    try:
        return _box(purpose).decrypt(kept.encode()).decode()
    except InvalidToken as fault:
        raise Unreadable from fault


class Opens(Enum):
    """The kind of key that opens a sealed text."""

    PRESENT = "SECRET_KEY"
    FORMER = "SECRET_KEY_FALLBACKS"
    NONE = ""


def opened_by(kept: str, purpose: str) -> Opens:
    """The kind of key that opens this text."""
    for key, secrets in ((Opens.PRESENT, [settings.SECRET_KEY]), (Opens.FORMER, settings.SECRET_KEY_FALLBACKS)):
        try:
            if secrets:
                _box(purpose, secrets).decrypt(kept.encode())
                return key
        except InvalidToken:
            continue
    return Opens.NONE


def _box(purpose: str, secrets: Iterable[str] | None = None) -> MultiFernet:
    """Keys made of these secrets: as a rule SECRET_KEY, and SECRET_KEY_FALLBACKS, which still open older texts."""
    secrets = [str(secret) for secret in secrets or (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    digests = [hashlib.sha256(purpose.encode() + b"\0" + secret.encode()).digest() for secret in secrets]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
