"""A debt in a real browser: allowed by the owner, made in the review, paid in part, reminded of, listed by age."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from customers.models import Customer, SavedNumber
from drawers.services import take_credit_payment
from purchases.models import Order
from staff.models import User
from staff.roles import create_demo_staff
from testing.factories import make_product
from tests.credit.helpers import account_of, owed_by, sell_to, take_off
from tests.customers.helpers import make_customer
from tests.drawers.helpers import begin, end
from tests.journeys.helpers import OpenWindow, faults_in_all_looks, faults_in_both_languages, faults_of, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]

NUMBER = "081234567890"


def ref_id_of(window: Page) -> str | None:
    """The ref_id of the order that was just sent at the counter."""
    return window.locator("#counter-said[data-sent]").get_attribute("data-sent")


def open_review(window: Page, address: str, code: str, number: str) -> None:
    """Open the review of this sale, and wait until it takes a press."""
    window.goto(f"{address}/counter/review/?product={code}&q={number}")
    expect(window.locator("#counter-review[data-ready]")).to_be_visible()


def sell_with_enter(window: Page, address: str, code: str) -> None:
    """Send the review as it opens, by one key, paid in cash."""
    open_review(window, address, code, "081234567899")
    expect(window.locator("[data-send]")).to_be_focused()
    window.keyboard.press("Enter")
    expect(window.locator("#counter-said[data-sent]")).to_be_visible()


def faults_of_a_failed_sale(window: Page, address: str, customer: Customer) -> list[str]:
    """The faults of the pages on which a failed sale comes off the account."""
    failed = end(sell_to(customer, 5_000, by=User.objects.get(username="cashier"), destination=NUMBER), "failed")
    window.goto(f"{address}/customers/{customer.pk}/credit/")
    expect(window.locator("#to-take-off")).to_have_attribute("data-amount", "5000")
    faults = faults_of(window)
    window.goto(f"{address}/refunds/")
    expect(window.locator("[data-on-credit]")).to_have_count(1)
    faults += faults_in_both_languages(window)
    window.goto(f"{address}{failed.get_absolute_url()}")
    expect(window.locator("#sale-owed")).to_have_attribute("data-code", "less")
    window.click("#refund-message summary")
    faults += faults_in_all_looks(window)
    window.click("#give-back button[type=submit]")
    expect(window.locator("#sale-refund")).to_have_attribute("data-code", "less")
    faults += faults_of(window)
    return faults


def faults_of_a_payout(window: Page, address: str, customer: Customer) -> list[str]:
    """The faults of the page of a payout, after a paid sale has failed."""
    cashier = User.objects.get(username="cashier")
    take_credit_payment(account_of(customer), amount=owed_by(customer), method="qris", actor=cashier)
    take_off(end(Order.objects.get(destination=NUMBER, status="queued"), "failed"), actor=cashier)
    window.goto(f"{address}/customers/{customer.pk}/credit/")
    expect(window.locator("#credit-payout [name=amount]")).to_have_value("10.500")
    faults = faults_of(window)
    window.click("#credit-payout button[type=submit]")
    expect(window.locator("[data-code=credit_paid_out]")).to_be_visible()
    expect(window.locator("#owed")).to_have_attribute("data-amount", "0")
    return faults


def test_a_debt_from_the_review_to_its_payment(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    address, product, customer = live_server.url, make_product(), make_customer("Bu Sri")
    SavedNumber.objects.create(customer=customer, destination=NUMBER, kind="phone")
    begin(User.objects.get(username="cashier"), cash=100_000)
    owner, window = open_window(language="id-ID"), open_window(language="id-ID")

    # given: the owner allows it
    sign_in(owner, address, "owner", f"/customers/{customer.pk}/")
    owner.click("#credit-page")
    faults = faults_in_both_languages(owner)
    owner.fill("#terms-cap", "50.000")
    owner.click("#credit-terms button[type=submit]")
    expect(owner.locator("[data-code=credit_saved]")).to_be_visible()

    # when: the cashier sells in cash with one key, and to the customer on credit
    sign_in(window, address, "cashier", path=None)
    sell_with_enter(window, address, product.code)
    open_review(window, address, product.code, NUMBER)
    window.click("[data-pays=F3]")
    expect(window.locator("#id_paid_by_customer")).to_have_value("Bu Sri")
    expect(window.locator("#pay-debt [data-then]")).to_have_text("Rp10.500")
    window.fill("#id_paid_by_customer", "Bu S")
    expect(window.locator("#pay-debt")).to_be_hidden()
    window.click("[data-send]")
    window.click("[data-means]")
    expect(window.locator("#counter-review[data-ready]")).to_be_visible()
    expect(window.locator("#id_paid_by_customer")).to_have_value("Bu Sri")
    expect(window.locator("[data-send]")).to_be_focused()
    window.fill("#id_paid_by_customer", "bu sri")
    expect(window.locator("#pay-debt [data-cap]")).to_have_text("Rp50.000")
    faults += faults_in_all_looks(window)
    window.click("[data-send]")
    window.click(f"[data-ref='{ref_id_of(window)}'] .run-what")
    expect(window.locator("#sale-debtor")).to_be_visible()
    faults += faults_of(window)

    # when: a part of it is paid in cash
    window.goto(f"{address}/customers/{customer.pk}/credit/")
    expect(window.locator("#owed")).to_have_attribute("data-amount", "10500")
    expect(window.locator("#reminder-whatsapp")).to_be_visible()
    faults += faults_in_both_languages(window)
    window.fill("#credit-payment [name=amount]", "4.000")
    window.click("#credit-payment button[type=submit]")
    expect(window.locator("[data-code=credit_paid]")).to_be_visible()
    expect(window.locator("#owed")).to_have_attribute("data-amount", "6500")
    window.goto(f"{address}/drawer/")
    expect(window.locator("#expected-now")).to_have_attribute("data-amount", "114500")

    # when: an order on credit fails, it comes off the account
    faults += faults_of_a_failed_sale(window, address, customer)

    # then: the owner sees it by age
    owner.goto(f"{address}/credit/")
    expect(owner.locator("#owed-in-all")).to_have_attribute("data-amount", "6500")
    faults += faults_in_both_languages(owner)
    owner.click("#results a")
    expect(owner.locator("#debts")).to_be_visible()
    assert (owed_by(customer), account_of(customer).cap) == (6_500, 50_000)
    faults += faults_of_a_payout(window, address, customer)
    assert faults == []
