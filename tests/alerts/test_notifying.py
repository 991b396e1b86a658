"""Each way notifies hourly at most, and of an end once; a fault only delays, and never starts many messages."""

import datetime as dt
import io
import logging

import pytest
import time_machine
from django.utils import timezone

from alerts import tasks
from alerts.kinds.kind import Reason
from alerts.models import AlertNotice
from alerts.services import notifying, ways as ways_module
from alerts.services.evaluating import keep_alerts
from alerts.services.notifying import notify_people
from policies.models import Policies
from shop.models import Shop
from tests.alerts.helpers import LOW, MISSING, low_balance, unknown

pytestmark = pytest.mark.django_db(transaction=True)

NOW = timezone.now()


def beat_after(**time: float) -> None:
    with time_machine.travel(NOW + dt.timedelta(**time), tick=False):
        notify_people()


def evaluated(minutes: float, *, is_low: bool) -> None:
    """Evaluate the kinds so many minutes later, and send the due messages."""
    with time_machine.travel(NOW + dt.timedelta(minutes=minutes), tick=False):
        keep_alerts("low_balance", [LOW] if is_low else [])
        notify_people()


def looks(server) -> list[str]:
    """The type of each message: a warning, a failure (critical), or a success (over)."""
    return [message["type"] for message in server.taken]


def test_a_message_has_facts_step_and_link_in_the_shops_language(webhook, settings):
    settings.SITE_URL = "https://shop.example.com/"
    low_balance()

    for of_shop, begins in [("", "! Warning: "), ("id", "! Perhatian: ")]:
        Shop.objects.update_or_create(defaults={"name": "Toko Kita", "language": of_shop})
        AlertNotice.objects.all().delete()
        webhook.taken.clear()
        beat_after()

        (sent,) = webhook.taken
        assert sent["title"].startswith("[Toko Kita] ")
        title, facts, _step, link = sent["message"].split("\n")
        assert title.startswith(begins), of_shop
        assert "Rp100.000" in facts
        assert link == "https://shop.example.com/balance/"


def test_in_quiet_hours_only_a_critical_alert_is_sent_and_the_others_afterwards(webhook):
    at = timezone.localtime(NOW)
    until = (at + dt.timedelta(minutes=30)).time()
    Policies.objects.create(quiet_from=at.time(), quiet_to=until)
    low_balance()
    keep_alerts("difference", [MISSING])

    beat_after()
    assert looks(webhook) == ["failure"]
    beat_after(minutes=20)
    assert looks(webhook) == ["failure"]

    beat_after(minutes=31)
    assert looks(webhook) == ["failure", "warning"]


def test_it_is_repeated_hourly_and_not_before(webhook):
    low_balance()

    for minutes in (0, 1, 30, 59):
        beat_after(minutes=minutes)
    assert len(webhook.taken) == 1
    for minutes in (61, 90, 119):
        beat_after(minutes=minutes)
    assert len(webhook.taken) == 2


@pytest.mark.parametrize(
    ("evaluations", "expected"),
    [
        # its end is sent once, when it has lasted
        (
            {0: True, 10: False, 14.9: False, 15.1: False, 16: False, 120: False},
            {0: ["warning"], 15.1: ["success"]},
        ),
        # an alert that was over is sent at once when it is back
        (
            {0: True, 5: False, 11: False, 12: True, 13: True, 54: True},
            {0: ["warning"], 11: ["success"], 12: ["warning"]},
        ),
        # so is the end of an alert that came back before its end was sent
        (
            {0: True, 5: False, 7: True, 20: False, 26: False, 40: False, 90: False},
            {0: ["warning"], 26: ["success"]},
        ),
    ],
)
def test_an_end_that_lasts_is_sent_once_and_a_return_at_once(webhook, evaluations, expected):
    for minutes, is_low in evaluations.items():
        webhook.taken.clear()
        evaluated(minutes, is_low=is_low)

        assert looks(webhook) == expected.get(minutes, []), minutes


def test_one_that_comes_and_goes_is_hourly_at_most_never_over(webhook):
    for minutes in range(0, 58, 8):
        evaluated(minutes, is_low=True)
        evaluated(minutes + 4, is_low=False)
    assert looks(webhook) == ["warning"]

    evaluated(61, is_low=True)
    assert looks(webhook) == ["warning", "warning"]
    for minutes in (62, 68, 70):
        evaluated(minutes, is_low=False)
    assert looks(webhook) == ["warning", "warning", "success"]


def test_many_at_once_are_one_message_the_gravest_first(webhook):
    keep_alerts("order_unknown", [unknown(number) for number in range(30)])
    keep_alerts("difference", [MISSING])

    beat_after()

    (sent,) = webhook.taken
    assert sent["type"] == "failure"
    assert "Rp1 " in sent["title"]
    assert "30" in sent["title"]
    paragraphs = sent["message"].split("\n\n")
    assert len(paragraphs) == 31
    assert "Rp1 " in paragraphs[0]


def test_a_way_that_fails_is_tried_with_each_beat_and_repeats_no_other(webhook, mailbox):
    low_balance()
    webhook.answer = 500
    beat_after()
    notice = AlertNotice.objects.get(service="JSON")
    assert (notice.notified_at, notice.failures, notice.fault) == (None, 1, "failed")
    beat_after(seconds=20)
    assert (len(mailbox.taken), len(webhook.taken)) == (1, 2)

    webhook.answer = 200
    beat_after(seconds=60)

    notice.refresh_from_db()
    assert (notice.notified_at, notice.failures, notice.fault) == (NOW + dt.timedelta(seconds=60), 0, "")
    assert (len(mailbox.taken), len(webhook.taken)) == (1, 3)


def test_a_server_that_goes_on_failing_is_tried_less_and_less(webhook):
    low_balance()
    webhook.answer = 500
    beat_after()

    at = 0
    for wait in (15, 30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600):
        webhook.taken.clear()
        beat_after(seconds=at + wait - 1)
        assert webhook.taken == [], wait
        at += wait + 1
        beat_after(seconds=at)
        assert len(webhook.taken) == 1, wait


def test_a_server_that_confirms_nothing_gets_three_in_an_hour(webhook, mailbox, monkeypatch):
    monkeypatch.setattr(ways_module, "DEADLINE_SECONDS", 0.2)
    webhook.is_silent = mailbox.is_silent = True
    low_balance()

    for minutes in (0, 3, 9, 12, 27, 33, 45, 57):
        beat_after(minutes=minutes)

    assert (len(webhook.taken), len(mailbox.taken)) == (3, 3)
    notices = AlertNotice.objects.all()
    assert [(notice.notified_at is not None, notice.fault) for notice in notices] == [(True, "no_answer")] * 2


def test_an_end_that_may_have_arrived_is_not_sent_again(webhook, monkeypatch):
    evaluated(0, is_low=True)
    monkeypatch.setattr(ways_module, "DEADLINE_SECONDS", 0.2)
    webhook.is_silent = True

    for minutes in (1, 7, 20, 60, 600):
        evaluated(minutes, is_low=False)

    assert looks(webhook) == ["warning", "success"]


def test_what_is_due_is_claimed_before_it_is_sent_and_sent_once_by_two(webhook):
    low_balance()
    claims = []

    def send_meanwhile():
        claims.extend(AlertNotice.objects.values_list("not_before", flat=True))
        notify_people()

    webhook.during = send_meanwhile

    beat_after()

    assert claims == [NOW + notifying._CLAIM]
    assert len(webhook.taken) == 1


def test_an_address_is_never_logged(webhook, mailbox, caplog):
    webhook.answer = mailbox.answer = 550
    log = io.StringIO()
    handler = logging.StreamHandler(log)
    logging.getLogger().addHandler(handler)
    caplog.set_level("DEBUG")
    low_balance()

    try:
        beat_after()
    finally:
        logging.getLogger().removeHandler(handler)

    assert log.getvalue().count("alerts_not_confirmed") == 2
    assert not any(part in log.getvalue() for part in ("SECRET", "/hooks", "127.0.0.1", "owner@example.com"))


def test_without_a_way_to_people_nothing_is_sent_or_noted():
    low_balance()

    beat_after()

    assert not AlertNotice.objects.exists()


def test_one_of_a_kind_that_is_gone_or_that_ended_unsent_stops_no_other(webhook):
    keep_alerts("of_another_version", [Reason()])
    low_balance()
    keep_alerts("low_balance", [])
    beat_after()
    assert webhook.taken == []

    low_balance()
    beat_after()

    assert len(webhook.taken) == 1


def test_what_an_evaluation_finds_is_sent_at_once(webhook, monkeypatch):
    monkeypatch.setattr("core.health.silent_processes", lambda: ["beat"])

    tasks.evaluate_alerts()

    (sent,) = webhook.taken
    assert sent["type"] == "failure"
    assert "beat" in sent["title"]
