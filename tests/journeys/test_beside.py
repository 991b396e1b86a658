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


@pytest.mark.parametrize("language", ["en-GB", "id-ID"])
@pytest.mark.parametrize("path", ["/work/", "/orders/"])
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


@pytest.mark.parametrize("language", ["en-GB", "id-ID"])
@pytest.mark.parametrize("shows", ["#fault-no-access", "#fault-nothing-here"])
def test_a_row_that_is_refused_says_why(live_server: Any, open_window: OpenWindow, shows: str, language: str):
    order = held()
    page = open_window(size=(1440, 900), language=language, may_complain=True)
    page.route("**/live/**", lambda route: route.abort())
    sign_in(page, live_server.url, "supervisor", "/orders/")
    if shows == "#fault-no-access":
        User.objects.get(username="supervisor").groups.clear()
    else:
        gone = f"{live_server.url}/orders/never-seen/panel/"
        page.route(f"**/orders/{order.ref_id}/**", lambda route: route.continue_(url=gone))

    page.click(f"#results [data-pick][href*='{order.ref_id}']")

    expect(page.locator(f"{PANEL} {shows}")).to_be_visible()
    expect(page.locator("[data-silent]")).to_have_count(0)
    assert faults_of(page) == []


def test_a_form_without_an_answer_can_be_sent_again(live_server: Any, open_window: OpenWindow):
    order = held()
    page = open_window(size=(1440, 900), may_complain=True)
    sign_in(page, live_server.url, "owner", "/work/")
    page.route("**/orders/*/cancel/**", lambda _route: None, times=1)
    page.click(f"#row-order-{order.pk} [data-step]")
    page.click(f"{PANEL} #act-cancel summary")
    page.fill(f"{PANEL} #cancel-note", "She has left")

    page.evaluate(SOON)
    page.press(f"{PANEL} #cancel-note", "Enter")
    expect(page.locator("[data-lost-answer]")).to_be_visible()
    page.evaluate(LATE)
    page.press(f"{PANEL} #cancel-note", "Enter")

    expect(page.locator(f"#row-order-{order.pk}")).to_have_count(0)
    order.refresh_from_db()
    assert order.status == Status.CANCELLED
