"""An administrator sets a price after a preview; a cashier sells for it and sees nothing of the cost."""

import struct
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from catalogue.models import Brand, Product
from catalogue.services import Target, Terms, change_rule
from staff.models import User
from staff.roles import create_demo_staff
from testing.factories import make_biller, make_product
from tests.journeys.helpers import PHONE, OpenWindow, faults_in_all_looks, faults_of, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]

AMOUNTS = ("value", "at_least", "round_to")
NOTE_WORDS = """window.written = [];
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (...what) {
  window.written.push(what[0]);
  write.apply(this, what);
};"""


@pytest.mark.parametrize("with_script", [True, False])
def test_a_rule_is_seen_saved_and_sold_for(live_server: Any, open_window: OpenWindow, with_script: bool):
    create_demo_staff()
    product = make_product(price=10_203, code="TSEL10")
    page = open_window(java_script_enabled=with_script)
    sign_in(page, live_server.url, "admin", "/products/prices/")

    page.click("#add-rule")
    page.fill("[name=product]", "tsel10")
    page.click("#rule-form button[type=submit]")
    page.select_option("[name=kind]", "plus")
    page.fill("[name=value]", "1.500")
    page.select_option("[name=round_to]", "500")
    page.set_viewport_size({"width": PHONE[0], "height": 500})
    page.click("#rule-preview")
    expect(page.locator("#change-title")).to_be_in_viewport()
    expect(page.locator("#rule-save button[type=submit]")).to_be_in_viewport()
    expect(page.locator("#price-TSEL10")).to_contain_text("Rp12.000")
    expect(page.locator("#price-TSEL10")).to_contain_text("Rp1.797")
    assert Product.objects.get(pk=product.pk).selling_price is None
    page.click("#rule-save button[type=submit]")
    expect(page.locator("#results tbody tr")).to_have_count(1)

    till = open_window(java_script_enabled=with_script)
    sign_in(till, live_server.url, "cashier", "/counter/review/?product=TSEL10&q=081234567890")
    expect(till.locator("#review-price")).to_have_text("Rp12.000")
    expect(till.locator("#review-cost")).to_have_count(0)
    assert "10.203" not in till.content()


def test_every_product_of_a_brand_earns_at_least_so_much_in_six_acts(live_server: Any, open_window: OpenWindow):
    # given a brand in two categories, each with a percentage
    create_demo_staff()
    small, large = (
        make_product(price=price, category=category, code=code)
        for price, category, code in ((3_000, "pulsa", "TSEL3"), (50_000, "data", "DATA5"))
    )
    for product in (small, large):
        target = Target(type="prepaid", category=product.category)
        change_rule(target, Terms("percent", 300), actor=User.objects.get(username="owner"))
    page = open_window()
    sign_in(page, live_server.url, "owner", "/")

    # when an owner types words for the brand, Enter, the amount, Enter, and saves
    page.keyboard.press("Control+k")
    page.keyboard.type("telkomsel price")
    expect(page.locator("[data-group=prices] a").first).to_be_visible()
    page.keyboard.press("Enter")
    page.fill("[name=at_least]", "500")
    faults = faults_in_all_looks(page)
    page.press("[name=at_least]", "Enter")
    expect(page.locator("#price-TSEL3")).to_contain_text("Rp3.500")
    expect(page.locator("#new-prices tbody tr")).to_have_count(1)
    faults += faults_of(page)
    page.click("#rule-save button[type=submit]")

    # then both have their percentage with a least amount, beside the rules of the categories
    expect(page.locator("#results tbody tr")).to_have_count(4)
    small.refresh_from_db()
    assert small.selling_price == 3_500
    faults += faults_of(page)
    assert faults == []

    # and its form asks for the fields of each kind
    page.click("#everywhere a")
    for kind, shown in (("as_now", {"at_least"}), ("plus", {"value", "round_to"}), ("percent", {*AMOUNTS})):
        page.select_option("[name=kind]", kind)
        for name in AMOUNTS:
            expect(page.locator(f"#rule-form [name={name}]")).to_be_visible(visible=name in shown)


@pytest.mark.parametrize(
    ("window", "said"),
    [
        (
            {"size": (1440, 900)},
            ["1 price rises", "lowest profit Rp500", "Saved. Lowest profit: Rp500."],
        ),
        (
            {"size": PHONE, "scheme": "dark", "language": "id-ID"},
            ["1 harga naik", "laba terkecil Rp500", "Tersimpan. Laba terkecil: Rp500."],
        ),
    ],
)
def test_a_least_profit_is_typed_beside_its_brand_and_saved_in_sight(
    live_server: Any, open_window: OpenWindow, window: dict[str, Any], said: list[str]
):
    # given a brand that sells, and a brand that does not
    create_demo_staff()
    products = [make_product(price=10_000, category=category, bought=1) for category in ("pulsa", "data")]
    for category in ("pulsa", "data"):
        product = make_product(category=category, brand="axis", price=9_000)
        Brand.objects.filter(pk=product.brand_id).update(name="AXIS")
    change_rule(
        Target(type="prepaid", brand=products[0].brand), Terms("plus", 700), actor=User.objects.get(username="owner")
    )
    page = open_window(**window)
    sign_in(page, live_server.url, "owner", "/products/prices/")
    faults = faults_of(page)
    expect(page.locator("#everywhere label").first).to_have_text("Telkomsel")
    expect(page.locator("#everywhere input[name=at_least]").first).to_be_in_viewport(ratio=1)
    line = page.locator("#everywhere form").first
    assert line.evaluate("line => line.scrollWidth <= line.clientWidth")

    # when the amount is typed and Enter pressed, then the verdict and the button are in sight
    page.keyboard.type("500")
    page.keyboard.press("Enter")
    verdict, button = page.locator("#change-title"), page.locator("#rule-save button[type=submit]")
    expect(verdict).to_be_in_viewport(ratio=1)
    expect(button).to_be_in_viewport(ratio=1)
    for words in said[:2]:
        expect(verdict).to_contain_text(words)
    assert len(verdict.inner_text().split()) <= 12
    expect(page.locator("#rule-form")).to_be_hidden()
    page.click("#other-terms > summary")
    expect(page.locator("#rule-form [name=at_least]")).to_have_value("500")
    faults += faults_of(page)
    button.click()

    # then
    expect(page.locator(".toast-success")).to_contain_text(said[2])
    assert set(Product.objects.filter(brand__name="Telkomsel").values_list("selling_price", flat=True)) == {
        10_500,
        10_700,
    }
    assert faults == []


def test_the_fee_of_a_bill_stays_within_its_card(live_server: Any, open_window: OpenWindow):
    create_demo_staff()
    make_biller(admin_fee=12_500, fee=2_500)
    for size, language in (((1440, 900), "en-GB"), (PHONE, "id-ID")):
        page = open_window(size=size, language=language)
        sign_in(page, live_server.url, "owner", "/products/?q=pdam")

        price = page.locator("#results .product-price")
        expect(price).to_contain_text("Rp2.500")
        assert price.evaluate("cell => cell.scrollWidth <= cell.clientWidth"), language
        card, cell = page.locator(".products").bounding_box(), price.bounding_box()
        assert card
        assert cell
        assert cell["x"] + cell["width"] <= card["x"] + card["width"], language


def test_the_price_list_is_drawn_as_a_picture_without_a_cost(live_server: Any, open_window: OpenWindow, tmp_path: Path):
    # given a list on a phone, and a canvas that notes the texts drawn on it
    create_demo_staff()
    make_product(price=10_203, selling_price=12_000, name="Telkomsel 10.000")
    page = open_window(size=PHONE)
    page.add_init_script(NOTE_WORDS)
    sign_in(page, live_server.url, "admin", "/products/price-list/")
    faults = faults_in_all_looks(page)

    # when the picture is drawn
    with page.expect_download() as download:
        page.click("#draw-prices")
    download.value.save_as(tmp_path / "list.png")

    # then the picture has the price, and says nothing that the list does not
    picture = (tmp_path / "list.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert struct.unpack(">I", picture[16:20]) == (1080,)
    written = page.evaluate("window.written")
    assert {"Telkomsel 10.000", "Rp12.000"} <= set(written)
    assert not [words for words in written if "10.203" in words or "1.797" in words]

    # and an owner's link shows the same to anybody
    sign_in(page, live_server.url, "owner", "/products/price-list/link/")
    faults += faults_of(page)
    page.click("#publish button[type=submit]")
    link = page.locator("#public-link").inner_text()
    faults += faults_in_all_looks(page)
    stranger = open_window(size=PHONE, language="id-ID")
    stranger.goto(link)
    expect(stranger.locator("[data-price]")).to_have_count(1)
    faults += faults_in_all_looks(stranger)
    assert faults == []
