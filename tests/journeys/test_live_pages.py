"""A page that follows an order, when its requests get no answer for a while."""

import datetime as dt
import re
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Route, expect

from purchases.states import Status
from staff.roles import create_demo_staff
from testing.factories import make_biller, make_check, make_order
from testing.orders import report
from tests.bills.helpers import start
from tests.drawers.helpers import make_drawer
from tests.journeys.helpers import OpenWindow, sign_in
from tests.reconciliation.helpers import make_difference

# The forms that the page would send; none is sent.
COUNT_SENDS = """() => {
    window.sends = 0;
    window.addEventListener("submit", event => {
        if (!event.defaultPrevented) window.sends += 1;
        event.preventDefault();
    });
}"""
pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def test_a_page_without_answer_says_so_and_asks_again(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    page = open_window(may_complain=True)
    sign_in(page, live_server.url, "cashier", path=None)
    for number, answer in enumerate((lambda route: route.abort(), lambda route: route.fulfill(status=503))):
        order = make_order(Status.PENDING, trx_id=f"TRX-{number}")
        page.route("**/live/**", answer)

        page.goto(f"{live_server.url}/orders/{order.ref_id}/")

        expect(page.locator("#offline")).to_be_visible()
        expect(page.locator(".order-status .status-pending")).to_be_visible()
        report(order, trx_id=order.trx_id)
        page.unroute("**/live/**")
        expect(page.locator(".order-status .status-success")).to_be_visible()
        expect(page.locator("#offline")).to_be_hidden()


def test_an_open_page_says_whether_somebody_types_there(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    make_drawer()
    page = open_window()
    page.clock.install()
    sign_in(page, live_server.url, "cashier", "/drawer/")

    def acted() -> list[bool]:
        with page.expect_request("**/alerts/now/**") as asked:
            page.clock.fast_forward(31_000)
        return "acted" in asked.value.headers

    assert not acted()
    page.keyboard.down("3")
    assert acted()
    page.keyboard.down("3")  # something lies on the key
    assert not acted()


def test_while_nothing_answers_the_counter_asks_no_more_often(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    page = open_window(may_complain=True)
    page.clock.install()
    asked: list[str] = []
    check = start(1, product=make_biller())
    sign_in(page, live_server.url, "cashier", f"/counter/bills/{check.ref_id}/")
    expect(page.locator("#counter-bill[data-standing=asking]")).to_be_visible()

    def refuse(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(status=503)

    page.route("**/now/**", refuse)
    page.route("**/counter/live/**", refuse)
    page.route("**/settled/", lambda route: route.fulfill(status=204))
    for _half_second in range(26):
        page.clock.run_for(500)
        page.evaluate("fetch('/settled/')")  # the answers before this one are there

    assert sum("/now/" in url for url in asked) > 5, "the bill is asked for"
    assert sum("/live/" in url for url in asked) <= 4


def test_a_form_that_is_sent_while_its_page_still_loads_goes_once(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    page = open_window()
    late: list[Route] = []

    def hold(route: Route) -> None:
        late.append(route)

    # given a page whose last script is on its way
    sign_in(page, live_server.url, "owner", path=None)
    page.route("**/fresh*.js", hold)
    page.goto(f"{live_server.url}/customers/add/", wait_until="commit")
    page.fill("[name=name]", "Bu Sari")
    expect(page.locator("html.js")).to_have_count(1)
    page.evaluate(COUNT_SENDS)

    # when its form is sent, the page ends loading, and the button is pressed again
    button = page.locator("main form[data-once] button[type=submit]").first
    button.click()
    late[0].continue_()
    page.wait_for_load_state("load")
    page.wait_for_timeout(100)
    button.click()

    assert page.evaluate("window.sends") == 1


def test_a_panel_that_comes_again_with_its_row_is_no_activity(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    order = make_order(Status.PENDING)
    page = open_window(size=(1440, 900))
    sign_in(page, live_server.url, "cashier", "/orders/")
    with page.expect_request("**/panel/") as chosen:
        page.click(f"#results [data-pick][href*='{order.ref_id}']")
    expect(page.locator("[data-beside-panel] .status-pending").first).to_be_visible()

    with page.expect_request("**/panel/") as again:
        report(order, Status.SUCCESS, trx_id="TRX-1")

    assert "by-itself" not in chosen.value.headers
    assert again.value.headers["by-itself"] == "yes"


def test_the_cursor_stays_on_the_button_of_its_own_difference(live_server: Any, open_window: OpenWindow):
    # given two differences with one amount, and the cursor on the button of the lower one
    create_demo_staff()
    for _ in range(2):
        make_difference(1_000)
    page = open_window()
    sign_in(page, live_server.url, "owner", "/balance/")
    form = page.locator("#balance-differences form[action$='/acknowledge/']").nth(1)
    address = form.get_attribute("action")
    form.locator("button[type=submit]").focus()

    # when another one comes
    make_difference(2_000)
    page.evaluate("htmx.trigger('#live', 'again')")
    expect(page.locator("#balance-differences .difference-panel")).to_have_count(3)

    # then it is still there
    expect(page.locator("button:focus")).to_have_count(1, timeout=20_000)
    assert page.evaluate("document.activeElement.form.getAttribute('action')") == address


def test_an_age_is_the_servers_on_a_device_with_a_wrong_clock(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    now = timezone.now()
    order = make_order(Status.SUCCESS, trx_id="TRX-1", final_at=now - dt.timedelta(minutes=5))
    for language, words in (("en-GB", "5 minutes ago"), ("id-ID", "5 menit yang lalu")):
        # given a device whose clock is two hours behind
        page = open_window(language=language)
        page.clock.install(time=now - dt.timedelta(hours=2))
        sign_in(page, live_server.url, "owner", f"/orders/{order.ref_id}/")
        age = page.locator("time[data-relative]").filter(has_text=words).first
        expect(age).to_be_visible()

        # when the page makes its times fresh, then the age is the same
        page.clock.fast_forward(11_000)
        expect(age).to_be_visible()

        # and after a count of the device that was wrong, the next answer corrects it
        with page.expect_response("**/alerts/now/**"):
            page.clock.fast_forward(dt.timedelta(hours=3) // dt.timedelta(milliseconds=1))
        page.clock.fast_forward(11_000)
        expect(age).to_be_visible()


def test_the_time_of_a_bill_goes_on_when_the_clock_of_the_device_is_set(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    check = make_check()
    page = open_window()
    page.clock.install()
    sign_in(page, live_server.url, "cashier", f"/counter/bills/{check.ref_id}/")
    left = page.locator("#counter-bill [data-left]")
    expect(left).to_have_text(re.compile(r"^4:\d\d$"))

    before = left.inner_text()
    page.clock.set_system_time(timezone.now() + dt.timedelta(hours=1))
    page.clock.fast_forward(2_000)

    expect(left).not_to_have_text(before)
    expect(left).to_have_text(re.compile(r"^4:\d\d$"))
