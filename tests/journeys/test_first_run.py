"""A new real shop in a real browser: from the printed key, by the list of first steps, to the first sale."""

import hashlib
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from callbacks.models import Callback
from catalogue.models import PriceRule
from gateway.services import read_balance
from shop.models import Shop
from staff.models import User
from tests.conftest import Upstream
from tests.journeys.helpers import DESKTOP, PHONE, OpenWindow, faults_in_both_languages, faults_of, with_authenticator

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]
PASSWORD = "entirely-other-9"
OWNER = {"full_name": "Ibu Dewi", "username": "dewi", "new_password1": PASSWORD, "new_password2": PASSWORD}


def become_owner(page: Page) -> None:
    for name, typed in OWNER.items():
        page.fill(f"[name={name}]", typed)
    page.click("#first-owner button[type=submit]")
    expect(page.locator("#owes-factor")).to_be_visible()


def invite(page: Page, address: str) -> list[str]:
    """Invite a person; returns the faults that axe finds."""
    page.goto(f"{address}/staff/invite/")
    page.fill("[name=full_name]", "Bu Sari")
    page.select_option("[name=role]", "cashier")
    page.click("#more-fields summary")
    page.fill("[name=per_day]", "1.000.000")
    faults = faults_of(page)
    page.click("main [data-passkey]")
    expect(page.locator("#only-here")).to_be_visible()
    return faults + faults_of(page)


def add_passkey(page: Page, address: str) -> None:
    page.goto(f"{address}/me/factors/passkey/")
    page.fill("[name=password]", PASSWORD)
    page.click("[data-passkey-new]")
    expect(page.locator("#recovery-codes li")).to_have_count(10)


def test_a_new_shop_from_its_key_to_the_counter(
    upstream: Upstream, live_server: Any, open_window: OpenWindow, settings: Any
):
    settings.SANDBOX = False
    settings.FIRST_KEY_DIGEST = hashlib.sha256(b"the-key-of-this-start").hexdigest()
    page = open_window(PHONE, "dark", "id-ID")
    with_authenticator(page)
    faults: list[str] = []

    page.goto(f"{live_server.url}/orders/")
    expect(page.locator("#no-owner")).to_be_visible()
    faults += faults_in_both_languages(page, DESKTOP)
    page.goto(f"{live_server.url}/first/?key=the-key-of-this-start")
    faults += faults_in_both_languages(page, DESKTOP)
    become_owner(page)
    add_passkey(page, live_server.url)
    page.click(".order-actions .btn-primary")
    expect(page).to_have_url(f"{live_server.url}/first-steps/")

    page.goto(f"{live_server.url}/")
    faults += faults_in_both_languages(page, DESKTOP)
    page.click("#first-steps a.btn")
    faults += faults_in_both_languages(page, DESKTOP)
    read_balance()
    Callback.objects.create(content_hash="0" * 64, body=b"{}", headers={}, is_signed=True)
    expect(page.locator("#step-provider .status-good")).to_be_visible()
    expect(page.locator("#step-callback .status-good")).to_be_visible()
    expect(page.locator("#step-catalogue .status-good")).to_be_visible()

    page.click("[href*='target=all:prepaid']")
    expect(page.locator("#new-prices")).to_be_visible()
    page.click("#rule-save [data-passkey]")
    expect(page.locator(".toast-success")).to_be_visible()
    assert PriceRule.objects.filter(value=1500, round_to=500).exists()

    faults += invite(page, live_server.url)
    assert User.objects.get(username="sari").own_per_day == 1_000_000

    page.goto(f"{live_server.url}/first-steps/")
    expect(page.locator("#step-prices .status-good")).to_be_visible()
    expect(page.locator("#step-people")).to_contain_text("Bu Sari")  # invited, and not yet signed in
    expect(page.locator("#step-shop .status-good")).to_have_count(0)
    page.click("#first-sale")
    expect(page.locator("#counter-work")).to_be_visible()
    page.goto(f"{live_server.url}/first-steps/")
    page.click("#close-steps")
    expect(page.locator(".toast-success")).to_be_visible()
    expect(page.locator("#first-steps")).to_have_count(0)
    page.wait_for_load_state("networkidle")  # the overview's requests end with the test
    assert Shop.objects.get().set_up_at is not None
    assert faults == []
