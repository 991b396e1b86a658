"""A second factor in a real browser, whose passkey Chromium keeps in memory."""

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import Page, expect

from testing.people import make_person
from tests.journeys.helpers import (
    PHONE,
    OpenWindow,
    faults_in_all_looks,
    faults_of,
    forget_session,
    with_authenticator,
)

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def with_password(page: Page, address: str, name: str) -> None:
    page.goto(f"{address}/accounts/login/")
    page.fill("[name=login]", name)
    page.fill("[name=password]", "secret-words")
    page.click("main form button[type=submit]")


def test_a_passkey_is_added_confirms_and_signs_in(live_server: Any, open_window: OpenWindow):
    person, other = make_person("admin"), make_person("cashier")
    Authenticator.objects.filter(user=person).delete()
    page = open_window()
    with_authenticator(page)

    with_password(page, live_server.url, "admin")
    expect(page.locator("#owes-factor")).to_be_visible()
    faults = faults_in_all_looks(page)
    page.goto(f"{live_server.url}/me/factors/passkey/")
    page.fill("[name=password]", "secret-words")
    faults += faults_of(page)
    page.click("[data-passkey-new]")
    expect(page.locator("#recovery-codes li")).to_have_count(10)
    faults += faults_in_all_looks(page)

    # when: the older passkey confirms a new one
    page.goto(f"{live_server.url}/me/factors/passkey/")
    page.route("**/me/factors/passkey/options/", without_excluded)  # else: no second key in the same place
    page.click("[data-passkey-new]")
    expect(page.locator("#factors li")).to_have_count(2)
    page.click("#new-codes >> xpath=../summary")
    faults += faults_of(page)

    page.goto(f"{live_server.url}/staff/{other.pk}/")
    page.click("#make-link >> xpath=../summary")
    faults += faults_of(page)
    page.select_option("#role-form [name=role]", "viewer")
    page.click("#role-form [data-passkey]")
    expect(page.locator(".toast-success")).to_be_visible()
    assert other.groups.get().name == "viewer"

    forget_session(page)
    with_password(page, live_server.url, "admin")
    expect(page.locator("#second-step")).to_be_visible()
    faults += faults_in_all_looks(page)
    page.click("#second-step [data-passkey]")
    expect(page.locator("#signed-in-as")).to_be_attached()

    forget_session(page)
    page.goto(f"{live_server.url}/accounts/login/")
    page.click("[data-passkey-sign-in]")
    expect(page.locator("#signed-in-as")).to_be_attached()
    assert faults == []


def test_a_cashier_of_a_real_shop_adds_a_passkey_and_then_sells(
    live_server: Any, open_window: OpenWindow, settings: Any
):
    settings.SANDBOX = False
    make_person("cashier")
    page = open_window(size=PHONE, language="id-ID")
    with_authenticator(page)

    with_password(page, live_server.url, "cashier")
    expect(page.locator("#owes-factor")).to_be_visible()
    faults = faults_of(page)
    page.goto(f"{live_server.url}/counter/")
    expect(page).to_have_url(f"{live_server.url}/me/factors/")
    page.goto(f"{live_server.url}/me/factors/passkey/")
    page.fill("[name=password]", "secret-words")
    page.click("[data-passkey-new]")
    expect(page.locator("#recovery-codes li")).to_have_count(10)

    page.goto(f"{live_server.url}/counter/")
    expect(page).to_have_url(f"{live_server.url}/counter/")
    assert faults == []


def test_a_sign_in_without_an_answer_or_too_often_says_so(live_server: Any, open_window: OpenWindow):
    make_person("cashier")
    page = open_window(size=PHONE, language="id-ID", may_complain=True)
    with_authenticator(page)
    page.goto(f"{live_server.url}/accounts/login/")
    page.evaluate("htmx.config.timeout = 500")  # milliseconds
    page.route("**/options/", lambda _route: None, times=1)
    button, silence = page.locator("[data-passkey-sign-in]"), page.locator("[data-passkey-silence]")

    button.click()
    expect(silence).to_be_visible()
    expect(button).not_to_have_attribute("aria-busy", "true")
    faults = faults_of(page)
    page.evaluate("htmx.config.timeout = 20000")
    button.click()
    expect(page.locator("[data-passkey-error]")).to_be_visible()  # the device has none
    expect(silence).to_be_hidden()

    # when a wrong password is typed too often, then the person reads how long to wait
    for _ in range(6):
        page.fill("[name=login]", "cashier")
        page.fill("[name=password]", "wrong")
        page.click("main form button[type=submit]")
        expect(page.locator("[role=alert]:visible")).to_be_visible()
    expect(page.locator("[data-code=slowed]")).to_be_visible()
    assert faults + faults_of(page) == []


def without_excluded(route: Any) -> None:
    answer = route.fetch()
    options = answer.json()
    options["publicKey"]["excludeCredentials"] = []
    route.fulfill(response=answer, json=options)
