"""An idle session ends by itself, and ended sessions are deleted."""

import datetime as dt
import json
import re
from html import unescape

import pytest
from django.conf import settings as project
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from time_machine import travel

from audit.models import AuditEvent
from core import clock
from staff.events import SIGN_OUT
from staff.models import Session, SpentChallenge, Throttle
from staff.tasks import clear_ended_sessions
from testing.people import browser_of, make_person, signed_in

pytestmark = pytest.mark.django_db


def minutes_later(minutes: float):
    return travel(clock.now() + dt.timedelta(minutes=minutes))


def is_in(client: Client) -> bool:
    return client.get("/orders/").status_code == 200


def test_who_does_nothing_for_an_hour_is_signed_out_and_changes_nothing():
    person = make_person("cashier")
    client, late = signed_in(person), signed_in(person)
    is_in(client)

    with minutes_later(61):
        late.post("/me/", {"language": "id", "theme": "dark"})
        answer = client.get("/orders/")

        assert answer["Location"].startswith("/accounts/login/")
        assert not Session.objects.exists()
    assert [event.facts for event in AuditEvent.objects.filter(kind=SIGN_OUT.key)] == [{"because": "idle"}] * 2
    person.refresh_from_db()
    assert person.theme == "auto"


def test_what_a_page_asks_by_itself_is_no_activity():
    admin = make_person("admin")
    page = signed_in(admin).get("/").content.decode()
    parts = [part for part in re.findall(r"<div[^>]*hx-trigger[^>]*>", page) if "every" in part]
    polls = [("/orders/live/", "{}"), ("/balance/alerts/now/", "{}")]
    for part in parts:
        headers = re.search(r"hx-headers='([^']+)'", part)
        polls.append((unescape(re.search(r'hx-get="([^"]+)"', part)[1]), headers[1] if headers else "{}"))
    browsers = [signed_in(admin) for _poll in polls]
    assert len(parts) == 2

    for minutes in (20, 40, 59):
        with minutes_later(minutes):
            for browser, (address, headers) in zip(browsers, polls, strict=True):
                sent = {"HX-Request": "true", **json.loads(headers)}
                assert browser.get(address, headers=sent).status_code in {200, 204}, address
    with minutes_later(61):
        assert [address for browser, (address, _) in zip(browsers, polls, strict=True) if is_in(browser)] == []


def test_a_session_is_over_after_twelve_hours_whatever_is_done():
    make_person("cashier")
    client = Client()
    client.post("/accounts/login/", {"login": "cashier", "password": "secret-words"})

    for minutes in range(50, 720, 50):
        with minutes_later(minutes):
            assert is_in(client)
    with minutes_later(721):
        assert not is_in(client)


def test_activity_is_written_once_a_minute_at_most():
    client = browser_of("cashier")
    is_in(client)

    def writes() -> int:
        with CaptureQueriesContext(connection) as queries:
            is_in(client)
        return sum("UPDATE" in query["sql"] for query in queries)

    assert writes() == 0
    with minutes_later(2):
        assert [writes(), writes()] == [1, 0]


def test_the_idle_time_is_a_setting(settings):
    settings.POLICIES = {"session_idle_minutes": 5}
    client = browser_of("cashier")

    with minutes_later(6):
        assert not is_in(client)


def test_what_has_ended_is_deleted_at_night():
    before, after = clock.now() - dt.timedelta(hours=1), clock.now() + dt.timedelta(hours=1)
    for name, ends in (("old", before), ("new", after)):
        Session.objects.create(session_key=name, session_data="", expire_date=ends)
        SpentChallenge.objects.create(digest=name, expires_at=ends)
        Throttle.objects.create(key=name, failures=1, blocked_until=ends, expires_at=ends)

    clear_ended_sessions()

    assert [row.pk for model in (Session, SpentChallenge, Throttle) for row in model.objects.all()] == ["new"] * 3


def test_cookies_have_the_host_prefix_with_https_alone():
    for name in ("SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME", "DEVICE_COOKIE_NAME"):
        assert getattr(project, name).startswith("__Host-") is project.HTTPS, name
