"""The next person confirms a handover: nobody gets a short drawer while away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import pgettext_lazy

from audit.acts import act
from tills.services import confirm_in_person

if TYPE_CHECKING:
    from staff.models import User

TAKE_OVER = act("take_over_drawer", pgettext_lazy("audit", "Take over a drawer"))


def confirm_receiver(person: User, secret: str, *, actor: User, till_token: str) -> str:
    """How the person who takes the drawer over was recognised, for `hand_over`: "pin" or "password".

    `actor`: the signed-in person. `till_token`: of the browser, or "". Guesses are counted: call it outside of any
    transaction that may roll back. Raises `Refused` when the secret is neither.
    """
    return confirm_in_person(person, secret, act=TAKE_OVER, actor=actor, till_token=till_token)
