"""A drawer that was closed or opened with a large difference is an alert until its day is signed."""

import pytest

from alerts.kinds import in_words
from alerts.models import Alert
from alerts.services import evaluate_alerts
from drawers.services import close_shift, sign_day
from testing.people import make_person
from tests.drawers.helpers import begin, end_of_day, pieces_of

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_large_difference_is_an_alert_until_the_day_is_signed(settings):
    settings.POLICIES = {"drawer_difference_limit": 5_000, "alert_low_balance": 0}
    for name, counted in (("small", 95_000), ("large", 94_900)):
        shift = begin(make_person("cashier", username=name), cash=100_000)
        close_shift(shift, pieces=pieces_of(counted), actor=shift.cashier, reason="?")

    evaluate_alerts()
    alert = Alert.objects.get(kind="drawer_difference")
    assert (alert.facts["name"], alert.closed_at) == ("large", None)
    sign_day(end_of_day(), actor=make_person("admin"))
    evaluate_alerts()

    alert.refresh_from_db()
    assert alert.closed_at is not None


def test_a_large_difference_at_the_opening_is_an_alert_of_its_own(settings):
    settings.POLICIES = {"drawer_difference_limit": 5_000, "alert_low_balance": 0}
    first = begin(cash=100_000)
    close_shift(first, pieces=pieces_of(100_000), actor=first.cashier)
    second = begin(first.cashier, drawer=first.drawer, cash=94_900)

    evaluate_alerts()
    opened = Alert.objects.get(kind="drawer_difference")
    assert (opened.facts["shift"], opened.facts["difference"], opened.closed_at) == (second.pk, -5_100, None)
    close_shift(second, pieces=pieces_of(100_000), actor=first.cashier, reason="found again")
    small = begin(first.cashier, drawer=first.drawer, cash=95_000)
    close_shift(small, pieces=pieces_of(95_000), actor=first.cashier)
    evaluate_alerts()

    alerts = Alert.objects.filter(kind="drawer_difference").order_by("pk")
    assert [(alert.facts["shift"], alert.facts["difference"]) for alert in alerts] == [
        (second.pk, -5_100),
        (second.pk, 5_100),
    ]
    assert len({in_words(alert).title for alert in alerts}) == 2
    sign_day(end_of_day(), actor=make_person("admin"))
    evaluate_alerts()
    assert not Alert.objects.open().filter(kind="drawer_difference").exists()
