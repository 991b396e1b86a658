"""A day with a drawer in a real browser: opened, used for sales, counted, handed over, signed."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from drawers.models import Shift
from staff.models import User
from staff.roles import create_demo_staff
from tests.drawers.helpers import end, end_of_day, sell
from tests.journeys.helpers import OpenWindow, faults_in_all_looks, faults_in_both_languages, faults_of, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def count(page: Page, **pieces: int) -> None:
    """Type the number of each banknote."""
    for name, number in pieces.items():
        page.fill(f"[name={name}]", str(number))


def sell_and_give_back(window: Page, address: str, cashier: User) -> list[str]:
    """Make a sale that is paid with more than its price, and a failed one that is given back; the pages' faults."""
    order = end(sell(cashier, 10_500), "success")
    failed = end(sell(cashier, 5_000), "failed")
    window.goto(f"{address}/orders/{order.ref_id}/")
    window.click("#change-payment summary")
    for way, field in (("card", "reference"), ("credit", "customer"), ("qris", ""), ("cash", "cash_given")):
        window.check(f"#correct-payment [value={way}]")
        shown = window.locator("#correct-payment .field [name]:not([type=radio]):visible")
        assert shown.evaluate_all("inputs => inputs.map(input => input.name)") == ([field] if field else [])
    window.fill("#paid-cash_given", "20.000")
    window.click("#correct-payment button[type=submit]")
    expect(window.locator("[data-code=payment_noted]")).to_be_visible()
    faults = faults_of(window)
    window.goto(f"{address}/refunds/")
    expect(window.locator("tbody tr")).to_have_count(1)
    faults += faults_in_both_languages(window)
    window.get_by_text(failed.ref_id).locator("xpath=ancestor::tr").locator("a").first.click()
    window.click("#refund-message summary")
    expect(window.locator("#refund-text")).to_have_value(re.compile(r"Rp5\.000"))
    faults += faults_in_all_looks(window)
    window.click("#give-back button[type=submit]")
    expect(window.locator("#sale-refund")).to_be_visible()
    window.goto(f"{address}/refunds/?state=given")
    expect(window.locator("tbody tr")).to_have_count(1)

    return faults + faults_in_both_languages(window)


def close_and_sign(owner: Page, address: str) -> list[str]:
    """Have the owner close the open shift and sign the day; returns the pages' faults."""
    shift = Shift.objects.get(closed_at=None)
    owner.goto(f"{address}/shifts/{shift.pk}/close/")
    count(owner, pieces_100000=2)
    owner.click("#close-shift button[type=submit]")
    expect(owner.locator("[data-code=closed]")).to_be_visible()
    owner.goto(f"{address}/shifts/")
    faults = faults_in_both_languages(owner)
    owner.goto(f"{address}/shifts/{shift.pk}/?paper=80")
    faults += faults_in_both_languages(owner)
    owner.goto(f"{address}/shifts/days/{end_of_day()}/")
    faults += faults_in_both_languages(owner)
    owner.click("#to-sign")
    faults += faults_in_both_languages(owner)
    owner.click("#sign-day button")
    expect(owner.locator("#signed")).to_be_visible()
    faults += faults_of(owner)
    return faults


def test_a_day_with_a_drawer(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    address, cashier = live_server.url, User.objects.get(username="cashier")
    owner, window = open_window(language="id-ID"), open_window(language="id-ID")
    sign_in(owner, address, "owner", "/drawers/")
    owner.fill("#id_name", "Laci depan")
    owner.click("#drawer-add button")
    expect(owner.locator("[data-drawer]")).to_have_count(1)
    faults = faults_in_both_languages(owner)

    sign_in(window, address, "cashier", "/drawer/")
    # Enter leads from row to row and to the button, arrows change no number.
    window.focus("[name=pieces_100000]")
    for key in ("1", "ArrowDown", "ArrowUp", *["Enter"] * 2, "5", *["Enter"] * 8):
        window.keyboard.press(key)
    expect(window.locator("#open-drawer button[type=submit]")).to_be_focused()
    expect(window.locator("#counted")).to_have_text("Rp200.000")
    faults += faults_in_all_looks(window)
    window.click("#open-drawer button[type=submit]")
    expect(window.locator("#expected-now")).to_have_attribute("data-amount", "200000")

    faults += sell_and_give_back(window, address, cashier)
    window.goto(f"{address}/drawer/")
    expect(window.locator("#expected-now")).to_have_attribute("data-amount", "210500")
    window.fill("#paid-form [name=amount]", "10.000")
    window.fill("#paid-form [name=reason]", "Bensin")
    window.click("#paid-form button[type=submit]")
    expect(window.locator("#expected-now")).to_have_attribute("data-amount", "200500")
    faults += faults_in_both_languages(window)

    window.click("#count-and-close")
    count(window, pieces_100000=2)
    expect(window.locator("#off-by")).to_be_visible()
    faults += faults_in_all_looks(window)
    window.click("#close-shift button[type=submit]")
    expect(window.locator("#id_reason_error")).to_be_visible()
    expect(window.locator("[name=reason]")).to_be_focused()
    window.fill("[name=reason]", "Tidak ada uang kecil")
    window.select_option("[name=to]", str(User.objects.get(username="supervisor").pk))
    window.fill("[name=secret]", "supervisor-demo")
    window.click("#close-shift button[type=submit]")
    expect(window.locator("#handed-to")).to_be_visible()
    faults += faults_of(window)

    faults += close_and_sign(owner, address)
    assert faults == []
