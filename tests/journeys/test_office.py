"""The office by hand: earnings open their orders, a row of work is taken and done, four digits find an order."""

import datetime as dt
import math
import re
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Route, expect

from drawers.models import Payment
from earnings.services import sum_days
from purchases.states import ActionReason, Status
from staff.models import User
from staff.roles import create_demo_staff
from testing.factories import make_order, make_product
from tests.branches.helpers import make_branch
from tests.drawers.helpers import begin, end, sell
from tests.earnings.helpers import ago, sold
from tests.journeys.helpers import PHONE, OpenWindow, faults_in_all_looks, faults_in_both_languages, faults_of, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]

LAST_DIGITS = "7801"
NUMBER = f"08123456{LAST_DIGITS}"


@pytest.fixture
def shop() -> dict[str, Any]:
    """A cashier's sale of three days ago, and a failed sale of the owner whose money is to be given back."""
    create_demo_staff()
    cashier, owner = (User.objects.get(username=name) for name in ("cashier", "owner"))
    product = make_product(brand="xl", code="XL10", name="XL 10.000")
    order = sold(ago(3), product=product, placed_by=cashier, destination=NUMBER)
    sum_days()
    begin(owner, cash=100_000)
    return {"order": order, "owed": end(sell(owner, 10_500, destination=NUMBER), Status.FAILED)}


def test_an_owner_goes_from_a_figure_to_its_orders_and_does_what_waits(live_server: Any, open_window: OpenWindow, shop):
    page, address = open_window(), live_server.url
    sign_in(page, address, "owner")

    # when: a digit goes straight into the field, and from there into the dialog
    page.keyboard.type(LAST_DIGITS)
    expect(page.locator("#find-q")).to_have_value(LAST_DIGITS)
    expect(page.locator(f"#find-results a[href='{shop['order'].get_absolute_url()}']")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#overview-q")).to_have_value("")

    # when: a week and its products, in place; the address keeps them
    page.click("#days-7")
    expect(page.locator("#days-7[aria-current]")).to_be_focused()
    expect(page.locator("[data-tile=sold]")).to_have_attribute("data-value", "1")
    page.click("#by-product")
    expect(page.locator("#by-product[aria-current]")).to_be_focused()
    expect(page.locator("#days-7[aria-current]")).to_be_visible()
    assert page.url == f"{address}/?days=7&by=product"
    page.reload()
    expect(page.locator("#earned-by [data-key=XL10]")).to_be_visible()
    expect(page.locator("#work-first")).to_be_visible()
    page.click("#sales-table > summary")
    page.click("#days-today")
    expect(page.locator("#days-today[aria-current]")).to_be_visible()
    expect(page.locator("#sales-table[open]")).to_be_visible()
    page.click("#days-7")
    expect(page.locator("#earned-by [data-key=XL10]")).to_be_visible()
    faults = faults_of(page)

    # when: all of them, and the orders of a line
    page.click("#earned-by .more-link")
    expect(page.locator("#earned-by [data-key=XL10]")).to_be_in_viewport()
    page.click("#earned-by [data-by=category]")
    expect(page.locator("#earned-by [data-by=category][aria-current]")).to_be_in_viewport()
    page.click("#earned-by [data-by=product]")
    expect(page.locator("[data-tile=sold]")).to_have_attribute("data-value", "1")
    faults += faults_in_both_languages(page)
    page.click("[data-key=XL10] a")
    expect(page.locator("#results tbody tr")).to_have_count(1)
    expect(page.locator(f"#row-{shop['order'].pk}")).to_be_visible()

    # when: a waiting row is taken and done
    page.goto(f"{address}/work/")
    row = page.locator("#work tr[id]")
    expect(row).to_have_count(1)
    row.locator("form button").click()
    expect(row.locator("[name=leave]")).to_be_visible()
    faults += faults_in_both_languages(page)
    row.locator("a.btn").click()
    page.click("#give-back button[type=submit]")
    expect(page.locator("#no-work")).to_be_visible()
    shop["owed"].payment.refresh_from_db()
    assert shop["owed"].payment.is_given
    page.goto(f"{address}/work/")
    expect(page.locator("#no-work")).to_be_visible()
    expect(page.locator("#count-work")).to_be_hidden()
    assert faults + faults_of(page) == []


def test_the_days_of_the_overview_need_no_script(live_server: Any, open_window: OpenWindow, shop):
    page = open_window(size=PHONE, java_script_enabled=False)
    sign_in(page, live_server.url, "owner")

    page.click("#days-7")

    expect(page.locator("[data-tile=sold]")).to_have_attribute("data-value", "1")
    expect(page.locator("#earned-by tbody tr")).to_have_count(1)
    page.click("#by-person")
    expect(page.locator("#earned-by [data-key=cashier]")).to_be_in_viewport()
    page.fill("#overview-q", LAST_DIGITS)
    page.click("#quick-find button")
    expect(page.locator(f"#find-results a[href='{shop['order'].get_absolute_url()}']")).to_be_visible()


def test_the_rows_of_the_overview_show_what_is_chosen_on_a_phone(live_server: Any, open_window: OpenWindow, shop):
    make_branch("Timur")
    page = open_window(size=PHONE, language="id-ID")
    row = page.locator("#earned-switch .switch").first
    fades = """row => ["left", "right"].map(side => getComputedStyle(row).getPropertyValue(`--fade-${side}`))"""
    last = row.locator("a").last

    # given the first of the days, the row fades at the edge where it goes on; the lines stand in one row
    sign_in(page, live_server.url, "owner", "/?days=today")
    lines = page.locator("#earned-by .switch a")
    assert len({choice.bounding_box()["y"] for choice in lines.all()}) == 1
    row.scroll_into_view_if_needed()
    expect(row.locator("a").first).to_be_in_viewport(ratio=1)
    expect(last).not_to_be_in_viewport(ratio=1)
    assert row.evaluate(fades) == ["0px", "40px"]

    # when the last is chosen, it is whole and in sight, after a click and on a page of its own
    address = last.get_attribute("href")
    last.click()
    for _ in range(2):
        expect(row.locator("[aria-current]")).to_have_attribute("href", address or "")
        row.scroll_into_view_if_needed()
        expect(last).to_be_in_viewport(ratio=0.99)  # part of a pixel is cut off
        assert row.evaluate(fades) == ["40px", "0px"]
        page.goto(f"{live_server.url}{address}")
    page.click("#by-branch")
    expect(page.locator("#by-branch[aria-current]")).to_be_in_viewport(ratio=0.9)

    # and nothing fades if the row fits, or in forced colours
    page.set_viewport_size({"width": 820, "height": 1180})
    expect(row).to_have_css("--fade-left", "0px")
    page.emulate_media(forced_colors="active")
    expect(row).to_have_css("mask-image", "none")


def test_days_chosen_on_a_phone_stand_before_what_waits(live_server: Any, open_window: OpenWindow, shop):
    page, parts = open_window(size=PHONE), "#overview-grid > :is(#due-first, #earned-figures, #earned-by)"
    names = "parts => parts.map(part => part.id)"
    sign_in(page, live_server.url, "owner")
    expect(page.locator("#work-first")).to_be_visible()
    expect(page.locator("[data-tile=sold]")).to_be_attached()
    assert page.locator(parts).evaluate_all(names) == ["due-first", "earned-figures", "earned-by"]
    page.evaluate("scrollTo(0, 200)")
    place = page.locator("#days-7").bounding_box()

    # when: the click moves what waits to below, the link stays under the finger
    page.click("#days-7")
    expect(page.locator("#overview-grid[data-chosen]")).to_be_attached()

    assert page.locator(parts).evaluate_all(names) == ["earned-figures", "earned-by", "due-first"]
    expect(page.locator("#days-7[aria-current]")).to_be_focused()
    assert place
    assert page.locator("#days-7").bounding_box()["y"] == pytest.approx(place["y"], abs=2)
    page.reload()
    expect(page.locator("#work-first")).to_be_visible()
    assert page.locator(parts).evaluate_all(names) == ["earned-figures", "earned-by", "due-first"]


def test_what_people_look_for_lies_inside_a_phone(live_server: Any, open_window: OpenWindow, shop):
    page, address = open_window(size=PHONE, language="id-ID"), live_server.url
    sign_in(page, address, "owner", "/due/")
    expect(page.locator(".place-row [aria-current]")).to_be_in_viewport(ratio=1)

    # then: a list's menu of files and its columns
    for path in ("/orders/", "/customers/", "/bills/", "/complaints/", "/balance/differences/"):
        page.goto(f"{address}{path}")
        for menu in page.locator(".file-choice").all():
            menu.locator("summary").click()
            assert sides_of(menu.locator(".menu-body")) <= set(range(PHONE[0] + 1)), path
            menu.locator("summary").click()

    # then: the steps of an order
    page.goto(f"{address}{shop['order'].get_absolute_url()}")
    for step in page.locator(".order-tools a").all():
        assert sides_of(step) <= set(range(PHONE[0] + 1))

    # then: every figure of a person, after a click those of 30 days, which the address keeps
    page.goto(f"{address}{User.objects.get(username='cashier').get_absolute_url()}")
    page.click("#person-days-30")
    expect(page.locator("#done[data-days='30'] [data-figure=sold]")).to_have_text("1")
    expect(page.locator("#person-days-30")).to_be_focused()
    assert page.url.endswith("?days=30")
    figures = page.locator("#beside-others [data-person=cashier] td")
    expect(figures).to_have_count(11)
    for figure in figures.all():
        expect(figure).to_be_visible()


def test_the_earnings_fit_a_phone_and_a_sheet_and_a_finger(live_server: Any, open_window: OpenWindow, shop):
    page, beside, address = open_window(size=PHONE, language="id-ID"), {"x": 10, "y": 28}, live_server.url
    sign_in(page, address, "owner")

    # when: a finger presses just below small words
    page.locator("#earned-by .more-link").click(position=beside)
    expect(page).to_have_url(re.compile("/earnings/"))
    page.locator("#sales-table > summary").click(position=beside)
    expect(page.locator("#sales-table[open]")).to_be_visible()

    # then: every way to see the earnings is large enough and lies inside, also the chosen one
    page.goto(f"{address}/earnings/?days=7")
    for by in page.locator("#earned-by .tabs a").all():
        assert sides_of(by) <= set(range(PHONE[0] + 1))
        assert by.bounding_box()["height"] >= 44
    page.locator("#earned-by .tabs a").last.click()
    page.locator("#earned-by .tabs a[aria-current]").last.wait_for()
    chosen = page.locator("#earned-by .tabs [aria-current]")
    assert sides_of(chosen) <= set(range(PHONE[0] + 1))
    expect(chosen).to_be_in_viewport()

    # then: a sheet of A4, without its margins, has the lines and not the choice
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 688, "height": 990})
    expect(page.locator("#earned-by .tabs")).to_be_hidden()
    expect(page.locator(".earned-lines tbody tr").first).to_have_css("display", "table-row")
    page.emulate_media(media="null")
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})

    # then: a finger meets each right, and a quiet button
    page.goto(f"{address}/staff/roles/cashier/")
    heights = [box["height"] for right in page.locator(".right").all() if (box := right.bounding_box())]
    assert min(heights) >= 44
    page.goto(f"{address}/earnings/journal/")
    page.locator(".page-head .btn-quiet").click(position=beside | {"y": 33})
    expect(page).to_have_url(re.compile("/accounts/"))


def sides_of(part: Locator) -> set[int]:
    """The left and the right side of the element, in whole pixels of the screen."""
    box = part.bounding_box()
    assert box
    return {math.floor(box["x"]), math.ceil(box["x"] + box["width"])}


def test_what_waits_and_its_state_stand_in_the_first_screen(live_server: Any, open_window: OpenWindow, shop):
    held = {"action_reason": ActionReason.BALANCE_SHORT, "sent_no": None, "created_at": ago(1)}
    make_order(Status.NEEDS_ACTION, **held), make_order(Status.NEEDS_ACTION, **held)
    order = make_order(Status.UNKNOWN, sent_at=timezone.now() - dt.timedelta(minutes=10), destination=NUMBER)
    faults = []
    for size, scheme, language in [((1440, 900), "light", "en-GB"), (PHONE, "dark", "id-ID")]:
        page = open_window(size=size, scheme=scheme, language=language)
        sign_in(page, live_server.url, "owner")
        row = page.locator(f"#work-first #row-order-{order.pk}")
        give_back = page.locator(f"#work-first #row-refund-{shop['owed'].payment_id} [data-step]")
        parts = (row.locator(".status-unknown"), row.locator("[data-waits]"), row.locator("[data-step]"), give_back)
        for part in parts:
            expect(part).to_be_in_viewport(ratio=1)
        box, tabs = row.bounding_box(), page.locator(".tabbar").bounding_box()
        assert box
        assert box["y"] + box["height"] <= (tabs["y"] if tabs else size[1])
        faults += faults_of(page)
    assert faults == []


def test_an_owner_does_what_waits_in_the_panel(live_server: Any, open_window: OpenWindow, shop):
    held = make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT, sent_no=None, destination=NUMBER)
    page, address = open_window(size=(1440, 900)), live_server.url
    sign_in(page, address, "owner", "/work/")
    panel = page.locator("[data-beside-panel]")
    rows = page.locator("#work tr[id]")
    expect(rows).to_have_count(2)

    # when: each row is opened by keyboard, closed, and opened again
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(panel.locator("#give-back")).to_be_visible()  # its shift is open: it is due first
    page.keyboard.press("j")
    expect(panel.locator("#act-cancel")).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    page.click(f"#row-order-{held.pk} [data-step]")
    expect(panel.locator("#act-cancel")).to_be_visible()
    faults = faults_of(page)

    # when: the order is cancelled there
    panel.locator("#act-cancel summary").click()
    panel.locator("#act-cancel button").click()
    expect(page.locator(".toast-success")).to_be_visible()

    # then: its row goes, the number follows, and its customer's money is next
    expect(page.locator(f"#row-order-{held.pk}")).to_have_count(0)
    held.refresh_from_db()
    assert held.status == Status.CANCELLED
    assert page.url == f"{address}/work/"
    shown = page.locator("#count-work").inner_text().split()[0]
    assert int(shown) == rows.count()

    # when: the money of the failed sale goes back there
    owed = shop["owed"]
    page.click(f"#row-refund-{owed.payment_id} [data-step]")
    for fact in (owed.product_name, "0812-3456-7801", owed.ref_id):
        expect(panel.locator("[data-which-order]")).to_contain_text(fact)
    faults += faults_of(page)
    panel.locator("#give-back button[type=submit]").click()
    expect(page.locator(f"#row-refund-{owed.payment_id}")).to_have_count(0)

    # then: the page is still the list
    owed.payment.refresh_from_db()
    assert owed.payment.is_given
    assert page.url == f"{address}/work/"
    assert faults == []


def test_a_lost_answer_is_said_also_beside_another_row(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    facts = {"action_reason": ActionReason.BALANCE_SHORT, "sent_no": None}
    first, second = (make_order(Status.NEEDS_ACTION, destination=f"08123456780{n}", **facts) for n in (1, 2))
    page = open_window(size=(1440, 900), may_complain=True)
    sign_in(page, live_server.url, "owner", "/work/")
    panel = page.locator("[data-beside-panel]")
    late: list[Route] = []

    def hold(route: Route) -> None:
        late.append(route)

    page.route("**/orders/*/cancel/**", hold)
    page.click(f"#row-order-{first.pk} [data-step]")
    page.click("[data-beside-panel] #act-cancel summary")
    page.fill("[data-beside-panel] #cancel-note", "She has left")
    with page.expect_request("**/orders/*/cancel/**"):
        page.keyboard.press("Enter")

    # when another row is chosen before the answer is lost
    page.click(f"#row-order-{second.pk} [data-step]")
    expect(panel.locator(f"[action='/orders/{second.ref_id}/cancel/']")).to_be_attached()
    late[0].abort()

    expect(page.locator("[data-lost-answer]")).to_be_visible()
    expect(panel.locator(f"[action='/orders/{second.ref_id}/cancel/']")).to_be_attached()
    expect(panel.locator("#cancel-note")).to_have_value("")


def test_undo_in_the_panel_changes_the_order_of_its_message(live_server: Any, open_window: OpenWindow):
    # given two sales in the panel, and one that was paid in another way
    create_demo_staff()
    owner = User.objects.get(username="owner")
    begin(owner, cash=100_000)
    facts = {"action_reason": ActionReason.BALANCE_SHORT, "sent_no": None, "placed_by": owner}
    first, second = (make_order(Status.NEEDS_ACTION, destination=f"08123456780{n}", **facts) for n in (1, 2))
    page = open_window(size=(1440, 900))
    sign_in(page, live_server.url, "owner", "/work/")
    form = page.locator("[data-beside-panel] #correct-payment")
    page.click(f"#row-order-{first.pk} [data-step]")
    page.click("[data-beside-panel] #change-payment summary")
    form.locator(".chip", has=page.locator("[value=qris]")).click()
    form.locator("button[type=submit]").click()
    expect(page.locator(".btn-undo")).to_be_visible()

    # when the panel shows the other sale, and the message is undone
    page.click(f"#row-order-{second.pk} [data-step]")
    expect(form).to_have_attribute("action", f"/drawer/sales/{second.ref_id}/paid/")
    page.click(".btn-undo")

    # then the first sale is undone
    expect(page.locator("[data-code=payment_noted]").nth(1)).to_be_visible()
    paid = [Payment.objects.get(ref_id=order.ref_id).method for order in (first, second)]
    assert paid == ["cash", "cash"]


def test_a_cashier_cancels_a_held_order_with_the_customer_waiting(live_server: Any, open_window: OpenWindow, shop):
    cashier = User.objects.get(username="cashier")
    facts = {"action_reason": ActionReason.BALANCE_SHORT, "placed_by": cashier, "destination": NUMBER}
    held = make_order(Status.NEEDS_ACTION, **facts)
    page = open_window(size=PHONE, language="id-ID")
    sign_in(page, live_server.url, "cashier", "/counter/")
    acts = page.locator(f"#run-{held.pk} [data-held]")

    acts.locator("summary").click()
    faults = faults_in_all_looks(page)
    acts.locator("button.btn-warnish").click()

    expect(page.locator(".toast-success")).to_be_visible()
    expect(acts).to_have_count(0)
    held.refresh_from_db()
    assert held.status == Status.CANCELLED
    assert faults == []
