"""A person hides one alert for a while: only from their own pages, and not a new or a graver alert."""

import datetime as dt

import pytest
from django.utils import timezone

from alerts.kinds.kind import Reason
from alerts.models import Alert, AlertSnooze, Severity
from alerts.services.evaluating import keep_alerts
from audit.models import AuditEvent
from testing.people import browser_of
from tests.alerts.helpers import LOW, low_balance, unknown

pytestmark = pytest.mark.django_db


def shown(browser) -> list[str]:
    """The alerts in the drawer of this person's pages."""
    page = browser.get("/balance/alerts/mine/", headers={"HX-Request": "true"}).content.decode()
    return [part.split('"', maxsplit=1)[0] for part in page.split('data-alert="')[1:]]


def snooze(browser, alert: Alert, pause: str = "1h", **more):
    return browser.post(f"/balance/alerts/{alert.pk}/snooze/", {"for": pause}, **more)


def test_a_hidden_alert_is_gone_for_oneself_alone_and_comes_back(cashier, time_machine):
    alert, other = low_balance(), browser_of("auditor")
    for pause, minutes in [("15m", 15), ("1h", 60)]:
        now = timezone.now()
        time_machine.move_to(now, tick=False)

        assert snooze(cashier, alert, pause)["Location"] == "/balance/alerts/mine/"

        assert (shown(cashier), shown(other)) == ([], ["low_balance"])
        time_machine.move_to(now + dt.timedelta(minutes=minutes - 1), tick=False)
        assert shown(cashier) == []
        time_machine.move_to(now + dt.timedelta(minutes=minutes, seconds=1), tick=False)
        assert shown(cashier) == ["low_balance"], pause


def test_until_tomorrow_ends_at_midnight_in_the_shop(cashier, time_machine):
    time_machine.move_to("2026-11-22T22:50:00+07:00", tick=False)

    snooze(cashier, low_balance(), "tomorrow")

    assert AlertSnooze.objects.get().until == dt.datetime.fromisoformat("2026-11-23T00:00:00+07:00")


def test_hiding_and_showing_again_are_recorded_with_the_person(cashier):
    alert = low_balance()

    snooze(cashier, alert)
    mine = cashier.get("/balance/alerts/mine/").content.decode()
    snooze(cashier, alert, "now")

    assert 'data-hidden-alert="low_balance"' in mine
    assert shown(cashier) == ["low_balance"]
    events = AuditEvent.objects.filter(kind__in=["alert_snoozed", "alert_shown_again"]).order_by("pk")
    assert [(event.kind, event.person.username, event.subject) for event in events] == [
        ("alert_snoozed", "cashier", "low_balance"),
        ("alert_shown_again", "cashier", "low_balance"),
    ]


def test_a_graver_or_a_new_alert_of_the_same_kind_is_shown(cashier):
    keep_alerts("order_unknown", [unknown(1)])
    snooze(cashier, Alert.objects.get(), "tomorrow")
    keep_alerts("order_unknown", [unknown(1), unknown(2)])
    assert shown(cashier) == ["order_unknown"]
    keep_alerts("order_unknown", [])

    for worse in (
        Reason(severity=Severity.CRITICAL, facts=LOW.facts),
        Reason(facts=LOW.facts | {"available": 20_000}),
    ):
        snooze(cashier, low_balance(), "tomorrow")
        keep_alerts("low_balance", [Reason(facts=LOW.facts | {"available": LOW.facts["available"] + 1})])
        assert shown(cashier) == []

        keep_alerts("low_balance", [worse])

        assert shown(cashier) == ["low_balance"], worse
        keep_alerts("low_balance", [])


def test_nobody_hides_an_alert_that_is_not_theirs_or_is_over_nor_for_another_time(cashier):
    keep_alerts("difference", [Reason(key="7", facts={"difference": 7, "amount": -1})])
    alert = low_balance()
    for pause in ("", "2h", "tomorrow\x00", "now "):
        assert snooze(cashier, alert, pause).status_code == 404
    keep_alerts("low_balance", [])

    assert snooze(cashier, Alert.objects.get(kind="difference")).status_code == 404
    assert snooze(cashier, alert).status_code == 404
    assert not AlertSnooze.objects.exists()


def test_an_open_page_gets_its_head_again_with_the_next_alert(cashier):
    low_balance()
    keep_alerts("order_unknown", [unknown(1)])

    answer = snooze(cashier, Alert.objects.get(kind="low_balance"), headers={"HX-Request": "true"})

    page = answer.content.decode()
    assert (page.count('data-alert="'), page.count('data-hidden-alert="')) == (1, 1)
    assert 'id="alert-line" data-menu open' in page
