"""Find anything, by the keyboard alone: open it on any page, type, choose, narrow, and reach the wanted page."""

import re
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from purchases.states import Status
from staff.roles import create_demo_staff
from testing.factories import make_order
from tests.customers.helpers import make_customer
from tests.journeys.helpers import PHONE, OpenWindow, faults_in_all_looks, faults_of, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]

NUMBER = "081298765432"


@pytest.fixture
def shop():
    """A customer with an order, and its staff."""
    create_demo_staff()
    make_customer("Bu Sari", (NUMBER, "phone"))
    return make_order(Status.SUCCESS, destination=NUMBER)


def test_from_any_page_a_number_leads_to_the_sale_the_order_and_the_answer(
    live_server: Any, open_window: OpenWindow, shop
):
    page = open_window(language="id-ID")
    sign_in(page, live_server.url, "cashier", "/orders/")
    window, field, results = page.locator("dialog#find"), page.locator("#find-q"), page.locator("#find-results")

    # then: slash and Ctrl+K open it, Escape closes it
    page.keyboard.press("/")
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(window).to_be_hidden()
    page.keyboard.press("Control+k")
    expect(field).to_be_focused()
    expect(results.locator("[data-group=pages] [data-found]").first).to_be_visible()

    # then: a number has its acts on top, and axe finds no fault
    page.keyboard.type(NUMBER[-5:])
    expect(results.locator("[data-group=customers]")).to_contain_text("Bu Sari")
    expect(results.locator("[data-group=do]")).to_be_visible()
    faults = faults_in_all_looks(page)

    # when: Tab narrows to a kind, and Shift+Tab goes back
    page.keyboard.press("Tab")
    expect(results.locator("section")).to_have_count(1)
    expect(results.locator("[data-group=do]")).to_be_visible()
    page.keyboard.press("Tab")
    expect(results.locator("section")).to_have_attribute("data-group", "customers")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    expect(results.locator("section").nth(2)).to_be_visible()

    # when: the arrows choose, and M asks whether it has arrived
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(results.locator("[data-found]").nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    expect(field).to_be_focused()
    page.keyboard.press("m")
    expect(page).to_have_url(re.compile(r"/arrived/\?q="))
    expect(page.locator("#answer")).to_have_attribute("data-code", "arrived")
    page.wait_for_load_state()  # before this, no script reads keys

    # when: Enter follows the number at once, it waits for its answer; B sells for it
    page.goto(f"{live_server.url}/orders/")
    page.keyboard.press("Control+k")
    page.keyboard.type(NUMBER)
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{live_server.url}/arrived/?q={NUMBER}")
    page.wait_for_load_state()
    page.goto(f"{live_server.url}/orders/")
    page.keyboard.press("Control+k")
    page.keyboard.insert_text(f"\u202a{NUMBER}\u202c")  # as a messenger copies it
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{live_server.url}/arrived/?q={NUMBER}")
    page.wait_for_load_state()
    page.keyboard.press("Control+k")
    page.keyboard.type(NUMBER)
    expect(results.locator("[data-found-key=b]")).to_be_visible()
    page.keyboard.press("b")
    expect(page).to_have_url(f"{live_server.url}/counter/?q={NUMBER}")
    assert faults == []


def test_tab_stays_in_the_field_and_results_of_an_earlier_text_fade(live_server: Any, open_window: OpenWindow, shop):
    page = open_window()
    sign_in(page, live_server.url, "cashier", "/orders/")
    field, results = page.locator("#find-q"), page.locator("#find-results")
    only = results.locator("[data-only]")

    # when everything is of one kind
    page.keyboard.press("Control+k")
    page.keyboard.type("50 ribu kemarin")
    expect(page.locator("#find-results[data-text='50 ribu kemarin']")).to_be_visible()
    expect(only).to_be_hidden()
    page.keyboard.press("Tab")
    expect(field).to_be_focused()
    expect(only).to_be_visible()
    assert faults_of(page) == []

    # when another text has no answer yet
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    field.fill("")
    expect(results).to_have_attribute("data-text", "")
    page.route("**/find/?*", hold)
    with page.expect_request("**/find/?*"):
        page.keyboard.type(NUMBER)
    expect(results).to_have_class(re.compile("is-stale"))
    held[-1].continue_()
    page.unroute("**/find/?*")
    expect(results).to_have_attribute("data-text", NUMBER)
    expect(results).not_to_have_class(re.compile("is-stale"))


def test_on_a_phone_it_fills_the_screen(live_server: Any, open_window: OpenWindow, shop):
    page = open_window(size=PHONE)
    sign_in(page, live_server.url, "cashier")

    page.locator(".find-button").click()
    page.locator("#find-q").fill(NUMBER)
    expect(page.locator("[data-group=orders]")).to_be_visible()
    box = page.locator("dialog#find").bounding_box()
    assert box
    assert (box["width"], box["height"]) == PHONE
    assert faults_of(page) == []
    page.locator("[data-kind=orders]").click()
    expect(page.locator("#find-results section")).to_have_count(1)
    page.locator("#find-results [data-found]").click()
    expect(page).to_have_url(f"{live_server.url}{shop.get_absolute_url()}")
