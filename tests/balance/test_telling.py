"""Alerts reach people by e-mail and webhook: once an hour at most, their end once, and a fault costs only time."""

import datetime as dt
import json
import smtplib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

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


def evaluated(minutes: float, *, is_low: bool) -> None:
    """The rules are evaluated so many minutes later, and what is due is told."""
    with time_machine.travel(NOW + dt.timedelta(minutes=minutes), tick=False):
        if is_low:
            low_balance()
        else:
            keep_alerts(Kind.LOW_BALANCE, [])
        telling.tell_alerts()


def subjects() -> list[str]:
    return [sent.subject.removeprefix("[Toko Kita] ") for sent in mail.outbox]


LOW, OVER = "The balance is low.", "Over: The balance is low."


def test_its_end_is_told_once_when_it_has_lasted(by_mail):
    evaluated(0, is_low=True)

    for minutes in (10, 14.9):
        evaluated(minutes, is_low=False)
    assert subjects() == [LOW]
    for minutes in (15.1, 16, 120):
        evaluated(minutes, is_low=False)

    assert subjects() == [LOW, OVER]


def test_one_that_comes_and_goes_within_minutes_is_told_hourly_at_most_and_is_never_called_over(by_mail):
    for minutes in range(0, 58, 4):
        evaluated(minutes, is_low=True)
        evaluated(minutes + 2, is_low=False)
    assert subjects() == [LOW]

    evaluated(61, is_low=True)
    assert subjects() == [LOW, LOW]
    for minutes in (62, 68, 70):
        evaluated(minutes, is_low=False)
    assert subjects() == [LOW, LOW, OVER]


def test_one_that_was_called_over_is_told_at_once_when_it_comes_back(by_mail):
    evaluated(0, is_low=True)
    evaluated(5, is_low=False)
    evaluated(11, is_low=False)
    assert subjects() == [LOW, OVER]

    for minutes in (12, 13, 54):
        evaluated(minutes, is_low=True)

    assert subjects() == [LOW, OVER, LOW]


def test_the_end_of_one_that_came_back_untold_is_told_too(by_mail):
    evaluated(0, is_low=True)
    evaluated(5, is_low=False)
    evaluated(7, is_low=True)

    for minutes in (20, 26, 40, 90):
        evaluated(minutes, is_low=False)

    assert subjects() == [LOW, OVER]


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


def failing(monkeypatch, fault: Exception, *, at: str) -> None:
    """The mail server fails so, while it is reached (`open`) or while it takes the message (`send_messages`)."""

    def fail(*args: object) -> None:
        raise fault

    monkeypatch.setattr(f"django.core.mail.backends.locmem.EmailBackend.{at}", fail)


def test_a_mail_server_that_fails_is_tried_again_with_the_next_beat(by_mail, monkeypatch):
    low_balance()
    with monkeypatch.context() as broken:
        failing(broken, ConnectionRefusedError(), at="open")
        beat_after()
    assert AlertNotice.objects.get().fault == "ConnectionRefusedError"

    beat_after(seconds=20)

    assert len(mail.outbox) == 1
    assert AlertNotice.objects.get().fault == ""


def test_a_mail_server_that_goes_on_failing_is_tried_ever_more_seldom(by_mail, monkeypatch):
    low_balance()
    tries = []
    monkeypatch.setattr(telling, "_SENDERS", {telling.Channel.EMAIL: lambda *_: tries.append(1) or refuse()})

    def refuse() -> None:
        raise telling.NotTold("ConnectionRefusedError")

    def tried(first: int, last: int) -> int:
        before = len(tries)
        for seconds in range(first, last, 20):
            beat_after(seconds=seconds)
        return len(tries) - before

    assert tried(0, 600) == 6
    assert tried(600, 7200) in range(7, 10)


@pytest.mark.parametrize(
    ("fault", "may_have_arrived"),
    [
        (smtplib.SMTPServerDisconnected("in the middle"), True),
        (ConnectionResetError(), True),
        (TimeoutError(), True),
        (smtplib.SMTPDataError(451, b"later"), False),
        (smtplib.SMTPRecipientsRefused({}), False),
        (ValueError("a header"), False),
    ],
    ids=lambda fault: type(fault).__name__,
)
def test_a_mail_that_may_have_arrived_counts_as_told_and_a_refused_one_does_not(
    by_mail, monkeypatch, fault, may_have_arrived
):
    low_balance()
    failing(monkeypatch, fault, at="send_messages")

    beat_after()

    notice = AlertNotice.objects.get()
    assert (notice.told_at is not None, notice.failures) == (may_have_arrived, 0 if may_have_arrived else 1)
    assert notice.fault == ("timeout" if isinstance(fault, TimeoutError) else type(fault).__name__)


def test_a_mail_server_that_accepts_too_slowly_gets_one_mail_an_hour(by_mail, monkeypatch):
    released = threading.Event()
    accepted = []

    def take_slowly(self, messages):
        released.wait(30)
        accepted.extend(messages)

    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", take_slowly)
    monkeypatch.setattr(telling, "DEADLINE_SECONDS", 0.2)
    low_balance()

    for seconds in range(0, 3_600, 600):
        beat_after(seconds=seconds)
    assert AlertNotice.objects.get().fault == "timeout"
    beat_after(seconds=3_610)
    released.set()
    for thread in threading.enumerate():
        if thread.name == "mail":
            thread.join(10)

    assert len(accepted) == 2


def test_a_mail_server_that_hangs_before_it_takes_anything_is_tried_again(by_mail, monkeypatch):
    released = threading.Event()
    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.open", lambda self: released.wait(30))
    monkeypatch.setattr(telling, "DEADLINE_SECONDS", 0.2)
    low_balance()

    beat_after()
    released.set()

    notice = AlertNotice.objects.get()
    assert (notice.told_at, notice.fault, notice.failures) == (None, "timeout", 1)


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

    for seconds in (0, 20, 60):
        beat_after(seconds=seconds)

    assert len(mail.outbox) == 1
    assert len(responses.calls) == 3


class _Silent(BaseHTTPRequestHandler):
    """Takes what is posted and never answers, or hangs up."""

    taken: ClassVar[list[bytes]] = []
    released: ClassVar[threading.Event]
    hangs_up: ClassVar[bool]

    def do_POST(self) -> None:
        self.taken.append(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.hangs_up:
            self.released.wait(30)
        self.close_connection = True

    def log_message(self, *args: object) -> None:
        """Nothing."""


@pytest.mark.parametrize(("hangs_up", "fault"), [(False, "timeout"), (True, "connection")])
def test_a_webhook_whose_answer_is_lost_counts_as_told(by_webhook, settings, monkeypatch, hangs_up, fault):
    monkeypatch.setattr(telling, "DEADLINE_SECONDS", 1.0)
    handler = type("Handler", (_Silent,), {"taken": [], "released": threading.Event(), "hangs_up": hangs_up})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings.ALERT_WEBHOOK_URL = f"http://127.0.0.1:{server.server_port}/bot"
        low_balance()

        for seconds in (0, 20, 40):
            beat_after(seconds=seconds)
        handler.released.set()
        server.shutdown()

    assert len(handler.taken) == 1
    notice = AlertNotice.objects.get()
    assert (notice.told_at, notice.fault) == (NOW, fault)


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
