"""A form that is sent once, when the browser's Stop takes its answer away."""

from typing import Any

import pytest
from playwright.sync_api import CDPSession, Page, Route, expect

from drawers.models import DrawerEntry
from staff.models import User
from staff.roles import create_demo_staff
from testing.sandbox_process import eventually
from tests.drawers.helpers import begin
from tests.journeys.helpers import PHONE, OpenWindow, faults_in, faults_in_all_looks, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]

BUTTON = "#paid-form button[type=submit]"
# A script that changes the address while the form is on its way.
CHANGE_ADDRESS = """navigation.addEventListener("navigate", ({ formData }) =>
    formData && setTimeout(() => history.replaceState(null, "", "#later"), 100))"""


def typed_amount(page: Page, address: str) -> CDPSession:
    """The page of an open drawer with an amount to put in, and the window's Stop button."""
    create_demo_staff()
    begin(User.objects.get(username="cashier"))
    sign_in(page, address, "cashier", "/drawer/")
    page.fill("#paid-form [name=amount]", "25.000")
    page.fill("#paid-form [name=reason]", "Change from the bank")
    return page.context.new_cdp_session(page)


def press(page: Page) -> None:
    """Press the form's button, and wait until the server has done what the form says."""
    with page.expect_request("**/paid/") as sent:
        page.click(BUTTON, no_wait_after=True)
    assert sent.value.method == "POST"
    eventually(lambda: entries() or page.wait_for_timeout(20), within=60)


def entries() -> int:
    return DrawerEntry.objects.filter(reason="Change from the bank").count()


def lose_answer(route: Route) -> None:
    """The server does what the form says; its answer never comes."""
    route.fetch(max_redirects=0)


def test_after_stop_the_same_form_is_sent_again_and_entered_once(live_server: Any, open_window: OpenWindow):
    page = open_window(may_complain=True, language="id-ID")
    window = typed_amount(page, live_server.url)
    page.route("**/paid/", lose_answer, times=1)

    # when the answer is stopped
    press(page)
    window.send("Page.stopLoading")

    # then the page says that it may be done, and the form can be sent
    expect(page.locator("[data-lost-answer]")).to_be_visible()
    expect(page.locator(BUTTON)).not_to_have_attribute("aria-busy", "true")
    assert faults_in_all_looks(page) == []
    assert entries() == 1

    # and the same form again is entered once
    page.click(BUTTON)
    expect(page.locator("#paid-form [name=amount]")).to_have_value("")
    assert entries() == 1


def test_a_form_on_its_way_stays_sent_when_the_address_changes(live_server: Any, open_window: OpenWindow):
    page, sent = open_window(may_complain=True), list[str]()
    page.on("request", lambda request: sent.append(request.method) if request.url.endswith("/paid/") else None)
    page.clock.install()
    window = typed_amount(page, live_server.url)
    page.evaluate(CHANGE_ADDRESS)
    page.route("**/paid/", lose_answer, times=1)

    press(page)
    eventually(lambda: page.url.endswith("#later") or page.wait_for_timeout(20))
    window.send("Page.stopLoading")

    # then nobody knows of the Stop, and a second press sends nothing
    expect(page.locator("#paid-form[data-sent]")).to_be_attached()
    expect(page.locator("[data-lost-answer]")).to_have_count(0)
    page.click(BUTTON)
    expect(page.locator("#paid-form [name=amount]")).to_have_value("25.000")
    assert sent == ["POST"]

    # until no answer can come any more
    page.clock.fast_forward(61_000)
    expect(page.locator("[data-lost-answer]")).to_be_visible()
    assert faults_in(page, [(PHONE, "light")]) == []
    page.click(BUTTON)
    expect(page.locator("#paid-form [name=amount]")).to_have_value("")
    assert entries() == 1
    assert sent == ["POST", "POST"]
