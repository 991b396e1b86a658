""" "Has mine arrived?": from any page by a key, a number, Enter, and the sentence with its WhatsApp link."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from complaints.models import Complaint
from purchases.states import Status
from staff.roles import create_demo_staff
from testing.factories import make_order
from tests.journeys.helpers import OpenWindow, faults_in_all_looks, faults_in_both_languages, faults_of, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def test_a_customer_is_answered_in_two_presses(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    order = make_order(Status.SUCCESS, destination="081234567890", sn="20261122-100045")
    make_order(Status.UNKNOWN, destination="081300001234")
    make_order(Status.FAILED, destination="081400001234")
    page = open_window(language="id-ID")
    sign_in(page, live_server.url, "cashier", "/orders/")

    page.keyboard.press("m")
    expect(page.locator("#arrived-q")).to_be_focused()
    faults = faults_of(page)
    page.keyboard.type("0812 3456 7890")
    page.keyboard.press("Enter")
    expect(page.locator("#answer")).to_have_attribute("data-code", "arrived")
    expect(page.locator("#answer-more")).to_contain_text("20261122-100045")
    page.wait_for_load_state()  # before this, no script reads keys
    with page.expect_popup() as opened:
        page.keyboard.press("w")
    assert opened.value.url.startswith(("https://wa.me/6281234567890", "chrome-error", "about:blank"))
    opened.value.close()
    page.bring_to_front()
    page.keyboard.press("c")
    expect(page.locator("#answer-copy")).to_have_class(re.compile("is-copied"))
    faults += faults_in_both_languages(page)

    page.click("#complaint-new summary")
    page.fill("#open-words", "Belum masuk di HP")
    faults += faults_in_all_looks(page)
    page.click("#complaint-new button[type=submit]")
    expect(page.locator("#complaint-step")).to_be_visible()
    page.fill("#step-words", "Sudah ditanyakan")
    faults += faults_of(page)
    page.click("#complaint-step button[value=asked]")
    expect(page.locator("#complaint-events li")).to_have_count(2)
    page.goto(f"{live_server.url}/complaints/")
    expect(page.locator("tbody tr")).to_have_count(1)
    faults += faults_in_both_languages(page)

    page.goto(f"{live_server.url}/arrived/?q=1234")
    expect(page.locator("#choices li")).to_have_count(2)
    faults += faults_of(page)
    page.goto(f"{live_server.url}{order.get_absolute_url()}")
    page.keyboard.press("m")
    expect(page.locator("#sentence")).to_be_visible()
    assert Complaint.objects.get().state == "asked"
    assert faults == []
