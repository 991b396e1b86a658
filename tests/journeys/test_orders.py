"""The list of orders in a browser: a typed line becomes chips, a row opens beside the list, the sums stand below."""

import datetime as dt
import re
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from purchases.states import Status
from staff.models import User
from staff.roles import create_demo_staff
from testing.factories import make_order
from tests.journeys.helpers import PHONE, OpenWindow, faults_in_all_looks, faults_of, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def orders() -> dict[str, Any]:
    """Last week's order of a cashier, and one of today; the demo's people."""
    create_demo_staff()
    cashier = User.objects.get(username="cashier")
    facts = {"selling_price": 52_000, "price": 50_000, "placed_by": cashier}
    week_ago = timezone.now() - dt.timedelta(days=7)
    old = make_order(Status.SUCCESS, destination="081234567802", created_at=week_ago, **facts)
    new = make_order(Status.SUCCESS, destination="081234567803", **facts)
    return {"old": old, "new": new}


def test_a_supervisor_finds_an_order_from_a_vague_memory_on_a_phone(live_server, open_window: OpenWindow, orders):
    page = open_window(language="id-ID", size=PHONE, scheme="dark")
    sign_in(page, live_server.url, "supervisor", "/orders/")

    page.fill(".filters [name=q]", "50 ribu kasir demo minggu lalu 02")
    page.keyboard.press("Enter")

    expect(page.locator("[data-chip]")).to_have_count(3)
    expect(page.locator("[data-period=last-week]")).to_have_attribute("aria-current", "true")
    expect(page.locator(f"#row-{orders['old'].pk}")).to_be_visible()
    expect(page.locator("#results tbody tr")).to_have_count(1)
    expect(page.locator("#order-sums")).to_contain_text("Rp52.000")
    page.click("[data-change=ends]")
    expect(page.locator(".filter-more [name=ends]")).to_be_focused()
    assert faults_in_all_looks(page) == []
    page.click("[data-chip=ends]")
    page.wait_for_url(lambda url: "ends" not in url)
    page.click("[data-period=every]")
    expect(page.locator("#results tbody tr")).to_have_count(2)

    # then: with filters the first order stands high on a phone
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.goto(f"{live_server.url}/orders/?days=30&status=success&amount_from=1000")
    page.wait_for_load_state("networkidle")  # the saved views and the sums are there
    first = page.locator("#results tbody tr").first.bounding_box()
    assert first["y"] <= 400
    chosen = page.locator("#chosen-filters [data-chip]")
    expect(chosen.first).to_be_in_viewport(ratio=1)
    expect(page.locator("#days-away")).to_be_in_viewport(ratio=1)
    assert page.locator("[data-chosen-filters]").inner_text() == str(chosen.count()) == "2"
    assert faults_of(page) == []
    page.click(".filter-more > summary")
    expect(page.locator(".filter-more [name=status]")).to_be_in_viewport()
    page.click(".filter-more > summary")
    page.fill("[name=q]", "7802")
    page.keyboard.press("Enter")
    expect(page.locator("#results tbody tr")).to_have_count(1)


def test_a_supervisor_ticks_orders_on_a_phone_and_has_their_file(live_server, open_window: OpenWindow, orders):
    page = open_window(size=PHONE)
    sign_in(page, live_server.url, "supervisor", "/orders/?status=success")

    # when: the menu of files stays open for the days that it offers
    page.click(".file-choice:has(#make-csv) summary")
    page.click("#file-periods [data-days=last-month]")
    page.wait_for_url("**days=last-month*")
    expect(page.locator("#file-periods [data-days=last-month][aria-current]")).to_be_in_viewport(ratio=1)
    expect(page.locator("#make-csv")).to_be_in_viewport(ratio=1)
    assert "days=last-month" in str(page.get_attribute("#make-csv", "href"))
    faults = faults_of(page)

    # when: two orders get a tag
    page.goto(f"{live_server.url}/orders/")
    page.wait_for_load_state("networkidle")  # the saved views and the sums are there
    first = page.locator(f"#row-{orders['old'].pk}")
    before = first.bounding_box()
    for number, order in enumerate(orders.values(), start=1):
        page.check(f"#row-{order.pk} [name=order]")
        expect(page.locator("[data-bulk-count]")).to_have_text(str(number))
    expect(page.locator("#bulk [value=print]")).to_be_in_viewport()
    assert first.bounding_box() == before, "the rows stay where they are"
    page.fill("#bulk-tag", "promo")
    faults += faults_in_all_looks(page)
    page.click("#bulk [value=tag]")
    expect(page.locator("[data-done=yes]")).to_have_count(2)
    faults += faults_of(page)
    page.goto(f"{live_server.url}/orders/?tag=promo")
    expect(page.locator("#results .tag")).to_have_count(2)

    # when: their receipts are printed
    page.add_init_script("window.print = () => {}")
    for order in orders.values():
        page.check(f"#row-{order.pk} [name=order]")
    page.click("#bulk [value=print]")
    expect(page.locator(".struk")).to_have_count(2)
    assert faults + faults_of(page) == []
    page.click("#print-receipts")
    page.wait_for_url("**/orders/prints/**")
    page.wait_for_load_state()
    assert len(re.findall(rb"/Type ?/Page\b", page.pdf(prefer_css_page_size=True))) == 2


def test_an_owner_walks_through_the_orders_beside_the_list(live_server, open_window: OpenWindow, orders):
    page = open_window(size=(1440, 900))
    sign_in(page, live_server.url, "owner", "/orders/")
    panel = page.locator("[data-beside-panel]")

    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(panel).to_contain_text("0812-3456-7803")
    page.keyboard.press("j")
    expect(panel).to_contain_text("0812-3456-7802")
    expect(panel).to_contain_text("+Rp2.000")
    assert faults_in_all_looks(page) == []
    page.fill("#note-text", "Pembeli telepon")
    page.click("#add-note button")
    expect(panel.locator(".order-note")).to_contain_text("Pembeli telepon")
    page.fill("#note-tag", "sengketa")
    page.click("#add-tag button")
    expect(panel.locator(".tag")).to_contain_text("sengketa")
    assert faults_of(page) == []
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.locator(f"#row-{orders['old'].pk} [data-pick]")).to_be_focused()

    page.click(".file-choice:has(#make-csv) summary")
    with page.expect_download() as file:
        page.click("#make-csv")
    assert file.value.path().read_text().count("\n") == 3


def test_an_owner_chooses_columns_and_finds_them_again(live_server, open_window: OpenWindow, orders):
    page = open_window(size=(1440, 900))
    sign_in(page, live_server.url, "owner", "/orders/")

    page.click(".file-choice:has(#choose-columns) summary")
    page.uncheck("[name=column][value=sn]")
    page.check("[name=column][value=cashier]")
    for _place in range(3):
        page.click("[name=up][value=cashier]")
    assert faults_in_all_looks(page) == []
    page.click("#choose-columns .btn-primary")

    expect(page.locator("td.c-cashier")).to_have_count(2)
    expect(page.locator("td.c-sn")).to_have_count(0)
    expect(page.locator("td.c-cashier:nth-child(4)")).to_have_count(2)
    page.goto(f"{live_server.url}/orders/?days=today")
    expect(page.locator("td.c-cashier")).to_have_count(1)

    # then: a phone offers no column that it does not show
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.click(".file-choice:has(#choose-columns) summary")
    expect(page.locator("[name=column][value=price]")).to_be_visible()
    expect(page.locator("[name=column][value=cashier]")).to_be_hidden()


def test_the_time_of_an_unknown_order_is_whole_beside_the_panel(live_server, open_window: OpenWindow, orders):
    yesterday = timezone.now() - dt.timedelta(days=1)
    facts = {"selling_price": 1_052_000, "price": 1_050_000, "placed_by": orders["new"].placed_by}
    make_order(Status.UNKNOWN, product_name="Telkomsel Data 50 GB 30 Hari", created_at=yesterday, **facts)
    sold = make_order(Status.SUCCESS, sn="5231-0098-7712-4410-9921", created_at=yesterday, **facts)
    page = open_window(language="en-GB", size=(1440, 900))
    sign_in(page, live_server.url, "owner", "/orders/")

    page.click(f"#row-{sold.pk} [data-pick]")
    expect(page.locator("[data-beside-panel]")).to_be_visible()

    list_end = page.locator("#results").bounding_box()
    for cell in page.locator("#results td.c-time").all():
        box = cell.bounding_box()
        assert box["x"] + box["width"] <= list_end["x"] + list_end["width"] + 1
    for cell in page.locator("#results tbody td.c-status").all():
        outer, badge = cell.bounding_box(), cell.locator(".status").bounding_box()
        assert badge["x"] + badge["width"] <= outer["x"] + outer["width"], "a badge lies over the next column"


TYPED = [
    ("1500000", "1.500.000"),
    ("1.500.000", "1.500.000"),
    ("1500rb", "1.500rb"),
    ("1.5jt", "1.5jt"),
    ("1,5jt", "1,5jt"),
    (("1", "5", "0", "0", "Backspace"), "150"),
    (("1", "5", "0", "0", "ArrowLeft", "ArrowLeft", "ArrowLeft", "Backspace", "Backspace"), "500"),
    (("1", "5", "0", "0", "Home", "2"), "21.500"),
]


def test_an_amount_gets_its_dots_while_digits_are_typed(live_server, open_window: OpenWindow, orders):
    page = open_window(size=(1440, 900))
    sign_in(page, live_server.url, "owner", "/balance/")
    field = page.locator("#topup-amount")

    for keys, shown in TYPED:
        field.fill("")
        for key in keys:
            field.press(key)
        expect(field).to_have_value(shown)
