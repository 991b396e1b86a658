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


def test_money_missing_at_the_bank_leads_to_what_is_missing_for_people_who_may_open_it(alert):
    Group.objects.get(name="administrator").permissions.remove(Permission.objects.get(codename="view_credit"))
    owner, other = browser_of("admin"), browser_of("administrator")
    for page in ("/work/", "/work/first/"):
        shown, without_address = owner.get(page), other.get(page)

        assert amounts_at(shown, 'id="work-missing"') == amounts_at(without_address, 'id="work-missing"') == ["Rp5.500"]
        address = re.search(r'id="work-missing" href="([^"]+)"', shown.content.decode())[1].replace("&amp;", "&")
        assert re.fullmatch(r"/bank/\?since=\S+&show=missing#bank-part", address), page
        assert re.search('<a id="work-missing">', without_address.content.decode()), page


def test_it_is_said_while_the_alert_is_open_to_people_who_see_it(alert):
    owner, pages = make_person("admin"), ("/work/", "/work/first/")
    browser, cashier = signed_in(owner), browser_of("cashier")

    assert not any(has_id(cashier.get(page), "work-missing") for page in pages)
    snooze(alert, pause=Pause.HOUR, person=owner)
    assert all(has_id(browser.get(page), "work-missing") for page in pages), "the bar alone hides it"
    keep_alerts("bank_missing", [])
    assert not any(has_id(browser.get(page), "work-missing") for page in pages)
