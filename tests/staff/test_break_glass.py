"""The one emergency account, and the command for a lost factor."""

import io
import json

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from alerts.models import Alert
from alerts.services import evaluate_alerts
from audit.models import AuditEvent
from staff.errors import NameTaken, NotAllowed
from staff.events import BREAK_GLASS_USED
from staff.models import BREAK_GLASS, User
from staff.services import deactivate, has_factor
from testing.people import make_person
from tests.staff.helpers import invited

pytestmark = pytest.mark.django_db


def envelope() -> dict:
    out = io.StringIO()
    call_command("make_break_glass", json=True, stdout=out)
    return json.loads(out.getvalue())


def signed_in_with(facts: dict, code: int = 0) -> Client:
    client = Client(REMOTE_ADDR="203.0.113.9")
    client.post("/accounts/login/", {"login": facts["name"], "password": facts["password"]})
    client.post("/accounts/second-step/", {"factor_code": facts["codes"][code]})
    return client


def is_in(client: Client) -> bool:
    return client.get("/staff/").status_code == 200


def test_the_envelope_opens_everything_with_an_alert_until_a_new_one_is_made():
    old = envelope()
    evaluate_alerts()
    assert not Alert.objects.filter(kind="emergency_account").exists(), "a sealed envelope raises none"

    client = signed_in_with(old)
    evaluate_alerts()
    assert is_in(client)
    event = AuditEvent.objects.get(kind=BREAK_GLASS_USED.key)
    assert (event.person.username, event.address) == (BREAK_GLASS, "203.0.113.9")
    assert Alert.objects.get(kind="emergency_account").closed_at is None
    assert not is_in(signed_in_with(old)), "each code once"
    assert is_in(signed_in_with(old, 1))

    new = envelope()
    assert not is_in(client)
    assert not is_in(signed_in_with(old, 2))
    assert is_in(signed_in_with(new))
    assert User.objects.filter(username=BREAK_GLASS).count() == 1


def test_a_flood_keeps_it_waiting_a_minute_at_most():
    facts = envelope()
    for _ in range(5):
        Client().post("/accounts/login/", {"login": facts["name"], "password": "x"})

    answer = Client().post("/accounts/login/", {"login": facts["name"], "password": facts["password"]})

    assert 0 < answer.context["form"].seconds_to_wait <= 5


def test_it_does_not_stand_in_for_the_last_owner_and_its_name_is_kept():
    person = make_person("admin")
    with pytest.raises(NameTaken):
        invited(username="Break-Glass")
    envelope()

    with pytest.raises(NotAllowed):
        deactivate(person, actor=None)


def test_a_lost_factor_is_reset_by_a_command():
    person = make_person("admin")
    out = io.StringIO()

    call_command("reset_factor", "ADMIN", json=True, stdout=out)

    assert json.loads(out.getvalue()) == {"name": "admin", "removed": 1}
    assert not has_factor(person)
    with pytest.raises(CommandError):
        call_command("reset_factor", "nobody")
