"""How second factors are kept: their secrets are encrypted, so that a copy of the database opens no account."""

from __future__ import annotations

import base64
import hashlib

from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet, MultiFernet
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser


class EncryptedFactors(DefaultMFAAdapter):  # type: ignore[misc]
    """allauth's adapter, with a key made of SECRET_KEY; SECRET_KEY_FALLBACKS still open what they closed."""

    def get_totp_label(self, user: AbstractBaseUser) -> str:
        """The name that an authenticator app shows beside the shop's name."""
        return user.get_username()

    def encrypt(self, text: str) -> str:
        """The text as the database keeps it."""
        return _box().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """The text again."""
        return _box().decrypt(encrypted_text.encode()).decode()


def _box() -> MultiFernet:
    secrets = [str(secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)]
    digests = [hashlib.sha256(b"staff.factors\0" + secret.encode()).digest() for secret in secrets]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
