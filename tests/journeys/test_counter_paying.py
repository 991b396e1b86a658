"""At the counter a colleague approves, a way to pay is one key, and a failed sale's money goes back."""

import pytest
from playwright.sync_api import expect

from approvals.models import Approval
from drawers.models import DrawerEntry
from purchases.models import Order
from staff.models import User
from testing.fleet import Fleet
from tests.conftest import Upstream
from tests.drawers.helpers import begin
from tests.journeys.hands import MOST_KEYS, PHONE, Hands, keys_are_printed
from tests.journeys.helpers import OpenWindow, faults_in_all_looks

pytestmark = pytest.mark.journey


def test_a_colleague_approves_at_the_counter(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    begin(User.objects.get(username="cashier"))
    User.objects.filter(username="cashier").update(own_approval_above=5_000)
    page = open_window()
    till = Hands(page, shop)

    # given a bill above the limit, on which the typed digits are the cash: more than any bill
    till.type_number("531290000001")
    till.press("Space", "b", "Enter")
    till.review()
    expect(page.locator("#approval-needed")).to_be_visible()
    till.press(*"3000000")
    expect(page.locator("#id_cash_given")).to_be_focused()
    expect(page.locator("#id_cash_given")).to_have_value("3.000.000")
    expect(page.locator("#id_approval_reason")).to_have_value("")
    till.press("Enter")
    expect(page.locator("#id_approver")).to_be_focused()
    asked = Approval.objects.get()
    assert (asked.reason, asked.facts["payment"]["cash_given"], Order.objects.count()) == ("", 3_000_000, 0)

    # when a colleague types the password for a sale
    page.goto(f"{shop.url}/counter/")
    expect(till.field).to_be_focused()
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
    said = page.locator(f"#counter-said[data-sent='{order.ref_id}'][data-state='failed owed']")
    expect(said.locator("[form^=give-back]")).to_be_visible()
    colours = "all => new Set(all.map((one) => getComputedStyle(one).backgroundColor)).size"
    assert page.eval_on_selector_all(f"#counter-said, [data-ref='{order.ref_id}'] .status", colours) == 1
    faults = faults_in_all_looks(page)

    till.press("Escape")  # from the empty field to the order that has just ended
    expect(page.locator(f"[data-ref='{order.ref_id}']")).to_be_focused()
    for _ in range(5):
        page.keyboard.down("g")  # held
    page.keyboard.up("g")

    expect(page.locator(f"[data-ref='{order.ref_id}'] .run-says.is-done")).to_be_visible()
    expect(page.locator(f"[data-ref='{order.ref_id}']")).to_be_focused()
    expect(in_drawer).to_have_attribute("data-amount", "100000")
    expect(page.locator("[data-act=g], #counter-said [form]")).to_have_count(0)
    assert faults + faults_in_all_looks(page) == []
    entries = DrawerEntry.objects.filter(kind="refund").values_list("shift", "method", "amount", "ref_id")
    assert list(entries) == [(shift.pk, "cash", -order.customer_pays, order.ref_id)]
    assert upstream.ledger(order) == [("debit", -order.shown_price), ("refund", order.shown_price)]


def test_unclear_cash_and_a_lacking_slip_are_asked_for_again(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    begin(User.objects.get(username="cashier"), cash=100_000)
    page = open_window()
    till = Hands(page, shop)
    till.type_number(PHONE)
    till.press("Space", "1", "0", "Enter")
    till.review()
    given, change = page.locator("#id_cash_given"), page.locator("#pay-change")
    amounts = {"50rb": "50.000", "1,5jt": "1.500.000", "50": "50.000", "1,000,000": "1.000.000", "Rp20.000,-": "20.000"}
    for typed, shown in amounts.items():
        given.fill(typed)
        given.blur()
        expect(given).to_have_value(shown)
        expect(change).to_be_visible()

    given.fill("1.5jt")
    expect(change).to_be_hidden()
    given.press("Enter")

    expect(page.locator("#counter-review [role=alert][data-code]")).to_be_visible()
    expect(given).to_have_value("1.5jt")
    assert not Order.objects.exists()

    # when it is paid by card, then a lacking slip takes the next key
    till.review()
    till.press("F9", "Enter")
    expect(page.locator("#id_paid_reference[aria-invalid]")).to_be_focused()
    till.review()
    till.press(*"A42", "Enter")
    assert till.sent().payment.reference == "A42"


def test_each_way_to_pay_is_one_key_and_the_change_is_shown(shop: Fleet, upstream: Upstream, open_window: OpenWindow):
    shift, faults, paid = begin(User.objects.get(username="cashier"), cash=100_000), [], []
    page = open_window(language="id-ID")
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
    assert price % 100 == 50, "no coins make this price: the change is that of the next Rp100"
    change = 50_000 - price - 50
    till.press("5")
    expect(page.locator("#pay-change.is-short")).to_be_visible()
    till.press("0")
    expect(page.locator("#pay-change:not(.is-short)")).to_have_attribute("data-amount", str(change))
    faults += faults_in_all_looks(page)
    till.press("Enter")
    order = till.sent()
    assert till.keys <= 8
    expect(page.locator(f"#counter-said [data-change='{change}']")).to_be_visible()
    expect(page.locator(f"[data-ref='{order.ref_id}'] [data-change='{change}']")).to_be_visible()
    faults += faults_in_all_looks(page)
    paid.append(order)

    # A banknote with one press, and the longest: Rp100.000.
    till.type_number("081291111102")
    till.press("Space", "1", "0", "Enter")
    till.review()
    page.click("[data-gives='20000']")
    expect(page.locator("[data-send]")).to_be_focused()
    till.press("Enter")
    paid += [till.sent(), sell("081291111103", "1", "0", "0", "Enter", most=8)]

    # The other ways: one key each, in addition to the keys of the sale.
    paid.append(sell("081291111104", "F4", "Enter", most=MOST_KEYS))
    paid.append(sell("081291111105", "F8", "Enter", most=MOST_KEYS))
    # A transfer's number may begin with a letter that is a shortcut elsewhere.
    paid.append(sell("081291111107", "F8", *"BCA99", "Enter", most=MOST_KEYS + 5))
    paid.append(sell("081291111106", "F9", "4", "2", "Enter", most=8))
    assert faults == []
    payments = [(order.payment.method, order.payment.cash_given, order.payment.reference) for order in paid]
    assert payments == [
        ("cash", 50_000, ""),
        ("cash", 20_000, ""),
        ("cash", 100_000, ""),
        ("qris", None, ""),
        ("transfer", None, ""),
        ("transfer", None, "BCA99"),
        ("card", None, "42"),
    ]
    assert shift.payments.count() == len(paid) == Order.objects.count()
    for order in paid:
        assert upstream.ledger(order) == [("debit", -order.shown_price)]
        assert upstream.calls(order, "create") == ["/v1/transaction/create"]
