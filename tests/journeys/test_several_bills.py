"""A cashier checks all bills of a customer in the browser and pays them at once."""

import re

import pytest
from playwright.sync_api import Route, expect

from bills.models import BillCheck
from catalogue.models import Product
from customers.models import Customer, SavedNumber
from purchases.models import Order
from purchases.states import Status
from testing.fleet import Fleet
from tests.conftest import Upstream
from tests.journeys.helpers import OpenWindow, faults_of, sign_in

pytestmark = pytest.mark.journey


def bills_of_sari() -> Customer:
    """A customer with three bills, of which the third cannot be paid."""
    customer = Customer.objects.create(name="Bu Sari")
    for code, number in (("PLNPASCA", "531290000001"), ("BPJSKS", "000129000001"), ("FIF", "12290000035")):
        product = Product.objects.get(code=code)
        kind = "meter" if code == "PLNPASCA" else "customer"
        SavedNumber.objects.create(customer=customer, destination=number, product=product, kind=kind)
    return customer


def test_all_bills_of_a_customer_are_checked_chosen_and_paid(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    customer = bills_of_sari()
    page = open_window()
    sign_in(page, shop.url, "cashier", f"/customers/{customer.pk}/")
    faults = faults_of(page)

    page.click("#check-all")
    page.wait_for_url("**/counter/batch/**")
    page.evaluate("window.neverReloaded = true")
    expect(page.locator("#batch-progress progress")).to_have_attribute("value", "3")
    assert page.evaluate("window.neverReloaded")
    faults += faults_of(page)
    payable = BillCheck.objects.filter(answer="bill")
    boxes = page.locator("[name=bill]")
    expect(boxes).to_have_count(payable.count())
    boxes.first.uncheck()
    page.click("#batch-foot button")
    expect(page.locator("#counter-batch[data-ready] #counter-pay")).to_be_focused()
    faults += faults_of(page)
    page.keyboard.press("Enter")

    page.wait_for_url(re.compile(r"/counter/batch/[^/]+/$"))
    expect(page.locator(".batch-row .status-success")).to_have_count(payable.count() - 1)
    faults += faults_of(page)
    assert Order.objects.filter(status=Status.SUCCESS).count() == payable.count() - 1
    assert faults == []


def test_several_bills_whose_answer_is_lost_are_paid_once(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window(may_complain=True)
    customer = bills_of_sari()
    sign_in(page, shop.url, "cashier", f"/customers/{customer.pk}/")
    page.click("#check-all")
    expect(page.locator("[name=bill]")).to_have_count(2)
    expect(page.locator("#batch-progress progress")).to_have_attribute("value", "3")
    page.click("#batch-foot button")
    expect(page.locator("#counter-batch[data-ready] #counter-pay")).to_be_focused()

    def lose(route: Route) -> None:
        assert route.fetch(max_redirects=0).ok
        route.abort()

    # given the bills were paid, and the answer that says so is lost
    page.route("**/counter/batch/*/pay/", lose, times=1)
    page.keyboard.press("Enter")

    # then the pressed form says so, and the strip shows the bills
    expect(page.locator("#counter-batch [data-no-answer]")).to_be_visible()
    expect(page.locator("#counter-pay")).to_be_focused()
    expect(page.locator("#counter-strip [data-run]")).to_have_count(2)
    assert faults_of(page) == []

    # and the next press pays nothing twice
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/counter/batch/[^/]+/$"))
    expect(page.locator("[data-code=payments_placed_before]")).to_be_visible()
    expect(page.locator(".batch-row .status-success")).to_have_count(2)
    orders = list(Order.objects.all())
    assert [upstream.ledger(order) for order in orders] == [[("debit", -order.max_price)] for order in orders]
    assert [len(upstream.calls(order, "pay")) for order in orders] == [1, 1]


def test_without_javascript_several_bills_are_paid(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    customer = bills_of_sari()
    page = open_window(java_script_enabled=False)
    sign_in(page, shop.url, "cashier", f"/customers/{customer.pk}/")

    page.click("#check-all")
    expect(page.locator("#batch-progress progress")).to_have_attribute("value", "3")
    page.click("#batch-foot button")
    page.click("#counter-pay")

    page.wait_for_url(re.compile(r"/counter/batch/[^/]+/$"))
    expect(page.locator(".batch-row .status-success")).to_have_count(2)
    assert [upstream.ledger(order)[0][0] for order in Order.objects.order_by("pk")] == ["debit", "debit"]
