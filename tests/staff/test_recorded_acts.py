"""Each act on an account is an event, with the actor, the address, and the values before."""

import pytest

from audit.events import Event
from audit.models import AuditEvent
from staff.errors import NotAllowed
from staff.events import (
    LINK_MADE,
    LINK_USED,
    LINK_WITHDRAWN,
    SESSIONS_ENDED,
    STAFF_INVITED,
    STAFF_SWITCHED_OFF,
    STAFF_SWITCHED_ON,
)
from staff.models import Session
from staff.services import accept_link, deactivate, end_sessions, invite, make_link, reactivate, withdraw_link
from testing.people import make_person
from tests.staff.helpers import GOOD, Role, invited, open_link, owner, signed_in

pytestmark = pytest.mark.django_db


def last(event: Event) -> AuditEvent:
    return AuditEvent.objects.filter(kind=event.key).latest("pk")


def test_an_invitation_is_an_event_with_its_role():
    boss = owner()
    invite(username="sari", role=Role.CASHIER, actor=boss)
    event = last(STAFF_INVITED)
    assert (event.person, event.role, event.subject, event.after) == (boss, "owner", "sari", {"role": "cashier"})


def test_a_link_made_again_is_an_event_without_its_token():
    person, _old = invited()
    token = make_link(person, actor=None)
    event = last(LINK_MADE)
    assert (event.person, event.before["open_link"], event.after["purpose"]) == (None, True, "invite")
    assert token not in str([event.before, event.after, event.facts])


def test_a_used_link_is_an_event_of_its_person():
    person, token = invited()
    accept_link(token, GOOD)
    event = last(LINK_USED)
    assert (event.person, event.before, event.after) == (person, {"has_password": False}, {"has_password": True})
    assert GOOD not in str(event.facts)


def test_a_withdrawn_invitation_says_that_the_account_is_off():
    person, _token = invited()
    withdraw_link(person, actor=None)
    event = last(LINK_WITHDRAWN)
    assert event.before == {"is_active": True, "open_link": True}
    assert event.after == {"is_active": False, "open_link": False}


def test_switching_off_and_on_are_events():
    person = make_person("cashier")
    signed_in(person)
    deactivate(person, actor=owner())
    off = last(STAFF_SWITCHED_OFF)
    assert (off.before["is_active"], off.after["is_active"], off.facts) == (True, False, {"sessions": 1})
    reactivate(person, actor=None)
    on = last(STAFF_SWITCHED_ON)
    assert (on.subject, on.before, on.after) == (person.username, {"is_active": False}, {"is_active": True})


def test_ended_sessions_are_an_event_with_their_number():
    person = make_person("cashier")
    signed_in(person)
    browser = signed_in(person)
    browser.post("/me/sign-out-elsewhere/")
    event = last(SESSIONS_ENDED)
    assert (event.person, event.address) == (person, "127.0.0.1")
    assert (event.before, event.after) == ({"sessions": 2}, {"sessions": 1})
    assert Session.objects.filter(person=person).count() == 1


def test_a_refused_act_leaves_no_event():
    token = invited()[1]
    boss = owner()
    with pytest.raises(NotAllowed):
        end_sessions(boss, actor=make_person("cashier"))
    assert open_link(token).status_code == 200
    assert not AuditEvent.objects.filter(kind=SESSIONS_ENDED.key).exists()
