"""Alerts on the pages: to those they concern, with their severity in words, and the next step."""

import pytest
from django.test import Client
from django.utils import timezone

from balance.models import Alert, AlertNotice
from balance.services.alerts import Reason, keep_alerts
from tests.pages.conftest import browser_of
from tests.pages.test_balance_page import words

pytestmark = pytest.mark.django_db

NOON = "2026-11-18T12:00:00+00:00"
Kind, Severity = Alert.Kind, Alert.Severity
LOW = Reason(facts={"available": 100_000, "threshold": 500_000, "hours_left": None})
MISSING = Reason(key="7", severity=Severity.CRITICAL, facts={"difference": 7, "amount": -1, "candidates": []})


def unknown(number: int) -> Reason:
    facts = {"ref_id": f"B-{number}", "amount": 10_500, "since": timezone.now().isoformat()}
    return Reason(key=f"B-{number}", facts=facts)


def head(answer) -> str:
    return answer.content.decode().split('id="alerts"')[1].split("<main")[0]


@pytest.mark.parametrize("page", ["/", "/products/", "/orders/", "/balance/", "/me/"])
def test_an_alert_is_said_on_every_page_with_its_severity_and_next_step(cashier, page):
    keep_alerts(Kind.LOW_BALANCE, [LOW])

    said = words(cashier.get(page))

    assert "Warning The balance is low. Rp100.000 are available" in said
    assert "Top up in the upstream's dashboard" in said


@pytest.mark.parametrize(
    ("kind", "reason", "concerned"),
    [
        (Kind.LOW_BALANCE, LOW, {"cashier", "auditor", "admin"}),
        (Kind.UNEXPLAINED_DIFFERENCE, MISSING, {"auditor", "admin"}),
        (Kind.NOT_COMPARED, Reason(facts={"since": "2026-11-20T01:00:00+00:00"}), {"auditor", "admin"}),
        (Kind.ORDER_UNKNOWN, unknown(1), {"cashier", "auditor", "admin"}),
        (Kind.PROCESS_SILENT, Reason(key="beat", facts={"process": "beat"}), {"cashier", "auditor", "admin"}),
    ],
)
@pytest.mark.parametrize("role", ["", "cashier", "auditor", "admin"])
def test_it_is_shown_to_those_it_concerns(role, kind, reason, concerned):
    keep_alerts(kind, [reason])

    assert ("banner-severity" in head(browser_of(role).get("/me/"))) == (role in concerned)


def test_missing_money_is_critical_comes_first_and_leads_to_the_difference(admin):
    keep_alerts(Kind.LOW_BALANCE, [LOW])
    keep_alerts(Kind.UNEXPLAINED_DIFFERENCE, [MISSING])

    shown = head(admin.get("/orders/"))

    assert shown.index("banner-bad") < shown.index("banner-warn")
    assert "Critical" in shown
    assert 'href="/balance/differences/7/"' in shown


def test_more_than_two_are_counted_and_listed_on_their_page(admin):
    keep_alerts(Kind.ORDER_UNKNOWN, [unknown(number) for number in range(5)])

    page, listed = admin.get("/orders/"), words(admin.get("/balance/alerts/"))

    assert head(page).count("banner-severity") == 2
    assert "3 more alerts." in words(page)
    assert all(f"B-{number}" in listed for number in range(5))


def test_what_the_banner_about_the_upstream_says_is_not_said_twice(cashier):
    keep_alerts(Kind.UPSTREAM_UNREACHABLE, [Reason(facts={"since": timezone.now().isoformat()})])

    assert "banner-severity" not in head(cashier.get("/orders/"))


@pytest.mark.parametrize("kind", Kind.values)
def test_every_kind_has_words_even_with_the_facts_of_an_older_version(admin, kind):
    keep_alerts(kind, [Reason(key="x", facts={"difference": 1} if kind == Kind.UNEXPLAINED_DIFFERENCE else {})])

    assert admin.get("/balance/alerts/").status_code == 200


def test_an_ended_alert_leaves_the_pages_and_stays_in_the_list(admin):
    keep_alerts(Kind.LOW_BALANCE, [LOW])
    keep_alerts(Kind.LOW_BALANCE, [])

    assert "banner-severity" not in head(admin.get("/"))
    assert "Over" in words(admin.get("/balance/alerts/"))
    assert "The balance is low." in words(admin.get("/balance/alerts/"))


def test_a_page_that_stays_open_gets_them_anew_and_one_that_is_signed_out_is_left_alone(cashier):
    keep_alerts(Kind.LOW_BALANCE, [LOW])

    assert "The balance is low." in words(cashier.get("/balance/alerts/now/"))
    gone = Client().get("/balance/alerts/now/")
    assert (gone.status_code, gone.content) == (204, b"")


def test_the_list_says_where_alerts_are_sent_and_never_the_address(admin, settings):
    assert "shown on these pages only" in words(admin.get("/balance/alerts/"))
    settings.ALERT_WEBHOOK_URL = "https://hooks.example.com/bot123:SECRET/x"
    settings.ALERT_EMAILS = ["owner@example.com"]

    page = words(admin.get("/balance/alerts/"))

    assert "Alerts are also sent by: E-mail, Webhook." in page
    assert "SECRET" not in page


def test_books_that_were_changed_behind_the_software_say_by_how_much(auditor):
    keep_alerts(Kind.UNEXPLAINED_DIFFERENCE, [Reason(key="books", facts={"books_off_by": -7})])

    assert "The books do not add up by Rp7." in words(auditor.get("/orders/"))


def test_books_that_are_not_compared_say_since_when_and_lead_to_what_they_wait_for(auditor):
    keep_alerts(Kind.NOT_COMPARED, [Reason(facts={"since": "2026-11-20T01:00:00+00:00"})])

    page = auditor.get("/orders/")

    assert "have not been compared with the upstream's balance for long" in words(page)
    assert "08:00" in words(page)
    assert 'href="/balance/"' in head(page)


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"failures": 2, "fault": "HTTP 500"}, "E-mail: failed (HTTP 500), tried again"),
        ({"fault": "timeout", "told_at": NOON}, "not confirmed (timeout)"),
        ({"told_at": NOON}, "E-mail: 18 Nov 2026, 19:00"),
        ({}, "E-mail: not yet"),
    ],
)
def test_the_list_says_how_the_telling_went(admin, facts, said):
    keep_alerts(Kind.LOW_BALANCE, [LOW])
    AlertNotice.objects.create(alert=Alert.objects.get(), channel="email", **facts)

    page = words(admin.get("/balance/alerts/"))

    assert said in page
    assert ("not confirmed" in page) == ("told_at" in facts and "fault" in facts)


def test_a_change_whose_amount_hangs_on_an_order_leads_to_that_order(admin):
    facts = {"to_at": timezone.now().isoformat(), "amounts": [-1, 10_499], "orders": ["B-77"]}
    keep_alerts(Kind.UNEXPLAINED_DIFFERENCE, [Reason(key="undecided", severity=Severity.CRITICAL, facts=facts)])

    page = admin.get("/balance/")

    assert "It is one of these amounts: -Rp1, Rp10.499." in words(page)
    assert 'href="/orders/B-77/"' in head(page)
