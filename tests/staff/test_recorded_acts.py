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
from tests.staff.helpers import GOOD, Role, owner, signed_in

pytestmark = pytest.mark.django_db


def last(event: Event) -> AuditEvent:
    return AuditEvent.objects.filter(kind=event.key).latest("pk")


def test_an_invitation_and_its_links_are_events_without_token_or_password():
    boss = owner()
    person, _old = invite(username="sari", role=Role.CASHIER, actor=boss)
    event = last(STAFF_INVITED)
    assert (event.person, event.role, event.subject, event.after) == (boss, "owner", "sari", {"role": "cashier"})

    made_again = make_link(person, actor=None)
    event = last(LINK_MADE)
    assert (event.person, event.before["open_link"], event.after["purpose"]) == (None, True, "invite")
    assert made_again not in str([event.before, event.after, event.facts])

    withdraw_link(person, actor=None)
    event = last(LINK_WITHDRAWN)
    assert event.before == {"is_active": True, "open_link": True}
    assert event.after == {"is_active": False, "open_link": False}

    accept_link(make_link(person, actor=None), GOOD)
    event = last(LINK_USED)
    assert (event.person, event.before, event.after) == (person, {"has_password": False}, {"has_password": True})
    assert GOOD not in str(event.facts)


def test_ended_sessions_and_switching_off_and_on_are_events_and_a_refusal_none():
    person, boss = make_person("cashier"), owner()
    signed_in(person)
    browser = signed_in(person)
    with pytest.raises(NotAllowed):
        end_sessions(boss, actor=person)
    assert not AuditEvent.objects.filter(kind=SESSIONS_ENDED.key).exists()

    browser.post("/me/sign-out-elsewhere/")
    event = last(SESSIONS_ENDED)
    assert (event.person, event.address) == (person, "127.0.0.1")
    assert (event.before, event.after) == ({"sessions": 2}, {"sessions": 1})
    assert Session.objects.filter(person=person).count() == 1

    deactivate(person, actor=boss)
    off = last(STAFF_SWITCHED_OFF)
    assert (off.before["is_active"], off.after["is_active"], off.facts) == (True, False, {"sessions": 1})
    reactivate(person, actor=None)
    on = last(STAFF_SWITCHED_ON)
    assert (on.subject, on.before, on.after) == (person.username, {"is_active": False}, {"is_active": True})
