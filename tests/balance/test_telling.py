"""Alerts reach people by e-mail and webhook: once an hour at most, their end once, and a fault costs only time."""

import datetime as dt
import json
import threading

import pytest
import requests
import responses
import time_machine
from django.core import mail
from django.utils import timezone

from balance import tasks
from balance.models import Alert, AlertNotice
from balance.services import telling
from balance.services.alerts import Reason, keep_alerts

pytestmark = pytest.mark.django_db(transaction=True)

WEBHOOK = "https://hooks.example.com/bot123:SECRET/sendMessage"
Kind = Alert.Kind
NOW = timezone.now()


@pytest.fixture
def by_mail(settings):
    settings.ALERT_EMAILS = ["owner@example.com"]
    settings.SITE_URL = "https://shop.example.com"
    settings.LANGUAGE_CODE = "en"


@pytest.fixture
def by_webhook(settings):
    settings.ALERT_WEBHOOK_URL = WEBHOOK
    settings.ALERT_WEBHOOK_CHAT_ID = "-42"
    settings.LANGUAGE_CODE = "en"


def low_balance(left: int = 100_000) -> Alert:
    keep_alerts(Kind.LOW_BALANCE, [Reason(facts={"available": left, "threshold": 500_000, "hours_left": 1.5})])
    return Alert.objects.get(closed_at=None, kind=Kind.LOW_BALANCE)


def beat_after(**time: float) -> None:
    with time_machine.travel(NOW + dt.timedelta(**time), tick=False):
        telling.tell_alerts()


def test_a_mail_says_what_how_grave_and_the_next_step_with_a_link(by_mail):
    low_balance()

    beat_after()

    (sent,) = mail.outbox
    assert sent.to == ["owner@example.com"]
    assert sent.subject == "[Toko Kita] The balance is low."
    assert "Warning: The balance is low." in sent.body
    assert "Rp100.000 are available" in sent.body
    assert "https://shop.example.com/balance/" in sent.body


def test_it_is_repeated_hourly_and_not_before(by_mail):
    low_balance()

    for minutes in (0, 1, 30, 59):
        beat_after(minutes=minutes)
    assert len(mail.outbox) == 1
    for minutes in (61, 90, 119):
        beat_after(minutes=minutes)
    assert len(mail.outbox) == 2


def test_its_end_is_told_once(by_mail):
    low_balance()
    beat_after()

    keep_alerts(Kind.LOW_BALANCE, [])
    for minutes in (1, 2, 120):
        beat_after(minutes=minutes)

    assert [sent.subject for sent in mail.outbox[1:]] == ["[Toko Kita] Over: The balance is low."]


def test_one_that_comes_and_goes_is_still_told_hourly_at_most(by_mail):
    for minutes in range(0, 50, 10):
        low_balance()
        beat_after(minutes=minutes)
        keep_alerts(Kind.LOW_BALANCE, [])
        beat_after(minutes=minutes + 5)

    opened = [sent for sent in mail.outbox if "Over:" not in sent.subject]
    assert (len(opened), len(mail.outbox)) == (1, 2)


def test_one_that_ended_before_it_was_told_is_never_told(by_mail):
    low_balance()
    keep_alerts(Kind.LOW_BALANCE, [])

    beat_after()

    assert mail.outbox == []


def test_many_at_once_are_one_message_the_gravest_first(by_mail):
    keep_alerts(
        Kind.ORDER_UNKNOWN,
        [Reason(key=f"B{n}", facts={"ref_id": f"B{n}", "amount": 1, "since": NOW.isoformat()}) for n in range(30)],
    )
    keep_alerts(
        Kind.UNEXPLAINED_DIFFERENCE,
        [Reason(key="1", severity=Alert.Severity.CRITICAL, facts={"difference": 1, "amount": -1})],
    )

    beat_after()

    (sent,) = mail.outbox
    assert sent.subject == "[Toko Kita] Rp1 are missing at the upstream, and no order explains it. (and 30 more)"
    assert "… and 11 more alerts." in sent.body


def test_a_mail_server_that_fails_is_tried_again_with_the_next_beat(by_mail, monkeypatch):
    low_balance()
    with monkeypatch.context() as broken:
        broken.setattr("django.core.mail.EmailMessage.send", lambda self: (_ for _ in ()).throw(ConnectionRefusedError))
        beat_after()
    assert AlertNotice.objects.get().fault == "ConnectionRefusedError"

    beat_after(seconds=20)

    assert len(mail.outbox) == 1
    assert AlertNotice.objects.get().fault == ""


def test_a_mail_server_that_hangs_is_given_up_in_time(by_mail, monkeypatch):
    released = threading.Event()
    monkeypatch.setattr("django.core.mail.EmailMessage.send", lambda self: released.wait(30))
    monkeypatch.setattr(telling, "DEADLINE_SECONDS", 0.2)
    low_balance()

    beat_after()
    released.set()

    assert AlertNotice.objects.get().fault == "timeout"


@responses.activate
def test_the_webhook_gets_what_telegram_takes(by_webhook):
    responses.post(WEBHOOK, json={"ok": True})
    low_balance()

    beat_after()

    sent = json.loads(responses.calls[0].request.body)
    assert sent["chat_id"] == "-42"
    assert sent["text"].startswith("[Toko Kita] The balance is low.")


@responses.activate
@pytest.mark.parametrize("fault", [500, 401, 302, "connection"])
def test_a_webhook_that_fails_is_tried_again_and_its_address_is_never_logged(by_webhook, fault, caplog, capsys):
    body = requests.ConnectionError(f"cannot reach {WEBHOOK}") if fault == "connection" else None
    if body:
        responses.post(WEBHOOK, body=body)
    else:
        responses.post(WEBHOOK, status=fault, headers={"Location": "https://hooks.example.com/else"})
    low_balance()
    caplog.set_level("DEBUG")

    beat_after()

    written = caplog.text + "".join(capsys.readouterr()) + AlertNotice.objects.get().fault
    assert "alerts_not_told" in written
    assert "SECRET" not in written
    assert "hooks.example.com" not in written
    responses.replace(responses.POST, WEBHOOK, json={"ok": True}) if not body else responses.reset()
    if body:
        responses.post(WEBHOOK, json={"ok": True})
    beat_after(seconds=20)
    assert AlertNotice.objects.get().told_at is not None


@responses.activate
def test_a_failing_way_never_repeats_the_other(by_mail, by_webhook):
    responses.post(WEBHOOK, status=500)
    low_balance()

    for seconds in (0, 20, 40):
        beat_after(seconds=seconds)

    assert len(mail.outbox) == 1
    assert len(responses.calls) == 3


def test_two_at_once_tell_it_once(by_mail, monkeypatch):
    low_balance()
    real = telling._SENDERS[telling.Channel.EMAIL]

    def send_while_another_beat_runs(subject, text):
        telling.tell_alerts()
        real(subject, text)

    monkeypatch.setitem(telling._SENDERS, telling.Channel.EMAIL, send_while_another_beat_runs)

    telling.tell_alerts()

    assert len(mail.outbox) == 1


def test_without_a_way_to_people_nothing_is_sent_or_noted():
    low_balance()

    beat_after()

    assert mail.outbox == []
    assert not AlertNotice.objects.exists()


def test_what_an_evaluation_finds_is_told_at_once(by_mail, monkeypatch):
    monkeypatch.setattr("backoffice.health.silent_processes", lambda: ["beat"])

    tasks.evaluate_alerts()

    (sent,) = mail.outbox
    assert "Critical: A process gives no sign of life: beat." in sent.body
