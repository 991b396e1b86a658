"""Passkeys of people in tests."""

from django.test import RequestFactory

from staff.models import User
from staff.services import passkeys
from tests.soft_key import SoftKey


def with_passkey(person: User) -> SoftKey:
    """A key that this person has added."""
    key, request = SoftKey(), RequestFactory().post("/")
    passkeys.add_passkey(request, person, key.make(passkeys.ask_for_new(request, person)["publicKey"]), name="Key")
    return key
