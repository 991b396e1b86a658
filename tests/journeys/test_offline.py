"""A phone loses its connection: the browser shows the one page that it keeps, and the shop's pages afterwards."""

from typing import Any

import pytest
from playwright.sync_api import expect

from purchases.models import Order
from staff.roles import create_demo_staff
from testing.factories import make_product
from tests.journeys.helpers import PHONE, OpenWindow, faults_of, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]

KEPT = "async () => (await (await caches.open('offline')).keys()).map(request => request.url)"


def test_without_a_connection_it_says_what_is_safe_and_sells_nothing_later(live_server: Any, open_window: OpenWindow):
    # given a cashier with a review on a phone, whose browser has the worker
    create_demo_staff()
    product = make_product()
    page = open_window(size=PHONE, may_complain=True, service_workers="allow")
    sign_in(page, live_server.url, "cashier")
    page.evaluate("navigator.serviceWorker.ready")
    review = f"{live_server.url}/counter/review/?product={product.code}&q=081234567890"
    page.goto(review)
    expect(page.locator("#counter-review")).to_be_visible()

    # when the connection is gone and a page is opened
    page.context.set_offline(True)
    page.goto(f"{live_server.url}/orders/")

    # then the page says in both languages what is safe, and no other page comes
    expect(page.locator("#no-connection section")).to_have_count(2)
    for language in ("id", "en"):
        expect(page.locator(f"section[lang={language}] .safe")).to_contain_text("ref_id")
    assert faults_of(page) == []
    assert page.evaluate("getComputedStyle(document.querySelector('.safe')).padding") != "0px", "its own style holds"
    page.goto(review)
    expect(page.locator("#no-connection")).to_be_visible()
    assert page.evaluate(KEPT) == [f"{live_server.url}/offline/"]

    # and with the connection the requested page is there again; nothing was sold meanwhile
    page.context.set_offline(False)
    page.click("section[lang=en] a.first")
    expect(page.locator("#counter-review")).to_be_visible()
    assert not Order.objects.exists()
