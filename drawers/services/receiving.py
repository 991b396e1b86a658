"""Who takes a drawer over says so: nobody is handed a short one while away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import pgettext_lazy

from audit.acts import act
from audit.kinds import Kind
from audit.services import record
from staff.errors import FactorRefused
from staff.services.own_factors import confirm_password
from tills.services import confirm_pin, find_till, has_pin, is_pin

if TYPE_CHECKING:
    from django.http import HttpRequest

    from drawers.models import Shift
    from staff.models import User

TAKE_OVER = act("take_over_drawer", pgettext_lazy("audit", "Take over a drawer"))


def confirm_receiver(request: HttpRequest, shift: Shift, person: User, secret: str) -> None:
    """Raise `Refused` unless this is the password, or at a till the PIN, of who takes the shift's drawer over.

    Guesses are counted.

    Call it outside of any transaction that may roll back.
    """
    till = find_till(getattr(request, "till_token", ""))
    if till and is_pin(secret) and has_pin(person):
        confirm_pin(request, till, person_pk=person.pk, pin=secret)
        way = "pin"
    else:
        try:
            confirm_password(person, secret, counted_as=TAKE_OVER)
        except FactorRefused as refusal:
            facts = {"act": TAKE_OVER, "reason": refusal.reason}
            record(Kind.PASSWORD_REFUSED, request=request, subject=person.username, facts=facts)
            raise
        way = "password"
    facts = {"drawer": shift.drawer.name, "by": way}
    record(Kind.DRAWER_TAKEN_OVER, person=person, request=request, subject=str(shift), facts=facts)
