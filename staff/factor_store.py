"""Stores second factors with encrypted secrets, so that a copy of the database opens no account."""

from allauth.mfa.adapter import DefaultMFAAdapter
from django.contrib.auth.models import AbstractBaseUser

from core.sealing import sealed, unsealed

# The purpose of these sealed texts: no other purpose opens them.
PURPOSE = "staff.factors"


class EncryptedFactors(DefaultMFAAdapter):  # type: ignore[misc]
    """allauth's adapter, with a key made of SECRET_KEY; SECRET_KEY_FALLBACKS still open what they sealed."""

    def get_totp_label(self, user: AbstractBaseUser) -> str:
        """The name that an authenticator app shows beside the shop's name."""
        return user.get_username()

    def encrypt(self, text: str) -> str:
        """The text as the database stores it."""
        return sealed(text, PURPOSE)

    def decrypt(self, encrypted_text: str) -> str:
        """The original text of `encrypt`."""
        return unsealed(encrypted_text, PURPOSE)
