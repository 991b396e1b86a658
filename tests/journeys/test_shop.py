"""The owner sets the shop up and sees its papers before saving; each of the cashier's receipts shows the shop."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from purchases.states import Status
from shop.models import Shop
from staff.models import User
from staff.roles import create_demo_staff
from testing.factories import make_check, make_order, make_payment, make_product
from tests.journeys.helpers import DESKTOP, SMALL_PHONE, OpenWindow, faults_of, sign_in
from tests.shop.helpers import png

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]

PAPERS = {"58": 58, "80": 80, "a5": 148}
NAME = "Konter Pulsa dan Loket Pembayaran Sinar Jaya Abadi Sentosa"
FOOTER = "\n".join(["Simpan struk ini sebagai bukti pembayaran yang sah dan benar"] * 6)
MONTHS = [{"period": f"{month:02d} 2026", "amount": 1_234_500 + month, "penalty": 30_000} for month in range(1, 13)]


def make_token():
    product = make_product(name="Token PLN 1.000.000", category="token-pln", brand="pln")
    sn = "27880111795691503095/MUHAMMAD ABDURRAHMAN WAHID ALAMSYAH/R1M/1300VA/1.032,5"
    cashier = User.objects.get(username="cashier")
    return make_order(Status.SUCCESS, product=product, destination="12345678901", sn=sn, placed_by=cashier)


def make_long_bill():
    name = "HAJI MUHAMMAD ABDURRAHMAN WAHID ALAMSYAH PUTRA"
    check = make_check(customer_name=name, details=MONTHS, penalty=360_000, total=15_176_578)
    return make_payment(check, Status.SUCCESS, sn="PAY-" + "7" * 30, price=check.total)


def test_settings_are_seen_before_they_are_saved_and_then_printed(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    orders = [make_token(), make_long_bill()]
    page = open_window(language="id-ID")
    sign_in(page, live_server.url, "owner", "/shop/")

    page.set_input_files("[name=logo]", {"name": "a.png", "mimeType": "image/png", "buffer": png() + b"\0" * 300_000})
    expect(page.locator("[data-too-big]")).to_be_visible()
    assert page.input_value("[name=logo]") == "", "too large a logo is not sent at all"
    page.fill("[name=name]", NAME)
    page.fill("[name=address]", "Jl. Jenderal Ahmad Yani Km. 9 No. 123\nBanjarmasin 70249")
    page.fill("[name=footer]", FOOTER)
    page.set_input_files("[name=logo]", {"name": "logo.png", "mimeType": "image/png", "buffer": png(400, 120)})
    expect(page.locator(".struk-logo")).to_have_count(3)
    for paper in PAPERS:
        expect(page.locator(f".struk-{paper} .struk-shop")).to_have_text(NAME)
    assert not Shop.objects.filter(name=NAME).exists()
    faults = []
    for width, height in (DESKTOP, SMALL_PHONE):
        page.set_viewport_size({"width": width, "height": height})
        faults += faults_of(page)
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})
    page.click("button[name=save]")
    expect(page.locator("[data-code=shop_saved]")).to_be_visible()

    page.add_init_script("window.print = () => {}")
    for number, (paper, width) in enumerate(PAPERS.items(), start=1):
        for order in orders:
            page.goto(f"{live_server.url}/orders/{order.ref_id}/receipt/?paper={paper}")
            page.click("form[data-once] button.btn-primary")
            page.wait_for_url(f"**/receipt/{number}/")
            expect(page.locator(".struk-shop")).to_have_text(NAME)
            assert overflowing(page) == []
            if order == orders[0]:
                assert groups_in_lines(page) == ([3, 2] if paper == "58" else [5])
            [size] = set(re.findall(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", page.pdf(prefer_css_page_size=True)))
            assert float(size[0]) / 72 * 25.4 == pytest.approx(width, abs=0.5)
        faults += faults_of(page)
    assert faults == []


def overflowing(page: Any) -> list[str]:
    """The elements that are wider than the paper."""
    found: list[str] = page.evaluate(
        """() => {
            const paper = document.querySelector(".struk"), edge = paper.getBoundingClientRect();
            const isOut = (one) => {
                const box = one.getBoundingClientRect();
                return box.left < edge.left || box.right > edge.right + 0.5;
            };
            return [...paper.querySelectorAll("*")].filter(isOut).map((one) => one.outerHTML.slice(0, 80));
        }"""
    )
    return found


def groups_in_lines(page: Page) -> list[int]:
    """How many groups of the token's digits stand in each line."""
    tops = page.eval_on_selector_all(".struk-number span", "groups => groups.map((one) => one.offsetTop)")
    return [tops.count(top) for top in dict.fromkeys(tops)]


def test_without_javascript_a_button_shows_the_papers(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    page = open_window(java_script_enabled=False)
    sign_in(page, live_server.url, "owner", "/shop/")

    page.fill("[name=name]", NAME)
    page.click("button[name=preview]")

    expect(page.locator(".struk-80 .struk-shop")).to_have_text(NAME)
    assert page.input_value("[name=name]") == NAME
    assert not Shop.objects.exists()


def test_the_text_for_a_customer_is_copied(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    order = make_token()
    page = open_window(permissions=["clipboard-read", "clipboard-write"])
    sign_in(page, live_server.url, "cashier", f"/orders/{order.ref_id}/")

    page.click("#message summary")
    page.click("[data-copies]")

    expect(page.locator("[data-copies].is-copied")).to_be_visible()
    assert "2788 0111 7956 9150 3095" in page.evaluate("navigator.clipboard.readText()")
    assert faults_of(page) == []

    # and what the browser does not copy is not called copied
    page.add_init_script("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.reload()
    page.click("#message summary")
    button = page.locator("[data-copies]")
    page.evaluate("document.execCommand = () => false")
    button.click()
    expect(button).to_be_focused()
    assert page.locator(".is-copied").count() == 0
    page.evaluate("document.execCommand = () => true")
    button.click()
    expect(page.locator("[data-copies].is-copied")).to_be_visible()
