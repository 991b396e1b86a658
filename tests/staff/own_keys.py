"""Passkeys of people in tests."""

from staff.models import User
from staff.services import passkeys
from tests.soft_key import SoftKey


def with_passkey(person: User) -> SoftKey:
    """A passkey that this person has added."""
    key, host = SoftKey(), "testserver"
    made = key.make(passkeys.ask_for_new(person, host=host)["publicKey"])
    passkeys.add_passkey(person, made, host=host, name="Key")
    return key
