"""Makes the staff of `processes.py` and the alerts of its shop; for `./run manage shell`, where Django is ready."""

import sys
import time

from django.conf import settings
from django.test import Client

from alerts.models import Alert
from alerts.services import evaluate_alerts
from core.rights import Role
from drawers.models import DENOMINATIONS
from drawers.services import add_drawer, close_shift, open_shift
from staff.models import User
from staff.roles import give_role

# The roles of ten people.
_ROLES = (Role.CASHIER,) * 7 + (Role.SUPERVISOR,) * 2 + (Role.OWNER,)
_NOTHING = [0] * len(DENOMINATIONS)
_TOO_MUCH = [10, *_NOTHING[1:]]


def sign_in(people: int) -> None:
    """Print the role and the session of each of so many people; each cashier has a drawer with an open shift."""
    owner = User.objects.get(username="owner")
    for number in range(people):
        role = _ROLES[number % len(_ROLES)]
        person, is_new = User.objects.get_or_create(username=f"{role}-{number}", defaults={"is_demo": True})
        if is_new:
            give_role(person, role)
            person = User.objects.get(pk=person.pk)
            if role is Role.CASHIER:
                open_shift(add_drawer(f"Laci {person}", actor=owner), pieces=_NOTHING, actor=person)
        browser = Client()
        browser.force_login(person)
        print("session", role, browser.cookies[settings.SESSION_COOKIE_NAME].value)


def open_alerts(number: int) -> None:
    """Open at least so many alerts, for the history's complaints and unhandled orders, and for counts of drawers.

    A shift that ends with too much in the drawer gives one; the next shift, which begins with nothing, gives another.
    """
    _evaluate()
    owner = User.objects.get(username="owner")
    drawer = add_drawer("Laci selisih", actor=owner)
    for _ in range((number - Alert.objects.open().count()) // 2 + 1):
        shift = open_shift(drawer, pieces=_NOTHING, actor=owner, reason="counted")
        close_shift(shift, pieces=_TOO_MUCH, actor=owner, reason="counted")
    _evaluate()
    count = Alert.objects.open().count()
    if count < number:
        sys.exit(f"{count} alerts are open, {number} were wanted.")
    print("alerts", count)


def _evaluate() -> None:
    """Evaluate twice: the background may be evaluating at the first call."""
    for _ in range(2):
        evaluate_alerts()
        time.sleep(2)
