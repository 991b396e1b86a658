"""Saved views of the orders list: own, shared, counted, with days that stay relative."""

import datetime as dt

import pytest
from django.contrib.messages import get_messages
from django.utils import timezone

from exports import services
from exports.models import SavedView
from purchases.states import Status
from testing.factories import make_order
from testing.people import browser_of

pytestmark = pytest.mark.django_db


def shown(browser, query=""):
    """The views of the row: name, count, and the sharing person."""
    views = browser.get(f"/orders/views/?{query}").context["views"]
    return [(view.name, view.count, view.by) for view in views][1:]


def save(browser, query, **fields):
    return browser.post(f"/orders/views/save/?{query}", {"name": "Mine", **fields})


def test_a_view_keeps_relative_days_and_counts_its_orders(cashier):
    answer = save(cashier, "days=today&status=success&q=")
    make_order(Status.SUCCESS)
    make_order(Status.SUCCESS, created_at=timezone.now() - dt.timedelta(days=2), destination="081234567891")

    assert answer["Location"] == "/orders/?status=success&days=today"
    assert SavedView.objects.get().query == "status=success&days=today"
    assert shown(cashier) == [("Mine", "1", "")]


def test_only_people_who_see_all_sales_share_and_never_a_customer(cashier):
    supervisor = browser_of("supervisor", first_name="Rina")
    save(cashier, "status=failed", name="Of a cashier", is_shared="on")
    save(supervisor, "q=0812", name="Of a customer", is_shared="on")
    save(supervisor, "status=failed", name="Failed", is_shared="on")

    assert shown(cashier) == [("Failed", "0", "Rina"), ("Of a cashier", "0", "")]


def test_a_shared_view_shows_no_more_than_the_viewer_may_see(cashier):
    make_order(Status.SUCCESS, selling_price=20_000, destination="081234567891")
    save(browser_of("supervisor"), "profit=loss", is_shared="on")

    assert shown(cashier)[0][1] == "1"  # the filter is left out: it would show which orders lose money


def test_the_same_name_replaces_and_an_own_view_is_forgotten(cashier):
    save(cashier, "status=failed")
    save(cashier, "status=success")
    view = SavedView.objects.get()
    browser_of("supervisor").post(f"/orders/views/{view.pk}/delete/")
    assert view.query == "status=success"
    assert SavedView.objects.exists()

    cashier.post(f"/orders/views/{view.pk}/delete/")

    assert not SavedView.objects.exists()


def test_a_view_needs_valid_filters_and_a_name(cashier):
    for query, name in (("", "Mine"), ("status=nonsense", "Mine"), ("status=failed", " ")):
        save(cashier, query, name=name)
        assert not SavedView.objects.exists(), (query, name)


def test_a_person_has_so_many_views_at_most(cashier, monkeypatch):
    monkeypatch.setattr(services, "MOST_VIEWS", 1)
    save(cashier, "status=failed")

    answer = save(cashier, "status=failed", name="Another")

    assert SavedView.objects.count() == 1
    assert [message.level_tag for message in get_messages(answer.wsgi_request)] == ["error"]
