"""Alerts on the pages: for the people they concern, with the next step; fresh also on a page that stays open."""

import re

import pytest
from django.test import Client
from django.utils import timezone, translation

from alerts.kinds.kind import Reason
from alerts.models import AlertNotice
from alerts.services.evaluating import keep_alerts
from gateway.models import UpstreamAccount
from testing.people import browser_of
from tests.alerts.helpers import LOW, MISSING, ago, low_balance, unknown

pytestmark = pytest.mark.django_db

MINE = "/balance/alerts/mine/"
NOW = "/balance/alerts/now/"
LIST = "/balance/alerts/"


def head(answer) -> str:
    return answer.content.decode().split('id="alerts"')[1].split("<main")[0]


@pytest.mark.usefixtures("costs_shown")
def test_an_alert_is_on_every_page(cashier):
    low_balance()

    for page in ("/", "/products/", "/orders/", "/bills/", "/me/"):
        assert 'class="alert-line alert-warn"' in head(cashier.get(page)), page


@pytest.mark.usefixtures("costs_shown")
def test_an_opened_drawer_asks_for_all_of_it_with_the_next_steps(cashier):
    low_balance()
    keep_alerts("order_unknown", [unknown(1)])
    line = head(cashier.get("/orders/"))
    (address,) = re.findall(r'<details[^>]*hx-get="([^"]*)"', line)

    drawer = cashier.get(address, headers={"HX-Request": "true"})

    assert drawer.content.decode().count("alert-next") == 2
    assert "no-store" in drawer["Cache-Control"]  # the same address is a page


def test_without_scripts_the_drawer_leads_to_the_page_that_hides_them(cashier):
    alert = low_balance()
    drawer = head(cashier.get("/orders/")).split('class="alert-drawer"')[1]

    assert f'href="{MINE}"' in drawer
    assert f'action="/balance/alerts/{alert.pk}/snooze/"' in cashier.get(MINE).content.decode()


@pytest.mark.parametrize("language", ["en", "id"])
def test_the_line_weighs_little_however_many_alerts(language):
    admin = browser_of("admin", language=language)
    keep_alerts("order_unknown", [unknown(number) for number in range(71)])

    shown = head(admin.get("/orders/"))

    assert len(shown.encode()) <= 2048
    assert "<form" not in shown


def test_it_is_shown_to_those_it_concerns():
    browsers = {role: browser_of(role) for role in ("", "cashier", "auditor", "admin")}

    for kind, reason, concerned in [
        ("low_balance", LOW, {"cashier", "auditor", "admin"}),
        ("difference", MISSING, {"auditor", "admin"}),
        ("books_off", Reason(facts={"amount": 7}), {"auditor", "admin"}),
        ("not_compared", Reason(), {"auditor", "admin"}),
        ("order_unknown", unknown(1), {"cashier", "auditor", "admin"}),
        ("process_silent", Reason(key="beat"), {"cashier", "auditor", "admin"}),
    ]:
        keep_alerts(kind, [reason])

        shown = {role for role, browser in browsers.items() if "alert-severity" in head(browser.get("/me/"))}
        assert shown == concerned, kind
        keep_alerts(kind, [])


def test_missing_money_comes_first_and_links_to_the_difference(admin):
    low_balance()
    keep_alerts("difference", [MISSING])

    shown, listed = head(admin.get("/orders/")), admin.get(MINE).content.decode()

    assert listed.index("alert-item alert-bad") < listed.index("alert-item alert-warn")
    assert 'class="alert-line alert-bad"' in shown
    assert 'href="/balance/differences/7/"' in listed


def test_the_worst_is_one_line_with_the_others_counted_and_all_behind_it(admin):
    keep_alerts("order_unknown", [unknown(number) for number in range(25)])

    shown, mine, listed = (admin.get(page).content.decode() for page in ("/orders/", MINE, LIST))

    assert 'data-others="24"' in shown
    assert mine.count('data-alert="order_unknown"') == 20
    assert f'href="{LIST}"' in mine
    assert all(f"B-{number}" in listed for number in range(25))


@pytest.mark.parametrize("facts", [{"unreachable_since": ago(seconds=5)}, {"refused_since": ago(seconds=5)}])
def test_a_frozen_upstream_is_announced_on_an_open_page(cashier, facts):
    shown = head(cashier.get("/orders/"))
    assert "alert-line" not in shown
    (address,) = re.findall(r'data-alerts="([^"]*)"', shown)

    UpstreamAccount.objects.update_or_create(defaults=facts)

    assert "alert-line" in cashier.get(address).content.decode()


def test_what_the_upstreams_own_line_says_is_not_shown_twice(cashier):
    keep_alerts("unreachable", [Reason(facts={"since": timezone.now().isoformat()})])
    UpstreamAccount.objects.create(unreachable_since=ago(minutes=3))

    assert cashier.get(MINE).content.decode().count('class="alert-item') == 1
    assert "data-others" not in head(cashier.get("/orders/"))


@pytest.mark.usefixtures("costs_shown")
def test_an_open_page_gets_what_is_new_and_nothing_otherwise(cashier):
    (address,) = re.findall(r'data-alerts="([^"]*)"', head(cashier.get("/orders/")))
    assert cashier.get(address).status_code == 204

    low_balance()

    answer = cashier.get(address)
    (again,) = re.findall(r'data-alerts="([^"]*)"', answer.content.decode())
    assert "alert-line" in answer.content.decode()
    assert cashier.get(again).status_code == 204


def test_an_open_page_is_left_alone_after_signing_out():
    low_balance()

    answer = Client().get(NOW)

    assert (answer.status_code, answer.content) == (204, b"")


def test_an_ended_alert_leaves_the_pages_and_stays_in_the_list(admin):
    low_balance()
    keep_alerts("low_balance", [])

    assert "alert-line" not in head(admin.get("/"))
    listed = admin.get(LIST).content.decode()
    assert "Rp100.000" in listed
    assert "status-good" in listed
    assert "status-warn" not in listed


def test_the_list_names_the_services_and_never_the_address(admin, settings):
    settings.ALERT_URLS = ["json://hooks.example.com/SECRET", "mailto://mail.example.com?from=a@b.id&to=owner@b.id"]

    listed = admin.get(LIST).content.decode()

    assert "JSON, E-Mail" in listed
    assert not any(secret in listed for secret in ("SECRET", "hooks.example.com", "owner@b.id"))


def test_the_list_says_in_ones_language_what_became_of_it():
    client = browser_of("admin", language="id")
    alert = low_balance()
    facts = {"alert": alert, "service": "Telegram"}
    AlertNotice.objects.create(**facts, way="1", fault="failed", failures=2)
    AlertNotice.objects.create(**facts, way="2", fault="no_answer", failures=1, notified_at=timezone.now())
    AlertNotice.objects.create(**facts, way="3", notified_at=timezone.now())

    listed = client.get(LIST).content.decode()

    with translation.override("id"):
        labels = [str(fault.label) for fault in AlertNotice.Fault]
    assert all(f">{label}<" in listed for label in labels)
    assert "gagal" in labels


@pytest.mark.parametrize("role", ["cashier", "admin"])
def test_the_head_takes_few_queries_however_many_alerts(role, django_assert_num_queries):
    """The queries: session, person with permissions, the account with the alerts."""
    client = browser_of(role)
    UpstreamAccount.objects.create()
    keep_alerts("order_unknown", [unknown(number) for number in range(30)])

    with django_assert_num_queries(3):
        assert client.get(NOW).status_code == 200


def test_the_list_takes_few_queries_however_many_alerts(admin, django_assert_num_queries):
    UpstreamAccount.objects.create()
    for alerts in (1, 30):
        keep_alerts("order_unknown", [unknown(number) for number in range(alerts)])

        with django_assert_num_queries(6):
            assert admin.get(LIST).status_code == 200
