"""Who takes a drawer over says so: nobody is handed a short one while away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from audit.kinds import Kind
from audit.services import record
from staff.errors import FactorRefused
from staff.services.own_factors import confirm_password
from tills.services import confirm_pin, find_till, has_pin, is_pin

if TYPE_CHECKING:
    from django.http import HttpRequest

    from staff.models import User


def confirm_receiver(request: HttpRequest, person: User, secret: str) -> None:
    """Raise `Refused` unless this is the person's password, or at a till the PIN. Guesses are counted.

    Call it outside of any transaction that may roll back.
    """
    till = find_till(getattr(request, "till_token", ""))
    if till and is_pin(secret) and has_pin(person):
        confirm_pin(request, till, person_pk=person.pk, pin=secret)
        way = "pin"
    else:
        try:
            confirm_password(person, secret, counted_as="take_over_drawer")
        except FactorRefused as refusal:
            facts = {"act": "take_over_drawer", "reason": refusal.reason}
            record(Kind.FACTOR_FAILED, request=request, subject=person.username, facts=facts)
            raise
        way = "password"
    record(Kind.DRAWER_TAKEN_OVER, person=person, request=request, facts={"by": way})
