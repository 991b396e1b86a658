"""A second person beside the signed-in one proves who they are: by PIN at a till, by password elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from audit.services import record
from staff.errors import FactorRefused
from staff.services.own_factors import confirm_password
from tills.events import PASSWORD_REFUSED
from tills.services.enrolling import find_till
from tills.services.pins import has_pin, is_pin
from tills.services.sessions import confirm_pin

if TYPE_CHECKING:
    from staff.models import User


def confirm_in_person(person: User, secret: str, *, act: str, actor: User, till_token: str) -> str:
    """How this person was recognised: "pin" or "password". Raises `Refused` when the secret is neither.

    `actor`: the signed-in person. `till_token`: of the browser, or "". Guesses are counted by `act`: call it outside of
    any transaction that may roll back.
    """
    till = find_till(till_token)
    if till and is_pin(secret) and has_pin(person):
        confirm_pin(till, person_pk=person.pk, pin=secret, actor=actor)
        return "pin"
    try:
        confirm_password(person, secret, counted_as=act)
    except FactorRefused as refusal:
        record(PASSWORD_REFUSED, actor=actor, subject=person.username, facts={"act": act, "reason": refusal.reason})
        raise
    return "password"
