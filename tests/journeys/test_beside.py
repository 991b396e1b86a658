"""The panel beside a list, when a server takes a request and gives no answer."""

from typing import Any

import pytest
from playwright.sync_api import expect

from purchases.models import Order
from purchases.states import ActionReason, Status
from staff.models import User
from staff.roles import create_demo_staff
from testing.factories import make_order
from tests.journeys.helpers import OpenWindow, faults_of, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]

SOON, LATE = "htmx.config.timeout = 500", "htmx.config.timeout = 20000"  # milliseconds
PANEL = "[data-beside-panel]"


def held() -> Order:
    create_demo_staff()
    return make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT, sent_no=None)


@pytest.mark.parametrize(("path", "language"), [("/work/", "en-GB"), ("/orders/", "id-ID")])
def test_a_row_without_an_answer_says_so_and_is_read_again(
    live_server: Any, open_window: OpenWindow, path: str, language: str
):
    order = held()
    page = open_window(size=(1440, 900), language=language, may_complain=True)
    sign_in(page, live_server.url, "owner", path)
    page.evaluate(SOON)
    page.route(f"**/orders/{order.ref_id}/**", lambda _route: None)

    # when its page does not come
    page.click(f"#results [data-pick][href*='{order.ref_id}']")

    # then the panel says so
    expect(page.locator(f"{PANEL} [data-silent]")).to_be_visible()
    assert faults_of(page) == []
    assert page.url == f"{live_server.url}{path}"

    # and it comes once the server answers
    page.unroute(f"**/orders/{order.ref_id}/**")
    page.evaluate(LATE)
    page.click(f"{PANEL} [data-beside-again]")
    expect(page.locator(f"{PANEL} #act-cancel")).to_be_visible()
    expect(page.locator("[data-silent]")).to_have_count(0)


def test_a_row_that_is_refused_says_why(live_server: Any, open_window: OpenWindow):
    order = held()
    gone = f"{live_server.url}/orders/never-seen/panel/"
    for shows, language in (("#fault-nothing-here", "id-ID"), ("#fault-no-access", "en-GB")):
        page = open_window(size=(1440, 900), language=language, may_complain=True)
        page.route("**/live/**", lambda route: route.abort())
        sign_in(page, live_server.url, "supervisor", "/orders/")
        if shows == "#fault-no-access":
            User.objects.get(username="supervisor").groups.clear()
        else:
            page.route(f"**/orders/{order.ref_id}/**", lambda route: route.continue_(url=gone))

        page.click(f"#results [data-pick][href*='{order.ref_id}']")

        expect(page.locator(f"{PANEL} {shows}")).to_be_visible()
        expect(page.locator("[data-silent]")).to_have_count(0)
        assert faults_of(page) == []


def test_a_form_whose_answer_is_lost_or_late_keeps_what_was_typed(live_server: Any, open_window: OpenWindow):
    order = held()
    page = open_window(size=(1440, 900), may_complain=True)
    sign_in(page, live_server.url, "owner", "/work/")
    note, lost = page.locator(f"{PANEL} #cancel-note"), page.locator("[data-lost-answer]")
    page.click(f"#row-order-{order.pk} [data-step]")
    page.click(f"{PANEL} #act-cancel summary")
    note.fill("She has left")

    page.route("**/orders/*/cancel/**", lambda route: route.abort(), times=1)
    note.press("Enter")
    expect(lost).to_be_visible()
    expect(note).to_have_value("She has left")
    expect(note).to_be_focused()
    lost.locator("[data-dismiss]").click()
    expect(lost).to_have_count(0)

    page.route("**/orders/*/cancel/**", lambda _route: None, times=1)
    page.evaluate(SOON)
    note.press("Enter")
    expect(lost).to_be_visible()
    page.evaluate(LATE)
    note.press("Enter")

    expect(page.locator(f"#row-order-{order.pk}")).to_have_count(0)
    order.refresh_from_db()
    assert (order.status, page.url) == (Status.CANCELLED, f"{live_server.url}/work/")
