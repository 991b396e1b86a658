"""A till in a real browser: enrolled with a code, taken over by keyboard, locked for the next cashier."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from customers.models import Customer
from purchases.models import Order
from staff.models import User
from staff.roles import create_demo_staff
from testing.factories import make_product
from tests.journeys.helpers import (
    OpenWindow,
    faults_in_all_looks,
    faults_in_both_languages,
    faults_of,
    sign_in,
    take_over,
)
from tests.tills.helpers import PIN, give_pin

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def enrolled(page: Page, address: str, name: str) -> str:
    """The code for a till, which an owner makes in this window."""
    page.goto(f"{address}/tills/add/")
    page.fill("[name=name]", name)
    page.click("#till-add button.btn-primary")
    code = page.get_attribute("#till-code", "data-code-of-till")
    assert code
    return code


def test_a_till_is_enrolled_taken_over_and_locked(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    for name in ("cashier", "supervisor"):
        give_pin(User.objects.get(username=name))
    owner, till = open_window(language="id-ID"), open_window(language="id-ID")
    sign_in(owner, live_server.url, "owner", "/tills/")
    faults = faults_of(owner)
    code = enrolled(owner, live_server.url, "Kasir depan")
    faults += faults_in_all_looks(owner)

    till.goto(f"{live_server.url}/till/")
    faults += faults_of(till)
    till.fill("[name=code]", code.lower())
    till.keyboard.press("Enter")
    expect(till.locator("#till-name")).to_have_text("Kasir depan")
    faults += faults_in_both_languages(till)

    till.keyboard.type("kas")
    till.keyboard.press("Enter")
    expect(till.locator("#id_pin")).to_be_focused()
    till.keyboard.type(PIN)
    expect(till.locator("#pin-session")).to_be_visible()
    faults += faults_in_both_languages(till)
    till.goto(f"{live_server.url}/me/")
    faults += faults_of(till)

    till.goto(f"{live_server.url}/")
    till.keyboard.press("n")
    expect(till.locator("[data-who]")).to_be_focused()
    till.click(".name-tile >> nth=1")
    expect(till.locator("#id_pin")).to_be_focused()
    till.keyboard.type("937150")
    expect(till.locator("[data-code=WrongPin]")).to_be_visible()
    expect(till.locator(".name-tile input:checked")).to_have_count(1)
    till.wait_for_load_state()  # before this, no script reads the PIN
    expect(till.locator("#id_pin")).to_be_focused()
    till.keyboard.type(PIN)
    expect(till.locator("#pin-session strong")).to_contain_text("Supervisor")

    till.goto("about:blank")  # an open page asks by itself, and would be the one that says it
    owner.goto(f"{live_server.url}/tills/")
    owner.click(".row-link")
    faults += faults_of(owner)
    owner.click("details.with-note summary")
    owner.click("#switch-off button")
    till.goto(f"{live_server.url}/")
    expect(till.locator("#was-a-till")).to_be_visible()
    faults += faults_in_both_languages(till)
    assert faults == []


def test_without_scripts_a_till_is_taken_over(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    for name in ("cashier", "supervisor"):
        give_pin(User.objects.get(username=name))
    owner, till = open_window(), open_window(java_script_enabled=False)
    sign_in(owner, live_server.url, "owner", path=None)
    till.goto(f"{live_server.url}/till/")
    till.fill("[name=code]", enrolled(owner, live_server.url, "Kasir 1"))
    till.click("main form button.btn-primary")

    till.locator(".name-tile", has_text="Kasir").click()
    till.fill("#id_pin", PIN)
    till.click("#take-over button[type=submit]")

    expect(till.locator("#pin-session")).to_be_visible()
    till.click("[data-next-cashier]")
    expect(till.locator("#take-over")).to_be_visible()


def test_what_is_left_in_another_tab_does_nothing_and_says_so(live_server: Any, open_window: OpenWindow):
    # given a review and a form in two tabs, and another person who takes over in a third
    create_demo_staff()
    product = make_product()
    for name in ("cashier", "supervisor"):
        give_pin(User.objects.get(username=name))
    owner, till = open_window(), open_window()
    sign_in(owner, live_server.url, "owner", path=None)
    till.goto(f"{live_server.url}/till/")
    till.fill("[name=code]", enrolled(owner, live_server.url, "Kasir 1"))
    till.keyboard.press("Enter")
    take_over(till, "Kasir")
    form = till.context.new_page()
    form.goto(f"{live_server.url}/customers/add/")
    form.fill("[name=name]", "Bu Sari")
    till.goto(f"{live_server.url}/counter/review/?product={product.code}&q=081234567890")
    expect(till.locator("#counter-review[data-ready]")).to_be_visible()
    other = till.context.new_page()
    other.goto(f"{live_server.url}/till/")
    take_over(other, "Supervisor")

    # when a form of the person before is sent, then it does nothing, and the page says it
    form.locator("main form button.btn-primary").click()
    expect(form.locator("#fault-taken-over")).to_be_visible()
    assert not Customer.objects.exists()
    assert faults_of(form) == []

    # when the button of the review is pressed, then nothing is sold, and the page says it
    till.locator("[data-send]").click()
    expect(till.locator("[data-code=form_expired]")).to_be_visible()
    assert not Order.objects.exists()

    # and the same review is the next person's now
    expect(till.locator("#pin-session")).to_contain_text("Supervisor")
    expect(till.locator("#counter-review[data-ready]")).to_be_visible()
    till.locator("[data-send]").click()
    expect(till.locator("#counter-said")).to_be_visible()
    assert Order.objects.get().placed_by.username == "supervisor"
