"""In a browser, with the real processes: a top-up and a secret debit at the upstream, and people's decisions."""

import re

import pytest
from playwright.sync_api import expect

from alerts.models import Alert
from ledger.models import Entry
from purchases.models import Order
from purchases.states import Status
from reconciliation.models import Difference
from reconciliation.tasks import read_balance
from testing.fleet import Fleet
from testing.sandbox_process import eventually
from tests.conftest import Upstream
from tests.journeys.helpers import PHONE, OpenWindow, sign_in

pytestmark = pytest.mark.journey

SUCCEEDS = "081290000001"


def test_a_top_up_appears_by_itself_and_is_acknowledged(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    read_balance()  # a page that is shown before asks again after 20 s
    page = open_window()
    sign_in(page, shop.url, "admin")
    page.keyboard.press("s")
    page.wait_for_url(f"{shop.url}/balance/")
    expect(page.locator(".status-line")).to_contain_text("Balanced")

    upstream.control("topup", amount=1_234_567)
    page.click("#reported-title >> xpath=../.. >> button")
    page.wait_for_url(f"{shop.url}/balance/")
    page.evaluate("window.neverReloaded = true")
    expect(page.locator(".difference-panel")).to_contain_text("+Rp1.234.567")
    assert page.evaluate("window.neverReloaded")
    page.fill(".difference-panel [name=note]", "BCA, by Sari")
    page.click(".difference-panel button[type=submit]")

    page.wait_for_url("**/balance/differences/*/")
    expect(page.locator("[data-acknowledged-by=admin]")).to_be_visible()
    page.goto(f"{shop.url}/balance/statement/?kind=topup")
    expect(page.locator("#results tbody tr")).to_contain_text("+Rp1.234.567")
    expect(page.locator("#results tbody tr")).to_contain_text("BCA, by Sari")
    with page.expect_download() as download:
        page.click("a:has-text('CSV')")
    assert re.fullmatch(r"statement-[\d-]+\.csv", download.value.suggested_filename)
    with page.expect_download() as download:
        page.click("#make-xlsx")
    assert download.value.suggested_filename.endswith(".xlsx")

    # then: after a comparison without the open top-up, the day is explained
    def is_explained() -> bool:
        read_balance()
        page.goto(f"{shop.url}/balance/closing/")
        return page.get_attribute("#provider-standing", "data-standing") == "explained"

    eventually(is_explained, within=60)
    expect(page.locator("#adds-up")).to_be_visible()


def test_a_missing_rupiah_is_adjusted_by_two_people(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    first, second = open_window(), open_window(size=PHONE)
    sign_in(first, shop.url, "admin", path=None)
    sign_in(second, shop.url, "owner", path=None)
    read_balance()
    upstream.control("account", balance=upstream.control("account")["balance"] - 1)
    read_balance()
    # A reading by the shop's own processes at the same moment may put off the comparison until it ends.
    eventually(Difference.objects.exists, within=60)
    assert Difference.objects.get().amount == -1
    # a page that is shown before asks again after 30 s
    eventually(Alert.objects.filter(kind="difference").exists, within=60)

    first.goto(f"{shop.url}/orders/")
    expect(first.locator("#alert-line.alert-bad > summary")).to_contain_text("Rp1")
    first.click("#alert-line > summary")
    first.click("#alert-line [data-alert=difference] a")
    first.fill("[name=reason]", "fee of the bank")
    first.click("button:has-text('Propose')")
    expect(first.locator("[data-code=own_proposal]")).to_be_visible()
    expect(first.locator("button:has-text('Approve')")).to_have_count(0)

    second.goto(f"{shop.url}/balance/")
    expect(second.locator("section:has(#reported-title) .figure")).to_be_visible()
    second.click("[data-step=decide]")
    second.click("#approve > summary")
    second.click("#approve-form button[type=submit]")
    expect(second.locator("[data-state=approved]")).to_be_visible()
    second.click("#subject")
    expect(second.locator("[data-acknowledged-by=owner]").first).to_be_visible()

    entry = Entry.objects.get(kind="adjustment")
    assert (entry.balance_change, entry.reason, entry.actor.username) == (-1, "fee of the bank", "owner")


def test_an_order_waits_for_a_top_up_and_goes_by_itself(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    upstream.control("account", balance=1_000)
    read_balance()
    page = open_window()
    sign_in(page, shop.url, "cashier", f"/counter/?q={SUCCEEDS} 10")

    page.keyboard.press("Enter")
    page.locator("#counter-review[data-ready]").wait_for()
    page.click("button[name=confirm][value=wait]")
    order = eventually(Order.objects.first)
    page.goto(f"{shop.url}/orders/{order.ref_id}/")
    expect(page.locator("[data-code=waits_for_topup]")).to_be_visible()
    assert upstream.ledger(Order.objects.get()) == []

    upstream.control("topup", amount=100_000)
    read_balance()

    expect(page.locator(".order-status .status-success")).to_be_visible()
    order = eventually(lambda: Order.objects.filter(status=Status.SUCCESS).first())
    assert upstream.ledger(order) == [("debit", -order.shown_price)]


def test_without_javascript_a_top_up_is_announced_and_arrives(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    read_balance()
    page = open_window(java_script_enabled=False)
    sign_in(page, shop.url, "admin", "/balance/")

    page.fill("#topup-amount", "50.000")
    page.click("button:has-text('Announce')")
    expect(page.locator("#balance-differences")).to_contain_text("Rp50.000")
    upstream.control("topup", amount=50_000)
    read_balance()

    def has_arrived() -> bool:
        page.reload()
        return "Arrived" in page.locator("#balance-differences").inner_text()

    eventually(has_arrived, within=60)  # the shop's own worker may be comparing at the same moment
    assert Entry.objects.get(kind="topup").amount == 50_000
