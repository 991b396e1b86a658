"""Work and the overview name the money missing at the bank, as the alert about it does."""

import datetime as dt
import re

import pytest
from django.contrib.auth.models import Group, Permission
from django.utils import timezone

from alerts.kinds.kind import Reason
from alerts.models import Alert
from alerts.services import Pause, snooze
from alerts.services.evaluating import keep_alerts
from testing.people import browser_of, make_person, signed_in
from tests.core.helpers import amounts_at, has_id

pytestmark = pytest.mark.django_db


@pytest.fixture
def alert():
    day = (timezone.localdate() - dt.timedelta(days=1)).isoformat()
    keep_alerts("bank_missing", [Reason(facts={"amount": 5_500, "number": 1, "first": day, "last": day})])
    return Alert.objects.get()


@pytest.mark.parametrize("page", ["/work/", "/work/first/"])
def test_money_missing_at_the_bank_leads_to_what_is_missing(alert, page):
    owner = browser_of("admin")

    shown = owner.get(page)

    assert amounts_at(shown, 'id="work-missing"') == ["Rp5.500"]
    address = re.search(r'id="work-missing" href="([^"]+)"', shown.content.decode())[1].replace("&amp;", "&")
    assert re.fullmatch(r"/bank/\?since=\S+&show=missing#bank-part", address)


@pytest.mark.parametrize("page", ["/work/", "/work/first/"])
def test_it_leads_nowhere_for_people_who_may_not_open_the_bank(alert, page):
    Group.objects.get(name="administrator").permissions.remove(Permission.objects.get(codename="view_credit"))

    shown = browser_of("administrator").get(page)

    assert amounts_at(shown, 'id="work-missing"') == ["Rp5.500"]
    assert re.search('<a id="work-missing">', shown.content.decode())


@pytest.mark.parametrize("page", ["/work/", "/work/first/"])
def test_it_is_said_while_the_alert_is_open_to_people_who_see_it(alert, page):
    owner = make_person("admin")
    browser = signed_in(owner)

    assert not has_id(browser_of("cashier").get(page), "work-missing")
    snooze(alert, pause=Pause.HOUR, person=owner)
    assert has_id(browser.get(page), "work-missing"), "the bar alone hides it"
    keep_alerts("bank_missing", [])
    assert not has_id(browser.get(page), "work-missing")
