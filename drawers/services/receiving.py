"""The next person confirms a handover: nobody gets a short drawer while away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import pgettext_lazy

from audit.acts import act
from audit.services import record
from drawers.events import DRAWER_TAKEN_OVER, PASSWORD_REFUSED
from staff.errors import FactorRefused
from staff.services.own_factors import confirm_password
from tills.services import confirm_pin, find_till, has_pin, is_pin

if TYPE_CHECKING:
    from drawers.models import Shift
    from staff.models import User

TAKE_OVER = act("take_over_drawer", pgettext_lazy("audit", "Take over a drawer"))


def confirm_receiver(shift: Shift, person: User, secret: str, *, actor: User, till_token: str) -> None:
    """Raise `Refused` unless this is the password, or at a till the PIN, of the person who takes the drawer over.

    `actor`: the signed-in person. `till_token`: of the browser, or "". Guesses are counted: call it outside of any
    transaction that may roll back.
    """
    till = find_till(till_token)
    if till and is_pin(secret) and has_pin(person):
        confirm_pin(till, person_pk=person.pk, pin=secret, actor=actor)
        way = "pin"
    else:
        try:
            confirm_password(person, secret, counted_as=TAKE_OVER)
        except FactorRefused as refusal:
            facts = {"act": TAKE_OVER, "reason": refusal.reason}
            record(PASSWORD_REFUSED, actor=actor, subject=person.username, facts=facts)
            raise
        way = "password"
    facts = {"drawer": shift.drawer.name, "by": way}
    record(DRAWER_TAKEN_OVER, actor=person, subject=str(shift), facts=facts)
