"""The office by role: the acts and views of a cashier, a supervisor, an auditor and an owner in each part of it.

A role works in a window of 1440 px, and looks at each page in its own mix of language, colour scheme and width. So each
page is seen in both languages, both schemes and both widths, and in every pair of them.
"""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from audit.models import AuditEvent
from complaints.services import open_complaint
from customers.events import CUSTOMER_ERASED
from customers.models import Customer
from customers.services import erase
from earnings.services import sum_days
from purchases.states import ActionReason, Status
from staff.models import User
from staff.roles import create_demo_staff
from testing.factories import make_order, make_product
from tests.customers.helpers import make_customer
from tests.drawers.helpers import begin, end, sell
from tests.earnings.helpers import ago, sold
from tests.journeys.helpers import PHONE, OpenWindow, faults_in, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]

WIDE = (1440, 900)
LAST_DIGITS = "7802"
NUMBER, SHOWN, SHOWN_MASKED = f"08123456{LAST_DIGITS}", "0812-3456-7802", "0812-••••-•802"
ALL_PLACES = ["today", "sell", "work", "records", "money", "office"]
ALL_TABS = ["today", "work", "records", "money"]


@dataclass(frozen=True)
class Look:
    language: str
    scheme: str
    size: tuple[int, int]


LOOKS = {
    "cashier": Look("en-GB", "light", WIDE),
    "supervisor": Look("id-ID", "light", PHONE),
    "auditor": Look("en-GB", "dark", PHONE),
    "owner": Look("id-ID", "dark", WIDE),
}


@pytest.fixture
def shop() -> dict[str, Any]:
    """Bu Sari's order of last week by the cashier; an order of today that waits for a decision, and a refund due."""
    create_demo_staff()
    cashier, owner = (User.objects.get(username=name) for name in ("cashier", "owner"))
    product = make_product(brand="xl", code="XL50", name="XL 50.000")
    facts = {"product": product, "placed_by": cashier, "destination": NUMBER}
    old = sold(ago(7), price=50_000, selling_price=52_000, **facts)
    sum_days()
    begin(cashier)
    begin(owner)
    make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT, sent_no=None, **facts)
    owed = end(sell(cashier, 10_500, destination=NUMBER), Status.FAILED)
    customer = make_customer("Bu Sari", (NUMBER, "phone"))
    open_complaint(old, actor=cashier, words="It has not arrived")
    return {"old": old, "owed": owed, "customer": customer}


def faults_in_look(page: Page, role: str) -> list[str]:
    """The faults of the page as it is shown in the role's look; the window keeps its width."""
    faults = faults_in(page, [(LOOKS[role].size, LOOKS[role].scheme)])
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    return faults


def at(page: Page, path: str) -> str:
    """The address of this path of the shop."""
    return re.sub(r"(//[^/]+)/.*", rf"\1{path}", page.url)


def status_of(page: Page, path: str) -> int:
    return page.request.get(at(page, path)).status


@pytest.mark.parametrize("role", LOOKS)
def test_each_role_works_in_every_part_of_the_office(live_server: Any, open_window: OpenWindow, shop, role: str):
    page = open_window(size=WIDE, scheme=LOOKS[role].scheme, language=LOOKS[role].language)
    sign_in(page, live_server.url, role)

    faults = see_what_was_earned_or_the_own_day(page, role, shop)
    faults += open_the_places(page, role)
    faults += find_by_digits(page, role, shop)
    faults += find_an_order_from_a_vague_memory(page, role, shop)
    faults += do_the_own_work(page, role, shop)
    faults += do_with_a_customer_what_the_role_may(page, role, shop["customer"])

    assert faults == []


def see_what_was_earned_or_the_own_day(page: Page, role: str, shop: dict[str, Any]) -> list[str]:
    faults = faults_in_look(page, role)
    if role == "cashier":
        expect(page.locator("#own-sales")).to_be_visible()
        expect(page.locator("#earned-figures")).to_have_count(0)
        return faults

    # when: the overview leads to the earnings of a day of last week, by cashier
    page.click("#earned-by .more-link")
    day = f"{ago(7):%Y-%m-%d}"
    page.goto(at(page, f"/earnings/?since={day}&until={day}&by=person"))
    expect(page.locator("[data-tile=sold]")).to_have_attribute("data-value", "1")
    faults += faults_in_look(page, role)
    page.click("[data-key] a")

    # then: the orders behind the figure
    expect(page.locator(f"#row-{shop['old'].pk}")).to_be_visible()
    expect(page.locator("#results tbody tr")).to_have_count(1)
    return faults


def open_the_places(page: Page, role: str) -> list[str]:
    page.goto(at(page, "/"))
    places, tabs = (ALL_PLACES, ALL_TABS)
    if role == "cashier":
        places, tabs = ALL_PLACES[:4], ["counter", "work", "orders", "drawer"]

    # then: the places at the side, each of whose pages opens
    side = page.locator(".nav-main [data-group]")
    assert [place.get_attribute("data-group") for place in side.all()] == places
    paths = [link.get_attribute("href") for link in page.locator(".nav-main a").all()]
    assert [status_of(page, str(path)) for path in paths] == [200] * len(paths)

    # then: pages without a link are closed
    closed = {"cashier": ["/earnings/", "/staff/", "/balance/"], "auditor": ["/counter/", "/customers/"]}.get(role, [])
    assert [status_of(page, path) for path in closed] == [403] * len(closed)
    sees_health = role == "owner"
    assert status_of(page, "/health/") == (200 if sees_health else 403)

    # when: a place is opened, its own pages appear
    side.nth(2).click()
    expect(page.locator(".nav-main [data-group=work]")).to_have_attribute("aria-current", "true")
    expect(page.locator(".nav-main [data-place=work]")).to_be_visible()
    if sees_health:
        page.goto(at(page, "/health/"))
    faults = faults_in_look(page, role)

    # then: on a phone there are five tabs
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    shown = page.locator("#tabs > a")
    assert [tab.get_attribute("data-group") or tab.get_attribute("data-place") for tab in shown.all()] == tabs
    expect(page.locator("#more")).to_be_visible()
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    return faults


def find_by_digits(page: Page, role: str, shop: dict[str, Any]) -> list[str]:
    page.goto(at(page, "/orders/"))
    results = page.locator("#find-results")
    page.wait_for_load_state()
    page.keyboard.press("Control+k")
    page.keyboard.type(NUMBER if role == "auditor" else LAST_DIGITS)

    # then: an auditor, who may not see numbers, finds it only by the whole number
    orders = results.locator("[data-group=orders] [data-found]")
    expect(orders.first).to_be_visible()
    expect(results.locator("[data-group=do]")).to_be_visible()
    expect(results.locator("[data-group=customers]")).to_have_count(0 if role == "auditor" else 1)
    text = results.inner_text()
    assert (SHOWN in text, "3456" in text.replace("-", "")) == ((False, False) if role == "auditor" else (True, True))
    faults = faults_in_look(page, role)

    # when: the role searches for a page that it may or may not open
    page.fill("#find-q", "")
    words = {"en-GB": "Prices", "id-ID": "Harga"}[LOOKS[role].language]
    page.keyboard.type(words)
    expect(results).to_have_attribute("data-text", words)
    expect(results.locator("a[href='/products/prices/']")).to_have_count(0 if role == "cashier" else 1)

    # when: the same as a page
    page.goto(at(page, f"/find/?q={LAST_DIGITS if role != 'auditor' else NUMBER}"))
    faults += faults_in_look(page, role)
    page.click(f"#find-results a[href='{shop['old'].get_absolute_url()}']")
    page.wait_for_url(f"**{shop['old'].get_absolute_url()}")
    return faults


def find_an_order_from_a_vague_memory(page: Page, role: str, shop: dict[str, Any]) -> list[str]:
    """And have its file."""
    page.goto(at(page, "/orders/"))
    sees_numbers = role != "auditor"

    # when: people type what they remember; digits of a number help only people who may see it
    page.fill(".filters [name=q]", "50 ribu kasir demo minggu lalu" + (" 02" if sees_numbers else ""))
    page.keyboard.press("Enter")
    expect(page.locator("[data-chip]")).to_have_count(3 if sees_numbers else 2)
    row = page.locator("#results tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_have_attribute("id", f"row-{shop['old'].pk}")
    faults = faults_in_look(page, role)

    # when: it is opened beside the list by keyboard; only people who may write notes have a field for them
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    panel = page.locator("[data-beside-panel]")
    expect(panel).to_contain_text(SHOWN if sees_numbers else SHOWN_MASKED)
    expect(panel.locator("#note-text")).to_have_count(1 if sees_numbers else 0)
    faults += faults_in_look(page, role)
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()

    # then: the file has the same row, and people without the right get no file
    path = re.sub(r"^https?://[^/]+", "", page.url)
    assert status_of(page, f"{path}&format=csv") == (403 if role == "cashier" else 200)
    return faults


def do_the_own_work(page: Page, role: str, shop: dict[str, Any]) -> list[str]:
    page.goto(at(page, "/work/"))
    rows, count = page.locator("#work tr[id]"), page.locator("#count-work")

    # then: the number in the menu equals the number of rows
    if role == "auditor":
        expect(page.locator("#no-work")).to_be_visible()
        expect(count).to_be_hidden()
        page.click("#work-groups [href*='whose=shop']")
        expect(rows.first).to_be_visible()
        expect(page.locator("#work [data-step]")).to_have_count(0)
        assert SHOWN not in page.inner_text("main")
        return faults_in_look(page, role)
    expect(rows.first).to_be_visible()
    assert int(count.inner_text().split()[0]) == rows.count()
    faults = faults_in_look(page, role)

    # when: the customer's money goes back, in the panel
    owed, before = shop["owed"], rows.count()
    page.click(f"#row-refund-{owed.payment_id} [data-step]")
    panel = page.locator("[data-beside-panel]")
    expect(panel.locator("#give-back")).to_be_visible()
    faults += faults_in_look(page, role)
    if role != "supervisor":  # a person without an open drawer gives back no cash
        panel.locator("#give-back button[type=submit]").click()
        expect(rows).to_have_count(before - 1)
        owed.payment.refresh_from_db()
        assert owed.payment.is_given
        assert int(count.inner_text().split()[0]) == rows.count()
    return faults


def do_with_a_customer_what_the_role_may(page: Page, role: str, customer: Customer) -> list[str]:
    path = customer.get_absolute_url()
    if role == "auditor":
        assert status_of(page, path) == 403
        erase(customer.pk, actor=User.objects.get(username="owner"))
        page.goto(at(page, "/audit/"))
        expect(page.locator("#results tbody")).to_contain_text("Customer erased")
        expect(page.locator("main")).not_to_contain_text("Bu Sari")
        return faults_in_look(page, role)
    page.goto(at(page, path))
    expect(page.locator("main")).to_contain_text(SHOWN)
    faults = faults_in_look(page, role)

    if role == "cashier":  # sells again to the number
        page.click("td a[href*='/counter/'], td .btn[href*='counter']")
        expect(page.locator("#counter-q")).to_be_visible()
    elif role == "supervisor":  # makes one of two entries
        make_customer("Sari Warung", (NUMBER, "phone"), ("081233334444", "phone"), note="Blok C 4")
        page.click("#to-merge")
        faults += faults_in_look(page, role)
        page.click("#others a")
        faults += faults_in(page, [(PHONE, "light"), (WIDE, "dark"), (WIDE, "light")])
        page.get_by_label("Sari Warung").check()
        page.click("#merge")
        expect(page.locator("[data-code=customers_merged]")).to_be_visible()
        expect(page.get_by_role("heading", name="Sari Warung")).to_be_visible()
        expect(page.locator("td.c-number")).to_have_text(["0812-3333-4444", SHOWN])
        assert Customer.objects.get().note == "Blok C 4"
    else:  # erases a person who asks for it
        page.click("a[href$='/delete/']")
        faults += faults_in_look(page, role)
        page.click("main form button.btn-warnish")
        expect(page.locator(".toast-success")).to_be_visible()
        assert not Customer.objects.exists()
        assert AuditEvent.objects.filter(kind=CUSTOMER_ERASED.key).exists()
    return faults
