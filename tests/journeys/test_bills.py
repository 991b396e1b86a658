"""A cashier checks bills in the browser and pays them, also when they are late, have changed, or expire."""

import re

import pytest
from playwright.sync_api import Page, expect

from bills.models import BillCheck
from catalogue.models import Product
from customers.models import Customer, SavedNumber
from purchases.models import Order
from purchases.states import ActionReason, Status
from testing.fleet import Fleet
from testing.sandbox_process import eventually
from tests.conftest import Upstream
from tests.journeys.helpers import OpenWindow, faults_of, sign_in
from upstream.error_codes import meaning_of

pytestmark = pytest.mark.journey

SUCCEEDS, BALANCE_SHORT, PENDING_UNTIL_TOLD, EXPIRES, TOTAL_RISES, PAID_ELSEWHERE = (
    f"5312900000{number}" for number in ("01", "20", "32", "33", "34", "35")
)


def check_bill(page: Page, shop: Fleet, number: str, biller: str = "PLNPASCA") -> None:
    """Type a customer number at a biller and go to the check's page."""
    page.goto(f"{shop.url}/bills/check/{biller}/")
    page.fill("[name=destination]", number)
    page.click("button:has-text('Check the bill')")
    page.wait_for_selector("#bill-live")


def test_enter_reaches_the_first_result_while_the_last_letter_is_answered(shop: Fleet, open_window: OpenWindow):
    page = open_window()
    sign_in(page, shop.url, "cashier")
    page.goto(f"{shop.url}/bills/check/")
    # Given Enter is pressed when the results of the letters are in the page, but not yet settled
    page.evaluate("""() => {
        window.settled = 0;
        const submit = () => document.querySelector("[data-live-search]").requestSubmit();
        document.addEventListener("htmx:afterSwap", submit, { once: true });
        document.addEventListener("htmx:afterSettle", () => { window.settled += 1; });
    }""")

    # When
    page.keyboard.type("PDAM")
    eventually(lambda: page.evaluate("window.settled") >= 2)

    # Then
    expect(page.locator("[data-pick]").first).to_be_focused()


def test_enter_opens_a_result_also_while_the_results_come_again(shop: Fleet, open_window: OpenWindow):
    page = open_window()
    sign_in(page, shop.url, "cashier")
    page.goto(f"{shop.url}/bills/check/")
    page.locator("[data-pick]", has_text="PLN Pascabayar").focus()

    # When the results are replaced, and Enter is pressed at the next moment
    page.evaluate("""() => {
        const enter = () => setTimeout(() => document.activeElement.click());
        document.addEventListener("htmx:afterSwap", enter, { once: true });
        document.querySelector("[data-live-search]").requestSubmit();
    }""")

    # Then
    page.wait_for_url("**/check/PLNPASCA/")


def test_a_bill_is_paid_and_printed_with_the_keyboard_alone(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window()
    sign_in(page, shop.url, "cashier")

    page.keyboard.press("t")
    page.wait_for_url(f"{shop.url}/bills/check/")
    expect(page.locator("[autofocus]")).to_be_focused()
    page.keyboard.type("PLN Pasca")
    expect(page.locator("[data-pick]").first).to_have_text("PLN Pascabayar")
    page.keyboard.press("Enter")
    expect(page.locator("[data-pick]").first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/check/PLNPASCA/")
    expect(page.locator("[autofocus]")).to_be_focused()
    page.keyboard.type(SUCCEEDS)
    page.keyboard.press("Enter")

    # The answer arrives, the time runs, and nothing is paid before it is confirmed.
    page.wait_for_url(re.compile(r"/bills/B\d"))
    page.evaluate("window.neverReloaded = true")
    expect(page.locator("#bill-pay")).to_be_visible()
    expect(page.locator("[data-left]")).to_have_text(re.compile(r"^4:\d\d$"))
    left = page.inner_text("[data-left]")
    expect(page.locator("[data-left]")).not_to_have_text(left)
    assert page.evaluate("window.neverReloaded")
    assert not Order.objects.exists()
    faults = faults_of(page)
    page.keyboard.press("Tab")
    expect(page.locator("#bill-pay")).to_be_focused()
    page.keyboard.press("Enter")

    page.wait_for_url("**/orders/*/")
    expect(page.locator(".order-status .status-success")).to_be_visible()
    faults += faults_of(page)
    order = Order.objects.get()
    check = BillCheck.objects.get()
    assert (order.ref_id, order.status, order.price) == (check.ref_id, Status.SUCCESS, check.total)
    assert upstream.ledger(order) == [("debit", -check.total)]

    page.click("a:has-text('Receipt')")
    faults += faults_of(page)
    page.add_init_script("window.print = () => {}")
    page.click("button:has-text('Print')")
    page.wait_for_url("**/receipt/1/")
    expect(page.locator(".struk")).to_contain_text(check.customer_name)
    faults += faults_of(page)
    assert faults == []


def test_only_the_receipt_is_printed_and_fits_each_paper(shop: Fleet, open_window: OpenWindow):
    page = open_window()
    sign_in(page, shop.url, "cashier")
    check_bill(page, shop, SUCCEEDS)
    page.click("#bill-pay")
    expect(page.locator(".order-status .status-success")).to_be_visible()
    order_page = page.url
    page.add_init_script("window.printed = 0; window.print = () => { window.printed += 1; }")

    for number, (paper, width) in enumerate({"58": 58, "80": 80, "a5": 148}.items(), start=1):
        page.goto(f"{order_page}receipt/?paper={paper}")
        page.click("button:has-text('Print')")
        page.wait_for_url(f"**/receipt/{number}/")

        page.wait_for_function("window.printed === 1")
        pdf = page.pdf(prefer_css_page_size=True)
        [box] = set(re.findall(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", pdf))
        assert float(box[0]) / 72 * 25.4 == pytest.approx(width, abs=0.5)
        assert len(re.findall(rb"/Type ?/Page\b", pdf)) == 1
        page.emulate_media(media="print")
        assert page.locator(".struk").is_visible()
        for hidden in (".side", ".page-head", "#toasts"):
            assert not page.locator(hidden).first.is_visible(), hidden
        page.emulate_media(media="null")


def test_a_check_expires_by_itself_and_one_click_checks_again(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window()
    sign_in(page, shop.url, "cashier")
    check_bill(page, shop, EXPIRES)
    page.evaluate("window.neverReloaded = true")

    expect(page.locator(".status-line", has_text="Expired")).to_be_visible()
    assert page.evaluate("window.neverReloaded")
    expect(page.locator("#bill-pay")).to_have_count(0)
    faults = faults_of(page)
    first = page.url
    page.click("button:has-text('Check again')")
    page.wait_for_url(lambda url: url != first)

    old, new = BillCheck.objects.order_by("pk")
    assert (old.state, old.ref_id != new.ref_id) == ("expired", True)
    assert page.url.endswith(f"/bills/{new.ref_id}/")
    assert not Order.objects.exists()
    assert faults == []


def test_a_risen_total_is_paid_only_when_it_is_confirmed(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window()
    sign_in(page, shop.url, "cashier")
    check_bill(page, shop, TOTAL_RISES)
    page.dblclick("#bill-pay")
    page.wait_for_url("**/orders/*/")

    expect(page.locator("#bill-ask")).to_be_visible()
    order = Order.objects.get()
    before = order.max_price
    assert order.action_reason == ActionReason.AMOUNT_MISMATCH
    assert upstream.ledger(order) == []
    faults = faults_of(page)
    page.click("#bill-ask")
    page.wait_for_url("**/bills/*/")
    expect(page.locator("#bill-pay")).to_contain_text("Confirm")
    faults += faults_of(page)
    page.click("#bill-pay")

    page.wait_for_url("**/orders/*/")
    expect(page.locator(".order-status .status-success")).to_be_visible()
    order.refresh_from_db()
    assert (order.max_price, Order.objects.count()) == (before + 2_500, 1)
    assert upstream.ledger(order) == [("debit", -(before + 2_500))]
    assert faults == []


def test_a_pending_inquiry_is_followed_without_reloading(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window()
    sign_in(page, shop.url, "cashier")
    check_bill(page, shop, PENDING_UNTIL_TOLD)
    page.evaluate("window.neverReloaded = true")
    expect(page.locator(".status-line", has_text="Checking the bill")).to_be_visible()
    faults = faults_of(page)
    check = eventually(lambda: BillCheck.objects.filter(polls__gte=1).first())

    upstream.control("settle", ref_id=check.ref_id, status="valid")

    expect(page.locator("#bill-pay")).to_be_visible()
    assert page.evaluate("window.neverReloaded")
    expect(page.locator("#bill-announce")).to_have_text("Status: Payable")
    assert faults == []


def test_a_refused_check_says_why(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window()
    sign_in(page, shop.url, "cashier")

    check_bill(page, shop, PAID_ELSEWHERE)

    expect(page.locator("#bill-refused")).to_contain_text(str(meaning_of("BILL_ALREADY_PAID").words))
    assert faults_of(page) == []


def test_a_payment_without_balance_is_paid_after_a_top_up(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window()
    sign_in(page, shop.url, "cashier")
    check_bill(page, shop, BALANCE_SHORT)
    page.click("#bill-pay")
    page.wait_for_url("**/orders/*/")
    expect(page.locator(".order-status .status-needs_action")).to_be_visible()

    upstream.control("topup", amount=5_000_000)
    page.click("#bill-pay")

    expect(page.locator(".order-status .status-success")).to_be_visible()
    order = Order.objects.get()
    assert [kind for kind, _amount in upstream.ledger(order)] == ["debit"]


def test_without_javascript_a_bill_is_checked_and_paid(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window(java_script_enabled=False)
    sign_in(page, shop.url, "cashier")

    page.goto(f"{shop.url}/bills/check/?q=pln")
    page.click("a:text-is('PLN Pascabayar')")
    page.fill("[name=destination]", SUCCEEDS)
    page.click("button:has-text('Check the bill')")
    expect(page.locator("#bill-pay")).to_be_visible()
    expect(page.get_by_text(re.compile(r"Payable until \d+ \w+ 20"))).to_be_visible()
    page.click("#bill-pay")

    expect(page.locator(".order-status .status-success")).to_be_visible()
    assert Order.objects.get().status == Status.SUCCESS


def test_all_bills_of_a_customer_are_checked_chosen_and_paid(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    customer = Customer.objects.create(name="Bu Sari")
    for code, number in (("PLNPASCA", SUCCEEDS), ("BPJSKS", "000129000001"), ("FIF", "12290000035")):
        product = Product.objects.get(code=code)
        kind = "meter" if code == "PLNPASCA" else "customer"
        SavedNumber.objects.create(customer=customer, destination=number, product=product, kind=kind)
    page = open_window()
    sign_in(page, shop.url, "cashier")
    page.goto(f"{shop.url}/customers/{customer.pk}/")
    faults = faults_of(page)

    page.click("#check-all")
    page.wait_for_url("**/bills/batch/**")
    page.evaluate("window.neverReloaded = true")
    expect(page.locator("#batch-progress progress")).to_have_attribute("value", "3")
    assert page.evaluate("window.neverReloaded")
    faults += faults_of(page)
    payable = BillCheck.objects.filter(answer="bill")
    boxes = page.locator("[name=bill]")
    expect(boxes).to_have_count(payable.count())
    boxes.first.uncheck()
    page.click("#batch-foot button")
    page.wait_for_selector(".review")
    faults += faults_of(page)
    page.click(".review button.btn-primary")

    page.wait_for_url(re.compile(r"/bills/batch/[^/]+/$"))
    expect(page.locator(".batch-row .status-success")).to_have_count(payable.count() - 1)
    faults += faults_of(page)
    assert Order.objects.filter(status=Status.SUCCESS).count() == payable.count() - 1
    assert faults == []


def test_a_saved_number_is_offered_while_typing(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    customer = Customer.objects.create(name="Bu Sari")
    product = Product.objects.get(code="PLNPASCA")
    SavedNumber.objects.create(customer=customer, destination=SUCCEEDS, product=product, kind="meter")
    page = open_window()
    sign_in(page, shop.url, "cashier")
    page.goto(f"{shop.url}/bills/check/PLNPASCA/")

    expect(page.locator("[autofocus]")).to_be_focused()
    page.keyboard.type("sari")
    expect(page.locator("#suggestions [data-pick]")).to_have_count(1)
    assert faults_of(page) == []
    page.keyboard.press("ArrowDown")
    expect(page.locator("#suggestions [data-pick]")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**?destination=*")
    expect(page.locator("#id_destination")).to_have_value(SUCCEEDS)
    page.keyboard.press("Enter")

    page.wait_for_url(re.compile(r"/bills/B\d"))
    assert BillCheck.objects.get().saved_number.customer == customer
