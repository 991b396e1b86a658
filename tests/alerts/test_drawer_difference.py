"""A drawer that was closed with a large difference is an alert until its day is signed."""

import pytest
from django.utils import timezone

from alerts.models import Alert
from alerts.services import evaluate_alerts
from drawers.services import close_shift, sign_day
from tests.drawers.helpers import begin, pieces_of
from tests.people import make_person

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_large_difference_is_an_alert_until_the_day_is_signed(settings):
    settings.DRAWER_DIFFERENCE_LIMIT = 5_000
    for name, counted in (("small", 95_000), ("large", 94_900)):
        shift = begin(make_person("cashier", username=name), cash=100_000)
        close_shift(shift, pieces=pieces_of(counted), actor=shift.cashier, reason="?")

    evaluate_alerts()
    found = Alert.objects.get(kind="drawer_difference")
    assert (found.facts["name"], found.closed_at) == ("large", None)
    sign_day(timezone.localdate(), actor=make_person("admin"))
    evaluate_alerts()

    found.refresh_from_db()
    assert found.closed_at is not None
