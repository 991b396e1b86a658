"""PostgreSQL goes away at the moment of a purchase: the page says so, and buys by itself when it is back."""

import pytest
from playwright.sync_api import expect

from purchases.models import Order
from testing.database import away_for_the_app
from testing.fleet import Fleet
from tests.conftest import Upstream
from tests.journeys.helpers import OpenWindow, faults_of, sign_in

pytestmark = pytest.mark.journey


def test_a_purchase_without_the_database_is_made_once_when_it_is_back(
    shop: Fleet, upstream: Upstream, open_window: OpenWindow
):
    # given a cashier who has looked at what is to be bought
    page = open_window()
    sign_in(page, shop.url, "cashier")
    page.goto(f"{shop.url}/products/TSEL10/buy/?review=1&destination=081290000001")

    # when the database is away at the press of the button
    with away_for_the_app():
        page.click("button[name=confirm]")

        # then the page says that nothing was bought, and keeps trying
        expect(page.locator("[data-outcome=nothing]")).to_be_visible()
        assert faults_of(page) == []
        assert not Order.objects.exists()
        with page.expect_response(lambda answer: answer.status == 503):
            pass
        expect(page.locator("[data-outcome=nothing]")).to_be_visible()

    # and once the database is back the order is placed without another press, and charged once
    page.wait_for_url("**/orders/*/")
    expect(page.locator(".order-status .status-success")).to_be_visible()
    order = Order.objects.get()
    assert upstream.ledger(order) == [("debit", -order.shown_price)]
