"""A cashier buys a product in the browser and watches it succeed."""

import re

import pytest
from playwright.sync_api import Page, expect

from purchases.models import Order
from purchases.states import Status
from testing.fleet import Fleet
from testing.sandbox_process import eventually
from tests.conftest import Upstream
from tests.journeys.helpers import OpenWindow, sign_in

pytestmark = pytest.mark.journey

SUCCEEDS_AFTER_A_WHILE = "081290000002"


def open_sent(page: Page) -> None:
    """The page of the order that was just sent at the counter, by its link in the strip."""
    ref_id = page.locator("#counter-said[data-sent]").get_attribute("data-sent")
    page.locator(f"[data-ref='{ref_id}'] .run-what").press("Enter")
    page.wait_for_url(f"**/orders/{ref_id}/")


def test_a_product_is_bought_with_the_keyboard_alone(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window(permissions=["clipboard-read", "clipboard-write"])
    page.goto(shop.url)
    page.fill("[name=login]", "cashier")
    page.fill("[name=password]", "cashier-demo")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{shop.url}/")

    # The product: type, Enter for the first result, Enter to open it.
    page.goto(f"{shop.url}/products/")
    expect(page.locator("[autofocus]")).to_be_focused()
    page.keyboard.type("Telkomsel 10.000")
    expect(page).to_have_url(re.compile(r"\?q=Telkomsel\+10\.000$"))
    expect(page.locator("[data-pick]").first).to_have_text("Telkomsel 10.000")
    page.keyboard.press("Enter")
    expect(page.locator("[data-pick]").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    # At the counter, the product chosen: the number; then the review; then it is sent.
    page.wait_for_url("**/counter/?product=TSEL10")
    expect(page.locator(".sell-pinned")).to_contain_text("Telkomsel 10.000")
    expect(page.locator("#counter-q")).to_be_focused()
    page.keyboard.type("+62 812 9000 0003")
    page.keyboard.press("Enter")
    expect(page.locator("#counter-review[data-ready]")).to_be_visible()
    expect(page.locator("#review-number")).to_have_text("0812 9000 0003")
    expect(page.locator("[data-send]")).to_be_focused()
    page.keyboard.press("Enter")

    # The order from the strip: in process first, then success, on the same page.
    open_sent(page)
    expect(page.locator("h1")).to_be_focused()
    page.evaluate("window.neverReloaded = true")
    expect(page.locator(".order-status .status-pending")).to_be_visible()
    upstream.control("settle", ref_id=Order.objects.get().ref_id, status="success")
    expect(page.locator(".order-status .status-success")).to_be_visible()
    assert page.evaluate("window.neverReloaded")
    assert page.title().startswith("Success: Telkomsel 10.000 0812-9000-0003")
    assert page.locator("#order-announce").inner_text() == "Status: Success"
    assert page.locator("#live").get_attribute("hx-get") is None

    order = Order.objects.get()
    assert order.status == Status.SUCCESS
    assert page.locator("#serial").inner_text() == order.sn
    page.keyboard.press("c")
    expect(page.locator("[data-copy] [data-copy-label]")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == order.sn
    assert upstream.ledger(order) == [("debit", -order.shown_price)]

    # Back leads to the counter; it does not repeat the last press.
    page.go_back()
    expect(page.locator("#counter-q")).to_be_focused()
    expect(page.locator("#counter-review")).to_have_count(0)
    assert Order.objects.count() == 1


def test_a_double_click_buys_once_and_the_list_follows(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page, list_page = open_window(), open_window()
    sign_in(list_page, shop.url, "cashier", path=None)
    sign_in(page, shop.url, "cashier", "/products/")
    expect(page.locator("#q")).to_be_focused()

    # The number and the denomination are typed in one field.
    page.keyboard.type(f"{SUCCEEDS_AFTER_A_WHILE} 10")
    expect(page).to_have_url(re.compile(rf"\?q=10&destination={SUCCEEDS_AFTER_A_WHILE}$"))
    expect(page.locator("[data-pick]").first).to_have_text("Telkomsel 10.000")
    page.keyboard.press("Enter")
    expect(page.locator("[data-pick]").first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/counter/?product=TSEL10&q=*")
    expect(page.locator("#counter-q")).to_have_value(SUCCEEDS_AFTER_A_WHILE)

    page.keyboard.press("Enter")
    expect(page.locator("#counter-review[data-ready]")).to_be_visible()
    page.dblclick("[data-send]")
    expect(page.locator("#counter-said[data-sent]")).to_be_visible()
    list_page.goto(f"{shop.url}/orders/")
    list_page.evaluate("window.neverReloaded = true")

    expect(list_page.locator("#results tbody tr")).to_have_count(1)
    expect(list_page.locator("#results .status-success")).to_be_visible()
    assert list_page.evaluate("window.neverReloaded")
    order = eventually(lambda: Order.objects.filter(status=Status.SUCCESS).first())
    assert Order.objects.count() == 1
    assert len(upstream.ledger(order)) == 1
