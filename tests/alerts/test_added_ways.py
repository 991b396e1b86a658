"""A way of alerts is added on a page: tried first, kept sealed, used like those of the settings, and taken away."""

import socket
from dataclasses import replace
from threading import Event
from time import sleep
from unittest.mock import Mock

import pytest
from apprise import Apprise, NotifyType
from apprise.plugins.custom_json import NotifyJSON
from apprise.plugins.email.base import NotifyEmail

from alerts.errors import WayRefused
from alerts.forms import way_form
from alerts.models import AddedWay, Alert, AlertNotice
from alerts.services import notify_people
from alerts.services.ways import DEADLINE_SECONDS, add_way, refuse_inside, way_to, ways
from audit.models import AuditEvent
from testing.people import browser_of, make_person
from tests.alerts.helpers import ago, low_balance
from tests.core.helpers import codes

pytestmark = pytest.mark.django_db

PAGE = "/balance/alerts/ways/"
TOKEN = "123456789:SECRETabcdefghijklmnopqrstuvwxyzABC"
TYPED = {"name": "Owner's phone", "token": TOKEN, "chat": "-42"}


def names() -> list[str]:
    return [way.name for way in ways()]


def test_a_test_that_may_have_arrived_is_kept_and_said(telegram, monkeypatch):
    monkeypatch.setattr("alerts.services.ways.DEADLINE_SECONDS", 1.0)
    telegram.is_silent = True

    page = browser_of("admin").confirm(PAGE, TYPED, follow=True)

    assert [message.extra_tags for message in page.context["messages"]] == ["way_unclear"]
    assert names() == ["Owner's phone (Telegram)"]


def test_a_way_takes_the_right_a_fresh_factor_and_a_test_that_arrives(telegram):
    assert browser_of("auditor").get(PAGE).status_code == 403
    admin = browser_of("admin")
    assert admin.post(PAGE, TYPED).context["refusal"].code.startswith("FactorRefused")
    assert telegram.taken == []

    telegram.answer = 401
    page = admin.confirm(PAGE, TYPED)

    assert page.context["refusal"].code == "WayRefused:failed"
    assert not AddedWay.objects.exists()
    assert not AuditEvent.objects.filter(kind__startswith="alert_way").exists()


def test_a_way_is_tried_then_kept_sealed_and_gets_the_alerts(telegram):
    admin = browser_of("admin", username="dewi")

    page = admin.confirm(PAGE, TYPED, follow=True)

    assert [message.extra_tags for message in page.context["messages"]] == ["way_added"]
    assert [str(message["chat_id"]) for message in telegram.taken] == ["-42"], "the test message"
    kept = AddedWay.objects.get()
    assert (kept.name, kept.service, kept.added_by.username) == ("Owner's phone", "Telegram", "dewi")
    assert "SECRET" not in kept.sealed_address + page.content.decode()
    assert "Owner's phone (Telegram)" in admin.get("/balance/alerts/").content.decode().replace("&#x27;", "'")

    low_balance()
    notify_people()

    assert len(telegram.taken) == 2
    assert AlertNotice.objects.get().service == "Owner's phone (Telegram)"

    admin.post(f"{PAGE}{kept.pk}/remove/", follow=True)
    assert AddedWay.objects.exists(), "without a factor"
    assert codes(admin.confirm(f"{PAGE}{kept.pk}/remove/", follow=True)) == {"way_removed"}
    assert names() == []
    events = AuditEvent.objects.filter(kind__startswith="alert_way").order_by("pk")
    assert [(event.kind, event.subject) for event in events] == [
        ("alert_way_added", "Owner's phone (Telegram)"),
        ("alert_way_removed", "Owner's phone (Telegram)"),
    ]
    assert "SECRET" not in repr([event.facts for event in events])


def test_a_way_that_is_added_again_gets_no_end_from_while_it_was_gone(telegram):
    admin = browser_of("admin")
    admin.confirm(PAGE, TYPED)
    low_balance()
    notify_people()
    admin.confirm(f"{PAGE}{AddedWay.objects.get().pk}/remove/")
    Alert.objects.update(closed_at=ago(minutes=30))
    admin.confirm(PAGE, TYPED)
    telegram.taken.clear()

    notify_people()

    assert telegram.taken == []


def test_the_same_way_is_there_once_and_there_are_only_so_many(telegram, settings, monkeypatch):
    monkeypatch.setattr("alerts.services.ways.MOST_WAYS", 1)
    actor = make_person("admin")
    settings.ALERT_URLS = [f"tgram://{TOKEN}/-42/"]

    with pytest.raises(WayRefused) as refusal:
        add_way(f"tgram://{TOKEN}/-42/", name="Again", actor=actor)

    assert (refusal.value.reason, names()) == ("known", ["Telegram"])
    add_way(f"tgram://{TOKEN}/-43/", name="One", actor=actor)
    with pytest.raises(WayRefused, match="enough"):
        add_way(f"tgram://{TOKEN}/-44/", name="Two", actor=actor)


def test_after_a_change_of_the_secret_key_the_page_says_what_to_do_and_other_ways_go_on(telegram, settings):
    admin = browser_of("admin")
    admin.confirm(PAGE, TYPED)
    former = settings.SECRET_KEY
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another-" + "y" * 50, [former]
    assert names() == ["Owner's phone (Telegram)"]

    settings.SECRET_KEY_FALLBACKS = []
    settings.ALERT_URLS = [f"tgram://{TOKEN}/-43/"]

    assert names() == ["Telegram"]
    page = browser_of("admin", username="second").get(PAGE)
    assert [str(row) for row in page.context["unreadable"]] == ["Owner's phone (Telegram)"]


def test_no_page_reaches_into_the_own_network():
    for host in ("127.0.0.1", "localhost", "10.0.0.7", "192.168.1.4", "169.254.169.254", "::1"):
        with pytest.raises(WayRefused) as refusal:
            refuse_inside(host)
        assert refusal.value.reason == "inside", host


def test_a_name_that_leads_inside_is_refused_too(monkeypatch):
    both = [(2, 1, 6, "", ("203.0.114.9", 0)), (2, 1, 6, "", ("10.0.0.7", 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_args, **_facts: both)

    page = browser_of("admin").confirm(f"{PAGE}?kind=webhook", {"name": "Hook", "url": "https://hooks.example.com/x"})

    assert page.context["refusal"].code == "WayRefused:inside"
    assert not AddedWay.objects.exists()


HOOK = "https://hooks.example.com/x"
MAIL = {"to": "a@b.id", "server": "smtp.example.com", "user": "toko@b.id", "password": "p"}
OUTSIDE, INSIDE = "203.0.114.9", "10.0.0.7"


@pytest.fixture
def names_lead_to(monkeypatch):
    """Where the names of example.com lead: one address after the other, then always the last."""
    look_up, addresses = socket.getaddrinfo, [OUTSIDE]

    def answer(host, *more, **facts):
        if not str(host).endswith("example.com"):
            return look_up(host, *more, **facts)
        return [(2, 1, 6, "", (addresses.pop(0) if len(addresses) > 1 else addresses[0], 0))]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return addresses


@pytest.fixture
def sent(monkeypatch):
    """The messages that reach a webhook or a mail server."""
    taken = []
    monkeypatch.setattr(NotifyJSON, "send", lambda *_args, **_facts: taken.append("webhook") or True)
    monkeypatch.setattr(NotifyEmail, "send", lambda *_args, **_facts: taken.append("mail") or True)
    return taken


@pytest.mark.parametrize(("kind", "typed"), [("webhook", {"url": HOOK}), ("mail", MAIL)])
def test_a_name_that_leads_inside_later_gets_no_message_and_it_is_said(names_lead_to, sent, kind, typed):
    admin = browser_of("admin")
    admin.confirm(f"{PAGE}?kind={kind}", {"name": "Own", **typed}, follow=True)
    assert sent == [kind], "the test message"

    names_lead_to[:] = [INSIDE]
    page = admin.post("/balance/alerts/test/", follow=True)
    low_balance()
    notify_people()

    assert sent == [kind]
    (said,) = page.context["messages"]
    assert (said.extra_tags, "ALERT_URLS" in said.message) == ("way_fails", True)
    assert AlertNotice.objects.get().fault == "failed"

    names_lead_to[:] = [OUTSIDE]
    AlertNotice.objects.update(not_before=None)
    notify_people()

    assert (sent, AlertNotice.objects.get().fault) == ([kind, kind], "")


def test_a_name_that_leads_inside_at_the_second_look_gets_no_test(names_lead_to, sent):
    names_lead_to[:] = [OUTSIDE, INSIDE]

    page = browser_of("admin").confirm(f"{PAGE}?kind=webhook", {"name": "Hook", "url": HOOK})

    assert page.context["refusal"].code == "WayRefused:failed"
    assert (sent, AddedWay.objects.exists()) == ([], False)


def test_a_name_without_an_address_is_no_connection_in_time(names_lead_to, sent, monkeypatch):
    admin = browser_of("admin")
    admin.confirm(f"{PAGE}?kind=webhook", {"name": "Hook", "url": HOOK}, follow=True)
    test_is_over, answer = Event(), socket.getaddrinfo

    def answer_late(host, *more, **facts):
        if host == "hooks.example.com":
            test_is_over.wait(5)
        return answer(host, *more, **facts)

    def tested():
        (said,) = admin.post("/balance/alerts/test/", follow=True).context["messages"]
        return sent, said.extra_tags, "No connection" in said.message

    monkeypatch.setattr(socket, "getaddrinfo", Mock(side_effect=socket.gaierror(-3, "away")))
    assert tested() == (["webhook"], "way_fails", True)

    monkeypatch.setattr("alerts.services.ways.DEADLINE_SECONDS", 0.2)
    monkeypatch.setattr(socket, "getaddrinfo", answer_late)
    low_balance()
    try:
        assert tested() == (["webhook"], "way_fails", True)
        notify_people()
    finally:
        test_is_over.set()
    assert (sent, AlertNotice.objects.get().fault) == (["webhook"], "failed")


def test_the_look_up_of_a_name_counts_towards_the_deadline(names_lead_to, monkeypatch):
    given, answer, notify = [], socket.getaddrinfo, Apprise.notify
    way = replace(way_to(HOOK.replace("https", "jsons")), host="hooks.example.com")
    monkeypatch.setattr(socket, "getaddrinfo", lambda *asked, **facts: sleep(0.05) or answer(*asked, **facts))
    monkeypatch.setattr(NotifyJSON, "send", lambda *_args, **_facts: True)
    monkeypatch.setattr(
        Apprise, "notify", lambda *args, **facts: given.append(facts["timeout"]) or notify(*args, **facts)
    )

    assert way.send("Title", "Text", look=NotifyType.INFO) is None

    assert given[0] <= DEADLINE_SECONDS - 0.05


def test_a_way_of_the_settings_may_lead_inside(names_lead_to, sent, settings):
    names_lead_to[:] = [INSIDE]
    settings.ALERT_URLS = ["jsons://hooks.example.com/x"]
    low_balance()

    notify_people()

    assert sent == ["webhook"]


def test_what_is_typed_becomes_the_address_of_the_service_or_is_said_at_its_field():
    for kind, typed, address in [
        ("telegram", {"token": TOKEN, "chat": "@toko_kita"}, f"tgram://{TOKEN}/@toko_kita/"),
        (
            "mail",
            {"to": "a@b.id", "server": "smtp.b.id", "user": "toko@b.id", "password": "p/ss w@rd"},
            "mailtos://toko%40b.id:p%2Fss%20w%40rd@smtp.b.id?from=toko%40b.id&to=a%40b.id",
        ),
        (
            "webhook",
            {"url": "https://hooks.example.com:8443/in?key=1"},
            "jsons://hooks.example.com:8443/in?-key=1",
        ),
        (
            "webhook",
            {"url": "https://discord.com/api/webhooks/4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js"},
            "https://discord.com/api/webhooks/4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js",
        ),
    ]:
        form = way_form(kind, {"name": "One", **typed})
        assert form.is_valid(), form.errors
        assert form.address == address

    for kind, field, text in [
        ("telegram", "token", "12345"),
        ("telegram", "chat", "toko kita"),
        ("webhook", "url", "http://hooks.example.com/x"),
        ("mail", "to", "nobody"),
    ]:
        assert field in way_form(kind, {"name": "One", field: text}).errors, (kind, field)
