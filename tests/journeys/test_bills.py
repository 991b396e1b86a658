"""A cashier checks bills in the browser and pays them, also when they are late, have changed, or expire."""

import re

import pytest
from playwright.sync_api import Page, expect

from bills.models import BillCheck
from catalogue.models import Product
from customers.models import Customer, SavedNumber
from purchases.models import Order
from purchases.states import ActionReason, Status
from staff.models import User
from testing.fleet import Fleet
from testing.sandbox_process import eventually
from tests.conftest import Upstream
from tests.drawers.helpers import begin
from tests.journeys.helpers import OpenWindow, faults_of, sign_in

pytestmark = pytest.mark.journey

SUCCEEDS, BALANCE_SHORT, PENDING_UNTIL_TOLD, EXPIRES, TOTAL_RISES = (
    f"5312900000{number}" for number in ("01", "20", "32", "33", "34")
)


def check_bill(page: Page, shop: Fleet, number: str, biller: str = "PLNPASCA") -> None:
    """Type a customer number at a biller, and wait for the answer in the counter's panel."""
    page.goto(f"{shop.url}/counter/?product={biller}")
    expect(page.locator("#counter-q")).to_be_focused()
    page.keyboard.type(number)
    page.keyboard.press("Enter")
    expect(page.locator("#counter-bill")).to_be_visible()


def pay(page: Page) -> Order:
    """Press the button that pays the bill; returns the sent order."""
    expect(page.locator("#counter-bill[data-ready] #counter-pay")).to_be_visible()
    page.dblclick("#counter-pay")
    ref_id = page.locator("#counter-said[data-sent]").get_attribute("data-sent")
    return Order.objects.get(ref_id=ref_id)


def row(page: Page, order: Order, status: str) -> None:
    """Wait until the order is in the strip in this status."""
    expect(page.locator(f"[data-ref='{order.ref_id}'][data-status={status}]")).to_be_visible()


def test_enter_meets_a_result_while_the_results_come(shop: Fleet, open_window: OpenWindow):
    page = open_window()
    sign_in(page, shop.url, "cashier", "/products/")
    # Given Enter is pressed when the results of the letters are in the page, but not yet settled
    page.evaluate("""() => {
        window.settled = 0;
        const submit = () => document.querySelector("[data-live-search]").requestSubmit();
        document.addEventListener("htmx:afterSwap", submit, { once: true });
        document.addEventListener("htmx:afterSettle", () => { window.settled += 1; });
    }""")
    page.keyboard.type("PDAM")
    eventually(lambda: page.evaluate("window.settled") >= 2)
    expect(page.locator("[data-pick]").first).to_be_focused()

    # When the results are replaced, and Enter is pressed at the next moment
    page.goto(f"{shop.url}/products/?q=pln+pasca")
    page.locator("[data-pick]", has_text="PLN Pascabayar").focus()
    page.evaluate("""() => {
        const enter = () => setTimeout(() => document.activeElement.click());
        document.addEventListener("htmx:afterSwap", enter, { once: true });
        document.querySelector("[data-live-search]").requestSubmit();
    }""")
    page.wait_for_url("**/counter/?product=PLNPASCA")


def test_a_bill_is_paid_and_printed_with_the_keyboard_alone(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window()
    sign_in(page, shop.url, "cashier")

    page.keyboard.press("b")
    page.wait_for_url(f"{shop.url}/counter/")
    expect(page.locator("#counter-q")).to_be_focused()
    page.keyboard.type("PLN Pasca")
    expect(page.locator("#counter-tiles [data-product=PLNPASCA]")).to_be_visible()
    page.keyboard.press("Enter")  # two billers have this name: the first is picked
    expect(page.locator("#counter-pick")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator(".sell-pinned")).to_contain_text("PLN Pascabayar")
    expect(page.locator("#counter-q")).to_be_focused()
    page.keyboard.type(SUCCEEDS)
    page.keyboard.press("Enter")

    # The answer arrives, the time runs, and nothing is paid before it is confirmed.
    page.evaluate("window.neverReloaded = true")
    expect(page.locator("#counter-bill[data-ready] #counter-pay")).to_be_focused()
    expect(page.locator("[data-left]")).to_have_text(re.compile(r"^4:\d\d$"))
    left = page.inner_text("[data-left]")
    expect(page.locator("[data-left]")).not_to_have_text(left)
    assert not Order.objects.exists()
    faults = faults_of(page)
    page.keyboard.press("Enter")

    expect(page.locator("#counter-said[data-sent]")).to_be_visible()
    order = Order.objects.get()
    row(page, order, "success")
    assert page.evaluate("window.neverReloaded")
    faults += faults_of(page)
    check = BillCheck.objects.get()
    order.refresh_from_db()
    assert (order.ref_id, order.status, order.price) == (check.ref_id, Status.SUCCESS, check.total)
    assert upstream.ledger(order) == [("debit", -check.total)]

    page.click("[data-act=r]")
    page.wait_for_url("**/receipt/")
    faults += faults_of(page)
    page.add_init_script("window.printed = 0; window.print = () => { window.printed += 1; }")
    print_alone(page, number=1)
    expect(page.locator(".struk")).to_contain_text(check.customer_name)
    faults += faults_of(page)
    page.goto(f"{shop.url}/orders/{order.ref_id}/receipt/?paper=a5")
    print_alone(page, number=2)
    assert faults == []


def print_alone(page: Page, *, number: int) -> None:
    """Press the receipt's button: the browser prints one page, with the receipt alone."""
    page.click("button:has-text('Print')")
    page.wait_for_url(f"**/receipt/{number}/")
    page.wait_for_function("window.printed === 1")
    assert len(re.findall(rb"/Type ?/Page\b", page.pdf(prefer_css_page_size=True))) == 1
    page.emulate_media(media="print")
    assert page.locator(".struk").is_visible()
    for hidden in (".side", ".page-head", "#toasts"):
        assert not page.locator(hidden).first.is_visible(), hidden
    page.emulate_media(media="null")


def test_a_check_expires_by_itself_and_one_click_checks_again(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window()
    sign_in(page, shop.url, "cashier", path=None)
    check_bill(page, shop, EXPIRES)
    page.evaluate("window.neverReloaded = true")

    # then the page says so by itself, also if the bill expired before its answer came
    expect(page.locator("#counter-bill").get_by_text(re.compile("expired", re.IGNORECASE)).first).to_be_visible()
    assert page.evaluate("window.neverReloaded")
    expect(page.locator("#counter-pay")).to_be_hidden()
    faults = faults_of(page)
    page.click("#bill-again")
    eventually(lambda: BillCheck.objects.count() == 2)

    old, new = BillCheck.objects.order_by("pk")
    assert (old.state, old.ref_id != new.ref_id) == ("expired", True)
    expect(page.locator("#counter-bill")).to_be_visible()
    assert page.evaluate("window.neverReloaded")
    assert not Order.objects.exists()
    assert faults == []


def test_a_payment_that_needs_action_is_paid_once_it_can_be(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window()
    sign_in(page, shop.url, "cashier", path=None)

    # A risen total is paid only when it is confirmed.
    check_bill(page, shop, TOTAL_RISES)
    order = pay(page)
    row(page, order, "needs_action")
    order.refresh_from_db()
    before = order.max_price
    assert (Order.objects.count(), order.action_reason) == (1, ActionReason.AMOUNT_MISMATCH)
    assert upstream.ledger(order) == []
    page.goto(f"{shop.url}/orders/{order.ref_id}/")
    faults = faults_of(page)
    page.click("#bill-counter")
    page.click("#bill-ask")
    expect(page.locator("#counter-pay")).to_contain_text("Confirm")
    faults += faults_of(page)
    assert pay(page) == order
    row(page, order, "success")
    order.refresh_from_db()
    assert (order.max_price, Order.objects.count()) == (before + 2_500, 1)
    assert upstream.ledger(order) == [("debit", -(before + 2_500))]
    assert faults == []

    # Without balance it is paid after a top-up.
    check_bill(page, shop, BALANCE_SHORT)
    short = pay(page)
    row(page, short, "needs_action")
    upstream.control("topup", amount=5_000_000)
    page.goto(f"{shop.url}/counter/bills/{short.ref_id}/")
    assert pay(page) == short
    row(page, short, "success")
    assert Order.objects.count() == 2
    assert [kind for kind, _amount in upstream.ledger(short)] == ["debit"]


def test_a_pending_inquiry_is_followed_at_counter_and_page(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window()
    sign_in(page, shop.url, "cashier", path=None)
    check_bill(page, shop, PENDING_UNTIL_TOLD)
    expect(page.locator("#counter-bill[data-standing=asking]")).to_be_visible()
    faults = faults_of(page)
    check = eventually(lambda: BillCheck.objects.filter(polls__gte=1).first())
    own = page.context.new_page()
    own.goto(f"{shop.url}/bills/{check.ref_id}/")
    expect(own.locator("#bill-asking")).to_be_visible()
    for window in (page, own):
        window.evaluate("window.neverReloaded = true")

    upstream.control("settle", ref_id=check.ref_id, status="valid")

    expect(own.locator("#bill-announce")).to_have_text("Status: Payable")
    expect(page.locator("#counter-pay")).to_be_focused()
    assert [window.evaluate("window.neverReloaded") for window in (page, own)] == [True, True]
    assert faults + faults_of(own) == []
    own.click("#bill-counter")
    expect(own.locator("#counter-pay")).to_be_focused()


def test_a_saved_name_leads_to_its_bill_and_a_way_to_pay(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    begin(User.objects.get(username="cashier"), cash=100_000)
    customer = Customer.objects.create(name="Bu Sari")
    product = Product.objects.get(code="PLNPASCA")
    SavedNumber.objects.create(customer=customer, destination=SUCCEEDS, product=product, kind="meter")
    page = open_window()
    sign_in(page, shop.url, "cashier", "/counter/")

    page.keyboard.type("sari")
    expect(page.locator("#counter-tiles [data-fills]")).to_have_count(1)
    assert faults_of(page) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#counter-tiles [data-product=PLNPASCA]")).to_be_visible()
    page.keyboard.press("Enter")

    expect(page.locator("#counter-bill")).to_be_visible()
    assert BillCheck.objects.get().saved_number.customer == customer
    expect(page.locator("#counter-bill[data-ready]")).to_be_visible()

    # then the row of payment shows what each method needs, and it is paid
    shown = {}
    for method in ("cash", "qris", "card"):
        page.click(f".pay-way:has([value={method}])")
        fields = page.locator("[data-needed]:visible")
        shown[method] = [field.get_attribute("data-needed") for field in fields.all()]
    assert shown == {"cash": ["cash"], "qris": [], "card": ["slip"]}
    assert faults_of(page) == []
    page.fill("#id_paid_reference", "004217")
    order = pay(page)
    assert (order.payment.method, order.payment.reference, order.payment.cash_given) == ("card", "004217", None)
