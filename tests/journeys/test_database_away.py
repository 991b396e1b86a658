"""PostgreSQL goes away at the moment of a sale: the counter says so, and one more press when it is back sells once."""

import pytest
from playwright.sync_api import expect

from purchases.models import Order
from purchases.states import Status
from testing.database import away_for_the_app
from testing.fleet import Fleet
from testing.sandbox_process import eventually
from tests.conftest import Upstream
from tests.journeys.helpers import OpenWindow, faults_of, sign_in

pytestmark = pytest.mark.journey


REVIEW = "/counter/review/?product=TSEL10&q=081290000001"


def assert_sold_once(upstream: Upstream) -> None:
    order = eventually(lambda: Order.objects.filter(status=Status.SUCCESS).first())
    assert Order.objects.count() == 1
    assert upstream.ledger(order) == [("debit", -order.shown_price)]


def test_a_sale_without_the_database_is_made_once_when_it_is_back(
    shop: Fleet, upstream: Upstream, open_window: OpenWindow
):
    # given a cashier at an open review
    page = open_window(may_complain=True)
    sign_in(page, shop.url, "cashier", REVIEW)
    expect(page.locator("#counter-review[data-ready]")).to_be_visible()

    # when the database is away at the press of the key
    with away_for_the_app():
        page.keyboard.press("Enter")

        # then the review says so, and does not change
        expect(page.locator("#counter-review [data-no-answer]")).to_be_visible()
        expect(page.locator("[data-send]")).to_be_focused()
        assert faults_of(page) == []
        assert not Order.objects.exists()

    # and once the database is back one more press sells it, and it is charged once
    page.keyboard.press("Enter")
    expect(page.locator("#counter-said[data-sent]")).to_be_visible()
    assert_sold_once(upstream)


def test_without_a_script_the_page_of_the_fault_holds_the_sale(
    shop: Fleet, upstream: Upstream, open_window: OpenWindow
):
    # given the review, in a browser that runs no scripts
    page = open_window(java_script_enabled=False)
    sign_in(page, shop.url, "cashier", REVIEW)

    # when the database is away at the press of the button, then the page says that nothing was bought
    with away_for_the_app():
        page.click("[data-send]")
        expect(page.locator("[data-outcome=nothing]")).to_be_visible()
        assert not Order.objects.exists()

    # and its button sells it once the database is back
    page.click(".fault button")
    page.wait_for_url(f"{shop.url}/counter/")
    assert_sold_once(upstream)
