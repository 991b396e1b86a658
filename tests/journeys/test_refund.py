"""A sale fails after the customer has paid: the money is on the shop's list until a person gives it back."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from staff.models import User
from staff.roles import create_demo_staff
from tests.drawers.helpers import begin, end, sell
from tests.journeys.helpers import OpenWindow, faults_in_all_looks, faults_in_both_languages, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def test_what_a_customer_paid_is_given_back_from_the_list(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    address, cashier = live_server.url, User.objects.get(username="cashier")
    begin(cashier, cash=100_000)
    order = end(sell(cashier, 10_500, destination="081234567890"), "failed")
    end(sell(cashier, 5_000, destination="081234567891"), "rejected")
    page = open_window(language="id-ID")
    sign_in(page, address, "cashier", "/refunds/")

    expect(page.locator("tbody tr")).to_have_count(2)
    faults = faults_in_both_languages(page)
    page.get_by_text(order.ref_id).locator("xpath=ancestor::tr").locator("a").first.click()
    expect(page.locator("#sale-owed")).to_be_visible()
    page.click("#refund-message summary")
    expect(page.locator("#refund-text")).to_have_value(re.compile(r"Rp10\.500"))
    faults += faults_in_all_looks(page)
    page.click("#give-back button[type=submit]")
    expect(page.locator("#sale-refund")).to_be_visible()

    page.goto(f"{address}/refunds/?state=given")
    expect(page.locator("tbody tr")).to_have_count(1)
    faults += faults_in_both_languages(page)
    page.goto(f"{address}/refunds/")
    expect(page.locator("#count-work")).to_contain_text("1")
    assert faults == []
