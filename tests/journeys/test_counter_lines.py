"""At the counter on a slow or broken line, keys and sales are neither lost nor doubled."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from bills import services
from catalogue.models import Product
from purchases.models import Order
from staff.models import User
from staff.roles import create_demo_staff
from testing.factories import entries_of, make_check
from testing.fleet import Fleet
from tests.bills.helpers import start
from tests.conftest import Upstream
from tests.drawers.helpers import begin
from tests.journeys.hands import CUSTOMER, PHONE, Hands
from tests.journeys.helpers import OpenWindow, faults_of, sign_in
from upstream.budget import CallClass

pytestmark = pytest.mark.journey

# The keys without a visible effect at the next key: a letter, or for Enter the bar of a waiting page.
WATCH_KEYS = """
window.unseen = [];
let before, last;
window.addEventListener("keydown", ({ key }) => {
    const panel = document.querySelector("#counter-panel");
    const look = panel.outerHTML + document.querySelector("#counter-q").value;
    const waits = getComputedStyle(panel, "::before").content !== "none";
    if (last === "Enter" ? !waits : look === before) window.unseen.push(last);
    [before, last] = [look, key];
}, {capture: true});
"""

# Marks the page when a question of the strip is held back.
WATCH_POLLS = """
document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target.id === "live" && event.defaultPrevented) document.documentElement.dataset.held = "";
});
"""
UNDER_WAY = "081290000003"  # the sandbox never ends its orders


def test_a_lost_answer_sells_once_and_says_what_to_do(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window(may_complain=True)
    till = Hands(page, shop)
    lost = page.locator("form:has([data-send]) [data-no-answer]")
    answers: list[int] = []

    def lose(route: Route) -> None:
        """Lose the request the first time, and only the answer the second time."""
        if answers:
            assert route.fetch().ok
        answers.append(len(answers))
        route.abort()

    for number, way, route, keys in (
        (PHONE, "create", "**/counter/send/", ("Space", "1", "0", "Enter")),
        (CUSTOMER, "pay", "**/counter/bills/*/pay/", ("Space", "b", "Enter")),
    ):
        answers.clear()
        page.route(route, lose, times=2)
        before = Order.objects.count()
        till.type_number(number)
        till.press(*keys)
        till.review()
        expect(lost).to_be_hidden()
        for count in (0, 1):
            with page.expect_event("requestfailed", lambda request: request.method == "POST"):
                till.press("Enter")
            expect(lost).to_be_visible()
            expect(page.locator("[data-send]")).to_be_focused()
            assert Order.objects.count() == before + count
        assert faults_of(page) == []
        till.press("Enter")

        order = till.sent()
        assert Order.objects.count() == before + 1
        till.row(order, "success")
        assert upstream.ledger(order) == [("debit", -order.shown_price)]
        assert len(upstream.calls(order, way)) == 1
        price = order.shown_price
        assert entries_of(order) == [("hold", price), ("release", price), ("debit", price)]


def test_a_bill_that_takes_long_comes_to_who_waits(live_server: Any, upstream: Upstream, open_window: OpenWindow):
    create_demo_staff()
    with time_machine.travel(timezone.now() - dt.timedelta(minutes=1), tick=True):
        check = start(1)
    page = open_window()
    sign_in(page, live_server.url, "cashier", f"/counter/bills/{check.ref_id}/")
    expect(page.locator("#bill-slow")).to_be_visible()
    assert faults_of(page) == []
    page.locator("#bill-ask").focus()
    with page.expect_response("**/now/*"):  # nothing new: the cursor stays
        pass
    expect(page.locator("#bill-ask")).to_be_focused()

    services.inquire(check.pk, call_class=CallClass.INTERACTIVE)

    expect(page.locator("#counter-pay")).to_be_focused()
    assert faults_of(page) == []


def test_escape_leaves_a_bill_that_has_expired_in_sight(live_server: Any, open_window: OpenWindow):
    # given a bill that expires while the cursor is on the button that pays it
    create_demo_staff()
    check = make_check(expires_at=timezone.now() + dt.timedelta(seconds=5))
    page = open_window()
    sign_in(page, live_server.url, "cashier", f"/counter/bills/{check.ref_id}/")
    expect(page.locator("#bill-again")).to_be_visible()
    expect(page.locator("#counter-pay")).to_be_hidden()

    page.keyboard.press("Escape")

    expect(page.locator("#counter-bill")).to_have_count(0)
    expect(page.locator("#counter-q")).to_be_focused()


class SlowLine:
    """The page's requests, which the server gets only when the line is free."""

    def __init__(self, page: Page) -> None:
        self.held: list[Route] = []
        self.is_free = True
        page.route("**/counter/**", self.take)

    def take(self, route: Route) -> None:
        if self.is_free:
            route.continue_()
        else:
            self.held.append(route)

    def hold(self) -> None:
        self.is_free = False

    def free(self) -> None:
        self.is_free = True
        while self.held:
            self.held.pop(0).continue_()


def test_on_a_slow_line_every_key_shows_and_no_letter_is_lost(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    begin(User.objects.get(username="cashier"), cash=100_000)
    page = open_window()
    till, line = Hands(page, shop), SlowLine(page)
    page.evaluate(WATCH_KEYS)

    # Typed while the review is awaited: the given cash.
    line.hold()
    till.press(*PHONE, "Space", "1", "0", "Enter", "5", "0")
    expect(page.locator("#counter-ahead")).to_have_text("50")
    line.free()
    till.review()
    expect(page.locator("#pay-change")).to_be_visible()
    # Typed while it is sent: the next customer's number.
    line.hold()
    till.press("Enter", *"081291111112")
    expect(page.locator("#counter-ahead")).to_have_text("081291111112")
    expect(page.locator("#counter-said[data-sent]")).to_have_count(0)
    assert not Order.objects.exists()
    line.free()
    expect(till.field).to_have_value("081291111112")
    # Typed while the page fetches the amounts: the text goes on after the number.
    line.hold()
    till.press("Space", "Enter", "2", "0")
    expect(page.locator("#counter-ahead")).to_have_text("20")
    line.free()
    expect(till.field).to_have_value("081291111112 20")

    assert page.evaluate("window.unseen") == []
    order = Order.objects.get()
    assert (order.payment.cash_given, upstream.calls(order, "create")) == (50_000, ["/v1/transaction/create"])


def test_refresh_back_and_a_lost_line_keep_the_sale(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window(may_complain=True)
    till = Hands(page, shop)
    till.type_number(PHONE)
    till.press("Space", "1", "0")
    page.reload()
    expect(till.field).to_have_value(f"{PHONE} 10")

    # The line is lost: the typed text stays, and the page says what to do.
    page.context.set_offline(True)
    expect(till.field).to_be_focused()
    till.press("Enter")
    expect(page.locator("#counter-form [data-no-answer]")).to_be_visible()
    expect(till.field).to_have_value(f"{PHONE} 10")
    page.context.set_offline(False)
    till.press("Enter")
    till.review()

    # Refreshed, the review is there again; Back leads to the number, and from there to the review.
    page.reload()
    till.review()
    assert page.locator("#review-number").inner_text() == "0812 9000 0001"
    page.go_back()
    expect(page.locator("#counter-review")).to_have_count(0)
    expect(till.field).to_have_value(f"{PHONE} 10")
    till.press("Enter")
    till.review()
    assert not Order.objects.exists()
    till.press("Enter")
    order = till.sent()
    assert page.url == f"{shop.url}/counter/"
    page.reload()
    expect(page.locator("#counter-review")).to_have_count(0)
    till.row(order, "success")

    # A bill, too.
    till.type_number(CUSTOMER)
    till.press("Space", "b", "Enter")
    till.review()
    page.reload()
    expect(page.locator("#counter-pay")).to_be_visible()
    page.go_back()
    expect(till.field).to_have_value(f"{CUSTOMER} b")
    # The amount before the number.
    till.field.fill("")
    till.press("5", "0", "Space")
    page.keyboard.type(PHONE)
    till.press("Enter")
    till.review()
    assert "50.000" in page.locator(".review-what").inner_text()
    assert Order.objects.get() == order


def test_what_is_being_sent_stays_in_sight_until_its_answer(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    # given a slow line; the drawer takes cash
    begin(User.objects.get(username="cashier"), cash=100_000)
    page = open_window()
    till, line = Hands(page, shop), SlowLine(page)
    shown = page.locator("[data-send]")

    for number, keys in ((PHONE, ("Space", "1", "0", "Enter")), (CUSTOMER, ("Space", "b", "Enter"))):
        till.type_number(number)
        if number == CUSTOMER:  # cash that is typed while the biller is asked is the cash of the bill
            line.hold()
            till.press(*keys, "9", "0", "0")
            expect(page.locator("#counter-ahead")).to_have_text("900")
            line.free()
            till.review()
            expect(page.locator("#id_cash_given")).to_have_value("900.000")
            expect(page.locator("#counter-ahead")).to_have_text("")
            expect(page.locator("#counter-pay")).to_be_focused()
        else:
            till.press(*keys)
            till.review()

        # when it is sent, and the cashier wants to leave it, by key, by mouse, or by the next number on a phone
        line.hold()
        till.press("Enter", "Escape")
        expect(shown).to_be_visible()
        page.evaluate("document.activeElement.blur()")
        till.press("Escape")
        expect(shown).to_be_visible()
        page.locator("#counter-leave").click()
        expect(shown).to_be_visible()
        expect(till.field).not_to_be_editable()
        line.free()

        # then it is sold once, the page says so, and the next number goes into the field
        order = till.sent()
        till.type_number("081291111112")
        expect(till.field).to_have_value("081291111112")
        till.row(order, "success")
        assert Order.objects.filter(destination=number).get() == order
        till.press("Escape")
        expect(till.field).to_have_value("")


def test_the_strip_goes_on_asking_after_a_sending_that_sold_nothing(
    shop: Fleet, upstream: Upstream, open_window: OpenWindow
):
    # given a sale under way, whose strip asks every two seconds, and a review whose price changes
    page = open_window()
    till, line = Hands(page, shop), SlowLine(page)
    page.evaluate(WATCH_POLLS)
    till.type_number(UNDER_WAY)
    till.press("Space", "1", "0", "Enter")
    till.review()
    till.press("Enter")
    till.row(till.sent())
    till.type_number(PHONE)
    till.press("Space", "1", "0", "Enter")
    till.review()
    product = Product.objects.get(code="TSEL10")
    # also at the upstream: the shop's processes read the catalogue again at any time
    upstream.control("product", product_code=product.code, price=product.price + 100)
    Product.objects.filter(pk=product.pk).update(price=product.price + 100)

    # when its question falls due while the review is sent
    line.hold()
    till.press("Enter")
    expect(page.locator("html[data-held]")).to_have_count(1)

    # then it asks after the answer, which is another review
    with page.expect_request("**/counter/live/**"):
        line.free()
    expect(page.locator("#counter-review [role=alert][data-code]")).to_be_visible()


def test_what_is_typed_while_a_biller_is_asked(live_server: Any, upstream: Upstream, open_window: OpenWindow):
    # given a biller that has not answered yet
    create_demo_staff()
    begin(User.objects.get(username="cashier"), cash=100_000)
    check, page = start(1), open_window()
    panel, ahead, field = (page.locator(f"#counter-{part}") for part in ("bill", "ahead", "q"))
    sign_in(page, live_server.url, "cashier", path=None)

    def wait_for_the_biller() -> None:
        page.goto(f"{live_server.url}/counter/bills/{check.ref_id}/")
        expect(page.locator("#counter-bill[data-standing=asking]")).to_be_focused()

    # then a letter keeps its meaning
    wait_for_the_biller()
    page.keyboard.press("?")
    expect(page.locator("#shortcuts")).to_be_visible()
    expect(page.locator("#counter-bill[data-standing=asking]")).to_be_visible()

    # then typed cash ends with the bill: the next customer's number is pasted, or the bill is left
    for leave in (lambda: page.fill("#counter-q", PHONE), lambda: page.keyboard.press("Escape")):
        wait_for_the_biller()
        page.keyboard.type("900")
        expect(ahead).to_have_text("900")
        leave()
        expect(panel).to_have_count(0)
        expect(ahead).to_have_text("")
    expect(field).to_have_value("")

    # and a typed number waits for the bill to end
    wait_for_the_biller()
    page.keyboard.type(PHONE)
    services.inquire(check.pk, call_class=CallClass.INTERACTIVE)
    expect(page.locator("#counter-pay")).to_be_focused()
    expect(page.locator("#id_cash_given")).to_have_value("")
    expect(ahead).to_have_text(PHONE)
    page.keyboard.press("Escape")
    expect(field).to_have_value(PHONE)
    expect(ahead).to_have_text("")
