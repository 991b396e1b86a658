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
def test_an_alert_is_on_every_page_also_on_an_open_one(cashier):
    (address,) = re.findall(r'data-alerts="([^"]*)"', head(cashier.get("/orders/")))
    assert cashier.get(address).status_code == 204

    low_balance()

    answer = cashier.get(address)
    (again,) = re.findall(r'data-alerts="([^"]*)"', answer.content.decode())
    assert "alert-line" in answer.content.decode()
    assert cashier.get(again).status_code == 204
    for page in ("/", "/products/", "/orders/", "/bills/", "/me/"):
        assert 'class="alert-line alert-warn"' in head(cashier.get(page)), page
    signed_out = Client().get(NOW)
    assert (signed_out.status_code, signed_out.content) == (204, b"")


@pytest.mark.usefixtures("costs_shown")
def test_an_opened_drawer_asks_for_all_of_it_also_without_scripts(cashier):
    alert = low_balance()
    keep_alerts("order_unknown", [unknown(1)])
    line = head(cashier.get("/orders/"))
    (address,) = re.findall(r'<details[^>]*hx-get="([^"]*)"', line)

    drawer = cashier.get(address, headers={"HX-Request": "true"})

    assert drawer.content.decode().count("alert-next") == 2
    assert "no-store" in drawer["Cache-Control"]  # the same address is a page
    assert f'href="{MINE}"' in line.split('class="alert-drawer"')[1]
    assert f'action="/balance/alerts/{alert.pk}/snooze/"' in cashier.get(MINE).content.decode()


@pytest.mark.parametrize("language", ["en", "id"])
def test_the_worst_is_one_light_line_with_the_others_counted_and_all_behind_it(language):
    admin = browser_of("admin", language=language)
    keep_alerts("order_unknown", [unknown(number) for number in range(49)])

    line = head(admin.get("/orders/"))
    mine, listed = (admin.get(page).content.decode() for page in (MINE, LIST))

    assert len(line.encode()) <= 2048
    assert "<form" not in line
    assert 'data-others="48"' in line
    assert mine.count('data-alert="order_unknown"') == 20
    assert f'href="{LIST}"' in mine
    assert all(f"B-{number}" in listed for number in range(49))


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


def test_a_frozen_upstream_is_announced_on_an_open_page(cashier):
    shown = head(cashier.get("/orders/"))
    assert "alert-line" not in shown
    (address,) = re.findall(r'data-alerts="([^"]*)"', shown)

    for fact in ("unreachable_since", "refused_since"):
        facts = {"unreachable_since": None, "refused_since": None, fact: ago(seconds=5)}
        UpstreamAccount.objects.update_or_create(defaults=facts)

        assert "alert-line" in cashier.get(address).content.decode(), fact


def test_what_the_upstreams_own_line_says_is_not_shown_twice(cashier):
    keep_alerts("unreachable", [Reason(facts={"since": timezone.now().isoformat()})])
    UpstreamAccount.objects.create(unreachable_since=ago(minutes=3))

    assert cashier.get(MINE).content.decode().count('class="alert-item') == 1
    assert "data-others" not in head(cashier.get("/orders/"))


def test_an_ended_alert_leaves_the_pages_and_stays_in_the_list_of_few_queries(
    admin, settings, django_assert_num_queries
):
    UpstreamAccount.objects.create()
    low_balance()
    keep_alerts("low_balance", [])

    assert "alert-line" not in head(admin.get("/"))
    listed = admin.get(LIST).content.decode()
    assert "Rp100.000" in listed
    assert "status-good" in listed
    assert "status-warn" not in listed

    for alerts in (1, 30):
        keep_alerts("order_unknown", [unknown(number) for number in range(alerts)])

        with django_assert_num_queries(6):
            assert admin.get(LIST).status_code == 200

    # the list names the services and never the address
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
