"""A cashier sells at the counter by keyboard; the keys are counted where the browser hears them."""

import datetime as dt
import re
from typing import Any

import pytest
import time_machine
from django.utils import timezone
from playwright.sync_api import Browser, Page, Route, expect

from bills import services
from customers.models import SavedNumber
from drawers.models import DrawerEntry
from ledger.models import Entry
from purchases.models import Order
from purchases.states import Status
from staff.models import User
from staff.roles import create_demo_staff
from testing.fleet import Fleet
from testing.sandbox_process import eventually
from tests.bills.helpers import start
from tests.conftest import Upstream
from tests.credit.helpers import give_credit, owed_by
from tests.drawers.helpers import begin
from tests.journeys.helpers import OpenWindow, faults_in_all_looks, faults_of, sign_in, take_over
from tests.tills.helpers import give_pin, manager
from tills.models import Till
from tills.services import make_code
from upstream.budget import CallClass

pytestmark = pytest.mark.journey

PHONE, METER, CUSTOMER = "081290000001", "12390000001", "123490000001"
COUNT_KEYS = "window.keys = 0; window.addEventListener('keydown', () => (window.keys += 1), {capture: true})"
MOST_KEYS = 6
# The keys of which nothing was seen when the next one came: a letter, or for Enter the bar of a page that waits.
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


class Hands:
    """A cashier's hands at the counter."""

    def __init__(self, page: Page, shop: Fleet, *, by_pin: str = "") -> None:
        self.page, self.field = page, page.locator("#counter-q")
        page.add_init_script(COUNT_KEYS)
        if by_pin:  # the code that makes this browser a till
            page.goto(f"{shop.url}/till/")
            page.fill("[name=code]", by_pin)
            page.keyboard.press("Enter")
            take_over(page, "Kasir")
            page.wait_for_load_state()  # no script hears a key before
        else:
            sign_in(page, shop.url, "cashier")
        page.keyboard.press("b")
        page.wait_for_url(f"{shop.url}/counter/")
        expect(self.field).to_be_focused()

    def type_number(self, number: str) -> None:
        """The digits of the number, which are not counted."""
        self.page.keyboard.type(number)
        self.page.evaluate("window.keys = 0")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def review(self) -> None:
        """Until what is shown may be sent."""
        expect(
            self.page.locator("#counter-review[data-ready], #counter-bill[data-ready]:has(#counter-pay)")
        ).to_be_visible()

    def sent(self) -> Order:
        """The order that was just sent; the field waits for the next customer."""
        ref_id = self.page.locator("#counter-said[data-sent]").get_attribute("data-sent")
        expect(self.field).to_be_focused()
        expect(self.field).to_have_value("")
        return Order.objects.get(ref_id=ref_id)

    def row(self, order: Order, status: str = "") -> None:
        """The order is in the strip, in this status."""
        shown = f"[data-status={status}]" if status else ""
        expect(self.page.locator(f"[data-ref='{order.ref_id}']{shown}")).to_be_visible()

    @property
    def keys(self) -> int:
        return int(self.page.evaluate("window.keys"))


def test_credit_token_bill_and_repeat_take_few_keys(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window(permissions=["clipboard-read", "clipboard-write"])
    till = Hands(page, shop)

    # Credit: the amount behind the number, the review, and it is sent.
    till.type_number(PHONE)
    expect(page.locator("#counter-operator")).to_have_text("Telkomsel")
    till.press("Space", "1", "0", "Enter")
    till.review()
    assert page.locator("#review-number").inner_text() == "0812 9000 0001"
    till.press("Enter")
    credit = till.sent()
    assert (credit.product_code, credit.destination, till.keys <= MOST_KEYS) == ("TSEL10", PHONE, True)

    # A token, while the credit is on its way.
    till.type_number(METER)
    till.press("Space", "5", "0", "Enter")
    till.review()
    till.press("Enter")
    token = till.sent()
    assert (token.product_code, token.destination, till.keys <= MOST_KEYS) == ("PLN50", METER, True)
    till.row(credit)
    till.row(token)

    # A bill: checked in the panel, and paid there.
    till.type_number(CUSTOMER)
    till.press("Space", "b", "Enter")
    till.review()
    till.press("Enter")
    bill = till.sent()
    assert (bill.kind, bill.destination, till.keys <= MOST_KEYS) == (Order.Kind.BILL, CUSTOMER, True)

    for order in (credit, token, bill):
        till.row(order, "success")
    expect(page.locator(f"[data-ref='{token.ref_id}'] [data-serial]")).to_have_text(re.compile(r"^(\d{4} ){4}\d{4}$"))

    # The same customer again on the same day: the last product, and a tick for a second sale.
    till.type_number(PHONE)
    expect(page.locator(".denom-mark.is-last")).to_be_visible()
    till.press("Enter", "Enter")
    till.review()
    till.press("Enter")
    assert Order.objects.count() == 3  # Enter alone does not confirm it
    till.press("y", "Enter")
    repeat = till.sent()
    assert (repeat.product_code, till.keys <= MOST_KEYS) == ("TSEL10", True)
    till.row(repeat, "success")

    # In the strip: copy, and the same again with two keys.
    till.press("ArrowDown")
    expect(page.locator(f"[data-ref='{repeat.ref_id}']")).to_be_focused()
    till.press("c")
    expect(page.locator(f"[data-ref='{repeat.ref_id}'] [data-copy]")).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == Order.objects.get(pk=repeat.pk).sn
    page.evaluate("window.keys = 0")
    till.press("a")
    till.review()
    till.press("Enter")
    again = till.sent()
    assert (again.product_code, again.destination, till.keys) == ("TSEL10", PHONE, 2)

    press_on_the_page_of(again, till, shop)
    eventually(lambda: Order.objects.filter(status=Status.SUCCESS).count() == 5)
    for order in Order.objects.all():
        assert upstream.ledger(order) == [("debit", -order.shown_price)]


def press_on_the_page_of(order: Order, till: Hands, shop: Fleet) -> None:
    """By their keys: the answer for the order's customer, and the same again."""
    page = till.page
    till.row(order, "success")
    page.goto(f"{shop.url}{order.get_absolute_url()}")
    assert keys_are_printed(page)
    till.press("m")
    expect(page.locator("#answer")).to_have_attribute("data-code", "arrived")
    page.go_back()
    till.press("a")
    till.review()
    assert page.locator("#review-number").inner_text() == "0812 9000 0001"
    press_for_a_game(till, shop)


def press_for_a_game(till: Hands, shop: Fleet) -> None:
    """The product by its words, then the player's ID and the zone: one Enter each."""
    till.page.goto(f"{shop.url}/counter/")
    till.page.keyboard.type("mlbb 86")
    till.press("Enter")
    expect(till.page.locator(".sell-pinned")).to_be_visible()
    expect(till.field).to_be_focused()
    till.page.keyboard.type("12345678 2001")
    till.press("Enter")
    till.review()
    assert till.page.locator("#review-number").inner_text() == "12345678 (2001)"


def test_a_held_enter_sells_nothing(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window()
    till = Hands(page, shop)

    # Held from the number on, and while the review appears.
    till.type_number(f"{PHONE} 10")
    for _ in range(40):
        page.keyboard.down("Enter")
    till.review()
    for _ in range(40):
        page.keyboard.down("Enter")
    page.keyboard.up("Enter")
    expect(page.locator("#counter-review")).to_be_visible()
    assert not Order.objects.exists()

    # Pressed a second time before the review can have been read.
    till.press("Escape")
    expect(till.field).to_be_focused()
    till.press("Enter", "Enter")
    till.review()
    assert not Order.objects.exists()

    # A double click on a tile, and then on the button, sells once.
    till.press("Escape")
    page.locator("[data-product=TSEL10]").dblclick()
    till.review()
    assert not Order.objects.exists()
    page.locator("[data-send]").dblclick()
    order = till.sent()
    till.row(order, "success")
    assert Order.objects.count() == 1
    assert upstream.ledger(order) == [("debit", -order.shown_price)]


def keys_are_printed(page: Page) -> bool:
    """Whether each button that a key presses shows this key."""
    return bool(
        page.evaluate("""() => [...document.querySelectorAll("[data-act], [data-key], [data-pays]")]
            .every((one) => one.querySelector("kbd").textContent.toLowerCase()
                === (one.dataset.act ?? one.dataset.key ?? one.dataset.pays).toLowerCase())""")
    )


def test_a_lost_answer_sells_once_and_says_what_to_do(shop: Fleet, upstream: Upstream, chromium: Browser):
    page = chromium.new_context(locale="en-GB", reduced_motion="reduce").new_page()  # its console complains, rightly
    till = Hands(page, shop)
    lost = page.locator("form:has([data-send]) [data-no-answer]")
    answers: list[int] = []

    def lose(route: Route) -> None:
        """The first time nothing arrives; the second time only the answer is lost."""
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
        entries = list(Entry.objects.filter(ref_id=order.ref_id).order_by("pk").values_list("kind", "amount"))
        price = order.shown_price
        assert entries == [("hold", price), ("release", price), ("debit", price)]
    page.context.close()


def test_a_bill_that_takes_long_comes_to_who_waits(live_server: Any, upstream: Upstream, open_window: OpenWindow):
    create_demo_staff()
    with time_machine.travel(timezone.now() - dt.timedelta(minutes=1), tick=True):
        check = start(1)
    page = open_window()
    sign_in(page, live_server.url, "cashier")
    page.goto(f"{live_server.url}/counter/bills/{check.ref_id}/")
    expect(page.locator("#bill-slow")).to_be_visible()
    assert faults_of(page) == []
    page.locator("#bill-ask").focus()
    with page.expect_response("**/now/*"):  # nothing new: the cursor stays
        pass
    expect(page.locator("#bill-ask")).to_be_focused()

    services.inquire(check.pk, call_class=CallClass.INTERACTIVE)

    expect(page.locator("#counter-pay")).to_be_focused()
    assert faults_of(page) == []


def test_by_pin_a_bill_on_credit_and_no_more_than_the_limit(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    cashier, customer = give_pin(User.objects.get(username="cashier")), give_credit("Bu Sri", cap=500_000)
    SavedNumber.objects.create(customer=customer, destination=CUSTOMER, kind="customer")
    shift = begin(cashier, cash=100_000)
    boss = manager()
    code = make_code(name="Kasir 1", pin_limit=5_000, actor=boss)
    page = open_window()
    till = Hands(page, shop, by_pin=code)
    expect(page.locator("#pill-drawer")).to_have_attribute("data-amount", "100000")

    # Above the till's limit nothing is sold by PIN, with every key.
    till.type_number(PHONE)
    till.press("Space", "1", "0", "Enter")
    expect(page.locator("[data-code^=LimitReached]")).to_be_visible()
    till.press("Enter", "Enter")
    assert not Order.objects.exists()
    Till.objects.update(pin_limit=1_000_000)
    page.goto(f"{shop.url}/counter/")  # Enter may have been "Back": no key is typed into a page that is being left
    expect(till.field).to_be_focused()

    # A bill on credit, to the customer whose number it is.
    till.type_number(CUSTOMER)
    till.press("Space", "b", "Enter")
    till.review()
    assert keys_are_printed(page)
    till.press("F3")
    expect(page.locator("[name=paid_by_customer]")).to_have_value("Bu Sri")
    till.press("Enter")
    bill = till.sent()
    till.row(bill, "success")
    assert (bill.kind, owed_by(customer), till.keys <= MOST_KEYS) == (Order.Kind.BILL, bill.customer_pays, True)

    # In cash, by its key: it enters the drawer, and the pill says so.
    till.type_number(PHONE)
    till.press("Space", "1", "0", "Enter")
    till.review()
    till.press("F2", "Enter")
    credit = till.sent()
    till.row(credit, "success")
    assert keys_are_printed(page)
    expected = str(100_000 + credit.customer_pays)
    expect(page.locator("#pill-drawer")).to_have_attribute("data-amount", expected)
    assert shift.payments.exists()
    for order in (bill, credit):
        assert upstream.ledger(order) == [("debit", -order.shown_price)]


class SlowLine:
    """What the page asks for, which the server does not get before the line is free."""

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

    # Typed on while the review is awaited: the cash that is given.
    line.hold()
    till.press(*PHONE, "Space", "1", "0", "Enter", "5", "0")
    expect(page.locator("#counter-ahead")).to_have_text("50")
    line.free()
    till.review()
    expect(page.locator("#pay-change")).to_be_visible()
    # Typed on while it is sent: the next customer's number.
    line.hold()
    till.press("Enter", *"081291111112")
    expect(page.locator("#counter-ahead")).to_have_text("081291111112")
    expect(page.locator("#counter-said[data-sent]")).to_have_count(0)
    assert not Order.objects.exists()
    line.free()
    expect(till.field).to_have_value("081291111112")
    # Typed on while the amount is asked for: it goes on behind the number.
    line.hold()
    till.press("Space", "Enter", "2", "0")
    expect(page.locator("#counter-ahead")).to_have_text("20")
    line.free()
    expect(till.field).to_have_value("081291111112 20")

    assert page.evaluate("window.unseen") == []
    order = Order.objects.get()
    assert (order.payment.cash_given, upstream.calls(order, "create")) == (50_000, ["/v1/transaction/create"])


def test_refresh_back_and_a_lost_line_keep_the_sale(shop: Fleet, upstream: Upstream, chromium: Browser):
    page = chromium.new_context(locale="en-GB", reduced_motion="reduce").new_page()  # its console complains, rightly
    till = Hands(page, shop)
    till.type_number(PHONE)
    till.press("Space", "1", "0")
    page.reload()
    expect(till.field).to_have_value(f"{PHONE} 10")

    # The line is lost: what was typed stays, and the page says what to do.
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
    page.context.close()


def test_a_colleague_approves_at_the_counter(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    User.objects.filter(username="cashier").update(own_approval_above=5_000)
    page = open_window()
    till = Hands(page, shop)
    till.type_number(PHONE)
    till.press("Space", "1", "0", "Enter")
    till.review()
    till.press("Enter")

    expect(page.locator("#id_approver")).to_be_focused()
    assert not Order.objects.exists()
    faults = faults_in_all_looks(page)
    page.select_option("#id_approver", str(User.objects.get(username="supervisor").pk))
    page.focus("#id_secret")
    till.press("y")  # confirms a warning elsewhere; here it is a letter
    expect(page.locator("#id_secret")).to_have_value("y")
    till.press("Backspace")
    page.keyboard.type("supervisor-demo")
    till.press("Enter")
    order = till.sent()

    till.row(order, "success")
    assert faults == []
    assert (order.placed_by.username, upstream.calls(order, "create")) == ("cashier", ["/v1/transaction/create"])


def test_a_failed_sale_is_given_back_with_one_key(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    shift = begin(User.objects.get(username="cashier"), cash=100_000)
    page = open_window()
    till = Hands(page, shop)
    till.type_number("081290000004")
    till.press("Space", "1", "0", "Enter")
    till.review()
    till.press("Enter")
    order = till.sent()
    till.row(order, "failed")
    in_drawer = page.locator("#pill-drawer")
    expect(in_drawer).to_have_attribute("data-amount", str(100_000 + order.customer_pays))
    assert keys_are_printed(page)
    faults = faults_in_all_looks(page)

    till.press("ArrowDown")
    for _ in range(5):
        page.keyboard.down("g")  # held
    page.keyboard.up("g")

    expect(page.locator(f"[data-ref='{order.ref_id}'] .run-says.is-done")).to_be_visible()
    expect(page.locator(f"[data-ref='{order.ref_id}']")).to_be_focused()
    expect(in_drawer).to_have_attribute("data-amount", "100000")
    expect(page.locator("[data-act=g]")).to_have_count(0)
    assert faults + faults_in_all_looks(page) == []
    entries = DrawerEntry.objects.filter(kind="refund").values_list("shift", "method", "amount", "ref_id")
    assert list(entries) == [(shift.pk, "cash", -order.customer_pays, order.ref_id)]
    assert upstream.ledger(order) == [("debit", -order.shown_price), ("refund", order.shown_price)]


@pytest.mark.parametrize("language", ["id-ID", "en-GB"])
def test_each_way_to_pay_is_one_key_and_the_change_is_shown(
    shop: Fleet, upstream: Upstream, open_window: OpenWindow, language
):
    shift, faults, paid = begin(User.objects.get(username="cashier"), cash=100_000), [], []
    page = open_window(language=language)
    till = Hands(page, shop)

    def sell(number: str, *keys: str, most: int) -> Order:
        till.type_number(number)
        till.press("Space", "1", "0", "Enter")
        till.review()
        till.press(*keys)
        order = till.sent()
        assert till.keys <= most, till.keys
        till.row(order, "success")
        return order

    # Cash given: digits alone, where "50" is 50.000; the change on the review, after the sale and in the strip.
    till.type_number(PHONE)
    till.press("Space", "1", "0", "Enter")
    till.review()
    assert keys_are_printed(page)
    price = int(page.locator("#paid-by").get_attribute("data-total") or 0)
    till.press("5")
    expect(page.locator("#pay-change.is-short")).to_be_visible()
    till.press("0")
    expect(page.locator("#pay-change:not(.is-short)")).to_have_attribute("data-amount", str(50_000 - price))
    faults += faults_in_all_looks(page)
    till.press("Enter")
    order = till.sent()
    assert till.keys <= 8
    expect(page.locator(f"#counter-said [data-change='{50_000 - price}']")).to_be_visible()
    expect(page.locator(f"[data-ref='{order.ref_id}'] [data-change='{50_000 - price}']")).to_be_visible()
    faults += faults_in_all_looks(page)
    paid.append(order)

    # A note with one press, and the longest: Rp100.000.
    till.type_number("081291111102")
    till.press("Space", "1", "0", "Enter")
    till.review()
    page.click("[data-gives='20000']")
    expect(page.locator("[data-send]")).to_be_focused()
    till.press("Enter")
    paid += [till.sent(), sell("081291111103", "1", "0", "0", "Enter", most=8)]

    # The others: one key each, beside those of the sale.
    paid.append(sell("081291111104", "F4", "Enter", most=MOST_KEYS))
    paid.append(sell("081291111105", "F8", "Enter", most=MOST_KEYS))
    paid.append(sell("081291111106", "F9", "4", "2", "Enter", most=8))
    assert faults == []
    payments = [(order.payment.method, order.payment.cash_given, order.payment.reference) for order in paid]
    assert payments == [
        ("cash", 50_000, ""),
        ("cash", 20_000, ""),
        ("cash", 100_000, ""),
        ("qris", None, ""),
        ("transfer", None, ""),
        ("card", None, "42"),
    ]
    assert shift.payments.count() == len(paid) == Order.objects.count()
    for order in paid:
        assert upstream.ledger(order) == [("debit", -order.shown_price)]
        assert upstream.calls(order, "create") == ["/v1/transaction/create"]


def test_without_javascript_it_takes_more_steps(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window(java_script_enabled=False)
    sign_in(page, shop.url, "cashier")
    page.goto(f"{shop.url}/counter/")

    page.fill("#counter-q", f"{PHONE} 10")
    page.click("#counter-form button")
    page.click("[data-product=TSEL10]")
    page.click("#counter-review [data-send]")
    page.wait_for_url(f"{shop.url}/counter/")
    expect(page.locator("[data-run][data-status=success]")).to_be_visible()

    page.fill("#counter-q", f"{CUSTOMER} b")
    page.click("#counter-form button")
    page.click("[data-product=PLNPASCA]")
    page.click("#counter-ask button")
    page.click("#counter-pay")
    page.wait_for_url(f"{shop.url}/counter/")
    expect(page.locator("[data-run][data-status=success]")).to_have_count(2)
    assert [upstream.ledger(order)[0][0] for order in Order.objects.order_by("pk")] == ["debit", "debit"]
