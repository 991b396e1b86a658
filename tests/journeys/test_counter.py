"""A cashier sells at the counter by keyboard, in few keys, once, and also without a script."""

import re

import pytest
from playwright.sync_api import expect

from customers.models import SavedNumber
from purchases.models import Order
from purchases.states import Status
from staff.models import User
from testing.fleet import Fleet
from testing.sandbox_process import eventually
from tests.conftest import Upstream
from tests.credit.helpers import give_credit, owed_by
from tests.drawers.helpers import begin
from tests.journeys.hands import CUSTOMER, METER, MOST_KEYS, PHONE, Hands, keys_are_printed
from tests.journeys.helpers import OpenWindow, see_what_is_new, sign_in
from tests.tills.helpers import give_pin, manager
from tills.models import Till
from tills.services import make_code

pytestmark = pytest.mark.journey

FAILS = "081290000004"


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
    """Press the keys for the answer to the order's customer, and for the same sale again."""
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
    """Type the product's words, then the player's ID and the zone, with one Enter each."""
    till.page.goto(f"{shop.url}/counter/")
    till.page.keyboard.type("12345678 2001")  # without the product it is not a number in one piece
    till.press("Enter")
    expect(till.page.locator("#counter-nameless")).to_contain_text("12345678 (2001) mlbb 86")
    expect(till.field).to_have_value("12345678 2001")
    till.press("Escape")
    till.page.keyboard.type("mlbb 86")
    till.press("Enter")
    expect(till.page.locator(".sell-pinned")).to_be_visible()
    expect(till.field).to_be_focused()
    till.page.keyboard.type("12345678 2001")
    till.press("Enter")
    till.review()
    assert till.page.locator("#review-number").inner_text() == "12345678 (2001)"


def test_a_pasted_number_takes_the_amount_and_then_the_cash(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    begin(User.objects.get(username="cashier"), cash=100_000)
    page = open_window()
    till = Hands(page, shop)

    # when a number is pasted, then the digits after Enter are the amount
    page.keyboard.insert_text("(0812) 9000-0001")
    till.press("Enter")
    expect(till.field).to_have_value(f"{PHONE} ")
    till.press("1", "0", "Enter")
    till.review()
    assert page.locator("#review-number").inner_text() == "0812 9000 0001"
    assert "10.000" in page.locator(".review-what").inner_text()

    # when one clicks beside the review, then digits are the given cash
    page.locator("h1").click()
    till.press("5", "0")
    expect(page.locator("#id_cash_given")).to_have_value("50")
    expect(till.field).to_have_value(f"{PHONE} 10")


def test_a_tile_picked_by_alt_stays_picked_and_news_leaves_the_cursor(
    shop: Fleet, upstream: Upstream, open_window: OpenWindow
):
    page = open_window()
    till = Hands(page, shop)
    tile, orders = page.locator("#tile-2"), []

    # when a tile is picked by its key, then it is sold, however the number is typed
    for number, shown in (("0812 9000 0022", "0812 9000 0022"), (PHONE, "0812 9000 0001")):
        till.type_number(number)
        code = tile.get_attribute("data-product")
        till.press("Alt+2")
        expect(tile).to_have_attribute("aria-selected", "true")
        expect(till.field).to_have_value(number)  # an answer to another text would bring tiles of which none is picked
        till.press("Enter")
        till.review()
        assert page.locator("#review-number").inner_text() == shown
        till.press("Enter")
        orders.append(till.sent())
        assert orders[-1].product_code == code
        till.row(orders[-1], "" if len(orders) == 2 else "needs_action")

    # when the cursor is on the step of the first sale and the other one ends, then it stays
    step = page.locator(f"[data-ref='{orders[0].ref_id}'] summary")
    step.focus()
    till.row(orders[1], "success")
    expect(step).to_be_focused()


def test_a_held_enter_sells_nothing(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window()
    till = Hands(page, shop)

    # Enter is held from the number on, and while the review appears.
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


def test_by_pin_a_bill_on_credit_and_no_more_than_the_limit(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    cashier, customer = give_pin(User.objects.get(username="cashier")), give_credit("Bu Sri", cap=5_000_000)
    SavedNumber.objects.create(customer=customer, destination=CUSTOMER, kind="customer")
    shift = begin(cashier, cash=100_000)
    boss = manager()
    code = make_code(name="Kasir 1", pin_limit=5_000, actor=boss)
    page = open_window()
    till = Hands(page, shop, by_pin=code)
    expect(page.locator("#pill-drawer")).to_have_attribute("data-amount", "100000")

    # Above the till's limit a PIN sells nothing, whatever key is pressed.
    till.type_number(PHONE)
    till.press("Space", "1", "0", "Enter")
    expect(page.locator("[data-code^=LimitReached]")).to_be_visible()
    till.press("Enter", "Enter")
    assert not Order.objects.exists()
    Till.objects.update(pin_limit=5_000_000)
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


def test_without_javascript_it_takes_more_steps(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    page = open_window(java_script_enabled=False)
    sign_in(page, shop.url, "cashier", "/products/")

    # A number and a product, from the catalogue, whose sale fails
    page.fill("#destination", FAILS)
    page.fill("#q", "Telkomsel 10.000")
    page.click("button:has-text('Search')")
    page.click(".product-link >> nth=0")
    assert page.input_value("#counter-q") == FAILS
    page.click("#counter-form button")
    page.click("[data-send]")
    page.wait_for_url(f"{shop.url}/counter/")
    page.click(".run-what")
    # The page reloads itself every few seconds while the order is open.
    expect(page.locator(".order-status .status-failed")).to_be_visible()

    # A bill, from the tiles
    page.goto(f"{shop.url}/counter/")
    page.fill("#counter-q", f"{CUSTOMER} b")
    page.click("#counter-form button")
    page.click("[data-product=PLNPASCA]")
    page.click("#counter-ask button")
    expect(page.get_by_text(re.compile(r"Payable until \d+ \w+ 20"))).to_be_visible()
    page.click("#counter-pay")
    page.wait_for_url(f"{shop.url}/counter/")
    see_what_is_new(page)
    expect(page.locator("[data-run][data-status=success]")).to_have_count(1)
    moves = [[kind for kind, _amount in upstream.ledger(order)] for order in Order.objects.order_by("pk")]
    assert moves == [["debit", "refund"], ["debit"]]
