"""A sign-in through a provider, in a real browser that goes there and comes back."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from approvals.models import Approval
from staff.models import User
from staff.roles import create_demo_staff
from tests.journeys.helpers import DESKTOP, PHONE, OpenWindow, faults_in, faults_of, forget_session, sign_in
from tests.staff.oidc_provider import OidcProvider

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def test_a_person_comes_from_the_provider_and_leaves(live_server: Any, open_window: OpenWindow, provider: OidcProvider):
    page = open_window(size=PHONE, scheme="dark", language="id-ID")
    faults: list[str] = []

    page.goto(f"{live_server.url}/accounts/login/?next=/orders/")
    expect(page.locator("#oidc-sign-in")).to_contain_text("Akun Toko")
    faults += faults_of(page)
    page.click("#oidc-sign-in")
    expect(page).to_have_url(f"{live_server.url}/orders/")
    expect(page.locator("#own-role")).to_have_attribute("data-role", "cashier")
    faults += faults_in_menu(page)

    page.goto(f"{live_server.url}/accounts/logout/")
    page.click("main form button[type=submit]")
    expect(page.locator("#oidc-sign-in")).to_be_visible()
    page.goto(f"{live_server.url}/orders/")
    expect(page.locator("#oidc-sign-in")).to_be_visible()

    provider.claims["groups"] = ["strangers"]
    page.click("#oidc-sign-in")
    expect(page.locator("[data-code=no_role]")).to_contain_text("Akun Toko")
    faults += faults_of(page)
    provider.cancels = True
    page.click("#oidc-sign-in")
    expect(page.locator("[data-code=cancelled]")).to_be_visible()
    assert faults == []


def faults_in_menu(page: Page) -> list[str]:
    """The faults of the page with the person's menu open."""
    page.locator("[data-menu]:has(.menu-who) summary").filter(visible=True).click()
    expect(page.locator("[data-menu][open] strong").filter(visible=True).first).to_be_visible()
    return faults_of(page)


def test_a_role_that_waits_is_approved_by_an_owner(live_server: Any, open_window: OpenWindow, provider: OidcProvider):
    create_demo_staff()
    provider.claims["groups"] = ["spv"]
    page = open_window()

    page.goto(f"{live_server.url}/accounts/login/")
    expect(page.locator("#oidc-sign-in")).to_contain_text("Akun Toko")
    faults = faults_of(page)
    page.click("#oidc-sign-in")
    expect(page.locator("[data-code=role_waits]")).to_be_visible()
    expect(page.locator("#own-role")).to_have_attribute("data-role", "cashier")
    faults += faults_in(page, [(PHONE, "dark"), (DESKTOP, "light")]) + faults_in_menu(page)

    forget_session(page)
    sign_in(page, live_server.url, "owner", f"{Approval.objects.get().get_absolute_url()}")
    page.click("#approve summary")
    page.click("#approve-form button[type=submit]")
    expect(page.locator("#state")).to_have_attribute("data-state", "approved")
    assert User.objects.get(username="sari").groups.get().name == "supervisor"
    assert faults == []
