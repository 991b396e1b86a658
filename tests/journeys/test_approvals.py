"""The approvals in a browser: a queue is worked off by keyboard."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from staff.roles import create_demo_staff
from tests.approvals.helpers import ask_purchase, cashier
from tests.journeys.helpers import DESKTOP, PHONE, SMALL_PHONE, OpenWindow, faults_in, faults_of, sign_in
from tests.ledger.helpers import open_books

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def test_given_a_queue_then_keys_open_the_right_form(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    open_books(1_000_000)
    sari = cashier(own_approval_above=10_000)
    ask_purchase(sari, "081234567890")
    second = ask_purchase(sari, "081234567891")
    page = open_window(language="id-ID")
    sign_in(page, live_server.url, "supervisor", "/approvals/")
    faults = faults_of(page)

    for key in "jjkj":
        page.keyboard.press(key)
    expect(page.locator("[data-pick]:focus")).to_have_attribute("href", second.get_absolute_url())
    page.keyboard.press("a")
    expect(page.locator("#approve-form button[type=submit]")).to_be_focused()
    faults += faults_in(page, [(DESKTOP, "light"), (SMALL_PHONE, "dark")])

    page.goto(f"{live_server.url}/approvals/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("r")
    expect(page.locator("#id_reason")).to_be_focused()
    page.keyboard.type("Later")
    page.keyboard.press("Enter")
    expect(page.locator("#state")).to_have_attribute("data-state", "refused")
    assert faults == []


def test_given_approvals_in_work_then_the_same_keys_decide_beside_the_list(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    open_books(1_000_000)
    sari = cashier(own_approval_above=10_000)
    first, second = (ask_purchase(sari, f"08123456789{n}") for n in range(2))
    page = open_window()
    sign_in(page, live_server.url, "supervisor", "/work/?kind=approval")
    page.set_viewport_size({"width": 1440, "height": 900})
    faults = faults_of(page)

    # when: the panel is open, the cursor moves to the second request, and the person decides at once
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("[data-beside-page] #approve")).to_be_visible()
    page.keyboard.press("j")
    expect(page.locator("[data-beside-page] #approve-form")).to_have_attribute(
        "action", f"/approvals/{second.pk}/approve/"
    )
    page.keyboard.press("a")
    expect(page.locator("[data-beside-page] #approve")).to_have_attribute("open", "")

    # then: the other request is refused by keys alone, and its row goes
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page.locator("[data-beside-page] #refuse-form")).to_have_attribute(
        "action", f"/approvals/{first.pk}/refuse/"
    )
    page.keyboard.press("r")
    expect(page.locator("#id_reason")).to_be_focused()
    page.keyboard.type("Later")
    page.keyboard.press("Enter")
    expect(page.locator("#results tr[id^=row-]")).to_have_count(1)
    first.refresh_from_db()
    assert (first.state, faults) == ("refused", [])


def test_on_a_phone_the_decision_is_in_sight_before_and_while_it_is_made(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    open_books(1_000_000)
    asked = ask_purchase(cashier(own_approval_above=10_000), "081234567890")
    for language, scheme in (("en-GB", "light"), ("id-ID", "dark")):
        page = open_window(size=PHONE, scheme=scheme, language=language)
        sign_in(page, live_server.url, "supervisor", asked.get_absolute_url())

        assert are_in_sight(page, "#approve > summary", "#refuse > summary"), language
        faults = faults_of(page)
        page.click("#refuse > summary")
        assert are_in_sight(page, "#id_reason", "#refuse-form button"), language
        page.click("#approve > summary")
        assert are_in_sight(page, "#refuse-form button"), language
        assert faults + faults_of(page) == []


def are_in_sight(page: Page, *selectors: str) -> bool:
    """Whether each stands whole above the tabs."""
    end = page.locator(".tabbar").bounding_box()["y"]
    boxes = [page.locator(selector).bounding_box() for selector in selectors]
    return all(box["y"] >= 0 and box["y"] + box["height"] <= end for box in boxes)
