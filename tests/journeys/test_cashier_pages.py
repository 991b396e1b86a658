"""A cashier's pages in a real browser: a phone's tabs, alerts in one line, the person's day, sounds, the cursor."""

import re
import uuid
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from alerts.models import AlertSnooze
from alerts.services.evaluating import keep_alerts
from purchases.states import Status
from shop.models import Shop
from staff.models import User
from staff.roles import create_demo_staff
from testing.factories import make_biller, make_check, make_payment
from testing.sandbox_process import eventually
from tests.alerts.helpers import LOW, unknown
from tests.drawers.helpers import begin, end, sell
from tests.journeys.helpers import PHONE, OpenWindow, faults_in_all_looks, sign_in
from tests.ledger.helpers import open_books

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]

# The sounds and notices that a page would have made.
NOTED = """
    window.rung = [];
    HTMLMediaElement.prototype.play = function () {
      window.rung.push(new URL(this.src).pathname);
      return Promise.resolve();
    };
    window.Notification = class { constructor(words, more) { window.rung.push(more.tag); } };
    Object.defineProperty(window.Notification, "permission", { get: () => window.allowed ?? "default" });
    window.Notification.requestPermission = () => { window.allowed = "granted"; return Promise.resolve("granted"); };
"""


def faults_in_looks(page: Page) -> list[str]:
    faults = faults_in_all_looks(page)
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    return faults


def rings(page: Page, *rung: str) -> None:
    """Wait until the settled page has rung for the end of an order; asserts that it rang for nothing else."""
    eventually(lambda: len(page.evaluate("window.rung")) >= len(rung))
    assert page.evaluate("window.rung") == list(rung)


def top_of(page: Page, selector: str) -> float:
    return float(page.evaluate("selector => document.querySelector(selector).getBoundingClientRect().top", selector))


@pytest.mark.parametrize("scripts", [True, False])
def test_a_phone_has_five_tabs_and_nothing_ends_under_them(live_server: Any, open_window: OpenWindow, scripts):
    create_demo_staff()
    page = open_window(size=PHONE, java_script_enabled=scripts)
    sign_in(page, live_server.url, "cashier")

    tabs = page.locator("#tabs > a")
    expect(page.locator("#tabs > *")).to_have_count(5)
    assert sorted(tab.get_attribute("data-place") for tab in tabs.all()) == ["counter", "drawer", "orders", "work"]
    expect(page.locator(".nav-main")).to_be_hidden()
    box = page.locator("#quick .btn-primary").bounding_box()
    assert box
    assert round(box["height"]) == 56
    page.click("#more > summary")
    expect(page.locator("#more [data-place=customers]")).to_be_visible()
    with_bar = page.locator("#tabs > a, #more > summary").evaluate_all(
        "tabs => tabs.filter(tab => getComputedStyle(tab, '::before').content !== 'none').map(tab => tab.tagName)"
    )
    assert with_bar == ["SUMMARY"], "one place alone looks chosen"
    if not scripts:
        return
    page.keyboard.press("Escape")
    expect(page.locator("#more > summary")).to_be_focused()
    expect(page.locator("#more [data-place=customers]")).to_be_hidden()
    for address in ("/", "/orders/", "/me/", "/drawer/"):
        page.goto(live_server.url + address)
        page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
        end_of_page = page.evaluate("document.querySelector('#main').lastElementChild.getBoundingClientRect().bottom")
        assert end_of_page <= top_of(page, "#tabs"), address
    page.goto(f"{live_server.url}/balance/alerts/mine/")
    panel = page.locator("#no-alerts").bounding_box()
    assert panel
    assert panel["y"] + panel["height"] < top_of(page, ".foot"), "an empty panel ends above the footer"


def test_alerts_are_one_line_and_can_be_hidden_for_a_while(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    keep_alerts("low_balance", [LOW])
    keep_alerts("order_unknown", [unknown(number) for number in range(3)])
    page = open_window(size=PHONE, language="id-ID")
    sign_in(page, live_server.url, "cashier")

    line = page.locator("#alert-line > summary")
    box = line.bounding_box()
    assert box
    assert round(box["height"]) == 44
    expect(line.locator("[data-others='3']")).to_be_visible()
    line.click()
    expect(page.locator("#alert-line [data-alert]")).to_have_count(4)
    faults = faults_in_looks(page)
    page.keyboard.press("Escape")
    expect(line).to_be_focused()

    page.keyboard.press("Enter")
    page.locator("#alert-line [data-alert=low_balance] button[value='1h']").click()
    expect(page.locator("#alert-line [data-alert]")).to_have_count(3)
    expect(page.locator("#alert-line > summary")).to_be_focused()
    expect(page.locator("#alert-line [data-hidden-alert=low_balance]")).to_be_visible()
    assert AlertSnooze.objects.get().person.username == "cashier"
    faults += faults_in_looks(page)
    page.goto(f"{live_server.url}/balance/alerts/mine/")
    faults += faults_in_looks(page)
    page.click("#alerts-mine [data-hidden-alert] button")
    expect(page.locator("#alerts-mine [data-alert]")).to_have_count(4)

    # At the counter a low balance comes first, whole and in words, and the field stays near the top.
    open_books(350_000)
    begin(User.objects.get(username="supervisor"), cash=2_226_200)
    sign_in(page, live_server.url, "supervisor", "/counter/")
    faults += faults_in_looks(page)
    boxes = [box for pill in page.locator(".sell-head a:visible").all() if (box := pill.bounding_box())]
    low, drawer = (page.locator(f"#pill-{name}").bounding_box() for name in ("balance", "drawer"))
    assert low
    assert drawer
    assert (low["y"], low["x"]) < (drawer["y"], drawer["x"])
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= PHONE[0] for box in boxes)
    assert page.evaluate("(head => head.scrollWidth <= head.clientWidth)(document.querySelector('.sell-head'))")
    assert page.locator("#pill-balance[data-low]").count() == 1
    assert top_of(page, "#counter-q") < PHONE[1] / 3
    assert faults == []


def test_an_own_day_is_followed_and_rings_as_one_chose(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    cashier, other = (User.objects.get(username=name) for name in ("cashier", "supervisor"))
    begin(cashier, cash=200_000)
    page = open_window(size=PHONE, language="id-ID")
    page.add_init_script(NOTED)
    sign_in(page, live_server.url, "cashier", "/me/")
    page.check("input[name=endings][value=both]", force=True)
    page.click("[data-try-sound=bad]")
    page.click("[data-allow-notices]")
    expect(page.locator("[data-allow-notices]")).to_be_hidden()
    rings(page, "/static/sounds/bad.wav")
    faults = faults_in_looks(page)
    page.click("form[data-once] button.btn-primary")
    page.add_init_script("window.allowed = 'granted'")

    good, bad, others = sell(cashier, 10_500), sell(cashier, 10_500), sell(other, 10_500)
    page.goto(f"{live_server.url}/")
    expect(page.locator("#own-open [data-own-order]")).to_have_count(2)
    expect(page.locator("#own-expected")).to_have_attribute("data-amount", "221000")
    faults += faults_in_looks(page)
    end(others, Status.SUCCESS)
    end(good, Status.SUCCESS)
    expect(page.locator(f"#own-latest [data-own-order='{good.ref_id}']")).to_be_visible()
    rings(page, "/static/sounds/good.wav", good.ref_id)

    # It ends between two pages, and the next page that shows it rings.
    page.goto(f"{live_server.url}/me/")
    end(bad, Status.FAILED)
    page.goto(f"{live_server.url}/orders/{bad.ref_id}/")
    rings(page, "/static/sounds/bad.wav", bad.ref_id)
    page.goto(f"{live_server.url}/orders/")
    assert page.evaluate("window.rung") == []
    assert faults == []


def test_the_cursor_stands_where_the_next_key_is_needed(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    cashier = User.objects.get(username="cashier")
    begin(cashier)
    order = end(sell(cashier, 10_500), Status.SUCCESS)
    page = open_window()
    sign_in(page, live_server.url, "cashier")

    # A digit goes straight into the field of the counter.
    page.keyboard.type("08")
    expect(page.locator("#quick-q")).to_have_value("08")
    # After a filter: the first result; Enter shows it beside the list, a second opens it. A finger needs no cursor.
    page.goto(f"{live_server.url}/orders/?status=success")
    expect(page.locator("#results [data-pick]")).to_be_focused()
    touched = open_window(size=PHONE, has_touch=True, is_mobile=True)
    sign_in(touched, live_server.url, "cashier")
    touched.goto(f"{live_server.url}/orders/?status=success")
    expect(touched.locator("#results [data-pick]")).not_to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("[data-beside-panel] h2")).to_have_text(order.product_name)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/orders/{order.ref_id}/")
    # After a sale: the text for the customer, the receipt, the next customer, each by its key.
    expect(page.locator("h1")).to_be_focused()
    page.keyboard.press("w")
    expect(page.locator("#message-whatsapp")).to_be_focused()
    page.keyboard.press("r")
    page.wait_for_url("**/receipt/")
    expect(page.locator("[autofocus]")).to_be_focused()
    page.keyboard.press("w")
    expect(page.locator("#message-whatsapp")).to_be_focused()
    page.keyboard.press("b")
    page.wait_for_url(re.compile("/counter/$"))
    expect(page.locator("#counter-q")).to_be_focused()
    # After a window closes: where it was before.
    page.goto(f"{live_server.url}/orders/")
    page.focus("#results [data-pick]")
    page.keyboard.press("?")
    page.keyboard.press("Escape")
    expect(page.locator("#results [data-pick]")).to_be_focused()
    # A count begins in its first field; after a fault the cursor is in the field that has it.
    page.goto(f"{live_server.url}/drawer/")
    page.click("#count-and-close")
    expect(page.locator("[name=pieces_100000]")).to_be_focused()
    page.goto(f"{live_server.url}/customers/add/")
    page.fill("[name=name]", " ")
    page.keyboard.press("Enter")
    expect(page.locator("[name=name]")).to_be_focused()


def test_three_bills_with_all_last_lines_fit_one_sheet(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    head = {
        "name": "Toko Kita",
        "address": "Jl. Mawar 1\nKelurahan Sari\nSurabaya",
        "phone": "081234567890",
        "footer": "\n".join(f"Baris terakhir nomor {number} dari struk ini" for number in range(6)),
        "paper": "a5",
    }
    Shop.objects.update_or_create(defaults=head)
    batch = uuid.uuid4()
    months = [{"period": f"{month} 2026", "amount": 50_000, "penalty": 3_000} for month in ("Okt", "Nov")]
    for number in range(3):
        biller = make_biller(code=f"B{number}", name=f"PDAM Kota Surabaya {number}")
        check = make_check(
            product=biller, destination=f"1234567{number}", batch=batch, details=months, penalty=6_000, total=108_500
        )
        make_payment(check, Status.SUCCESS, sn=f"PAY-{number}-123456789")
    page = open_window()
    page.add_init_script("window.print = () => {}")
    sign_in(page, live_server.url, "cashier", f"/bills/batch/{batch}/receipt/?paper=a5")

    page.click("#print-batch")
    page.wait_for_url("**/orders/sheets/**")

    pdf = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type ?/Page\b", pdf)) == 1
