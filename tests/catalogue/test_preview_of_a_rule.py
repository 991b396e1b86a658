"""The preview of a price rule: what it says before it is saved, and what was saved."""

import re
from typing import Any

import pytest

from catalogue.models import Product
from catalogue.services import change_rule, preview
from catalogue.services.targets import Target
from catalogue.services.terms import Terms
from staff.models import User
from testing.factories import make_biller, make_product
from testing.people import browser_of, make_person
from tests.catalogue.helpers import URL, everywhere, filled_in, products_of_a_brand
from tests.core.helpers import has_id, hidden, words, words_at

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> User:
    return make_person("administrator", username="changer")


@pytest.fixture
def products() -> list[Product]:
    return products_of_a_brand()


def test_the_preview_says_the_verdict_then_the_button_the_prices_and_the_folded_rules(products, owner):
    change_rule(Target(type="prepaid", brand=products[1].brand), Terms("percent", 500), actor=owner)
    browser = browser_of("administrator", language="en")

    page = browser.get(URL, filled_in(at_least="500"))

    verdict = words_at(page, 'id="change-title"')
    verdict = " ".join(verdict.split()).replace(" ,", ",")
    assert verdict.startswith("2 prices rise by Rp500, 1 price falls by Rp1.000, lowest profit Rp500")
    sent = page.content.decode()
    first, below = ("rule-title", "sold-lately", "affected", "rule-save"), ("new-prices", "rules-told", "rules-then")
    order = [sent.index(f'id="{part}"') for part in (*first, "other-terms", "rule-form", *below)]
    assert order == sorted(order)
    assert not has_id(page, "rule-now"), "the old rules stand once"
    before_saving = words(page).partition(" prices rise")[2].partition(" Save ")[0]
    assert "Fixed prices" not in before_saving, "what helps to type is not read again"
    for held in (": cost + 5% → cost + 3%, at least Rp500", ": No rule → cost + 3%, at least Rp500"):
        assert held in words(page)


def test_the_preview_counts_what_still_earns_less_also_if_its_price_stays(products, owner):
    change_rule(Target(type="prepaid", product=products[0]), Terms("fixed", 10_100), actor=owner)

    page = browser_of("administrator", language="en").get(URL, filled_in(kind="as_now", at_least="500"))

    assert page.context["change"].earning_less == 1
    verdict = " ".join(words_at(page, 'id="change-title"').split()).replace(" ,", ",")
    assert verdict == "2 prices rise by Rp500, 1 product still earns less than Rp500"


def test_what_was_saved_is_named_with_its_count_and_the_least_profit(products):
    browser = browser_of("administrator", language="en")
    page = browser.get(URL, {"target": everywhere().key})
    assert 'name="at_least"' in autofocused(page)
    preview_page = browser.get(URL, filled_in(kind="as_now", at_least="500"))

    saved = browser.confirm(
        URL, filled_in(kind="as_now", at_least="500", seen=preview_page.context["seen"]), follow=True
    )

    assert "Saved. Lowest profit: Rp500." in words(saved)
    again = browser.get(URL, filled_in(kind="as_now", at_least="500"))
    verdict = " ".join(words_at(again, 'id="change-title"').split())
    assert verdict.replace(" ,", ",") == "No price rises or falls, lowest profit Rp500"
    assert products[0].name in words_at(again, 'id="least-product"')
    assert 'name="value"' in autofocused(browser.get(URL, {"target": f"product:{products[0].pk}"}))


def test_what_was_saved_names_the_least_profit_of_every_product(products, owner):
    # given a product whose price stays; it earns less than the changed ones, and still enough
    change_rule(Target(type="prepaid", product=products[0]), Terms("fixed", 10_550), actor=owner)
    browser = browser_of("administrator", language="id")

    saved = browser.confirm(
        URL, {**(typed := filled_in(at_least="750")), **hidden(browser.get(URL, typed))}, follow=True
    )
    assert "Tersimpan. Laba 1 produk masih di bawah Rp750." in words(saved)

    Product.objects.filter(pk=products[0].pk).update(name="Its price stays")
    preview_page = browser.get(URL, typed := filled_in(value="30", at_least="500"))
    assert "Its price stays" not in [row.name for row in preview_page.context["change"].rows]
    assert " ".join(words_at(preview_page, 'id="least-product"').split()) == "Laba terkecil: Its price stays, Rp550"
    saved = browser.confirm(URL, {**typed, **hidden(preview_page)}, follow=True)
    assert "Tersimpan. Laba terkecil: Rp550." in words(saved)


def test_of_equal_profits_the_cheapest_listed_product_is_named(products, owner):
    def named() -> tuple[int | None, str]:
        change = preview(everywhere(), Terms("plus", 700))
        return change.least_of_all, change.least_product

    # given: a delisted product and another brand's product, which would come first by their names and costs
    make_product(category="sms", code="GONE", name="A", price=100, is_listed=False)
    make_product(category="data", brand="xl", code="OTHER", name="B", price=100)
    for code, name in (("PULSA", "C"), ("DATA", "D"), ("SMS", "E")):
        Product.objects.filter(code=code).update(name=name)
    assert named() == (700, "E")

    # among equal costs, the first by name
    Product.objects.filter(code="PULSA").update(price=3_000)
    assert named() == (700, "C")

    # an unavailable product counts, too: the shop sells it again later at the same price
    make_product(category="sms", code="AWAY", name="Z", price=2_000, availability="inactive")
    assert named() == (700, "Z")
    change_rule(Target(type="prepaid", product=products[1]), Terms("plus", 650), actor=owner)
    assert named() == (650, "D")


def test_a_brand_of_bills_has_no_least_profit(products):
    biller = make_biller(fee=2_500)

    change = preview(Target(type="postpaid", brand=biller.brand), Terms("plus", 1_000))

    assert (change.affected, change.least_of_all, change.least_product) == (1, None, "")


def autofocused(page: Any) -> str:
    """The field that has the cursor."""
    (field,) = re.findall(r"<[^<>]* autofocus[^<>]*>", page.content.decode())
    return field


def test_the_preview_says_by_how_much_one_price_rises_several_or_none(products, owner):
    browser = browser_of("administrator", language="en")
    one = browser.get(URL, filled_in(target=f"product:{products[0].pk}", kind="plus", value="500"))
    none = browser.get(URL, filled_in(target=f"product:{products[0].pk}", kind="fixed", value="10.000"))
    different = browser.get(URL, filled_in(value="10"))

    verdict = words_at(one, 'id="change-title"').replace(" ,", ",").strip()
    assert verdict == "1 price rises by Rp500, its profit becomes Rp500"
    assert words_at(none, 'id="change-title"').strip() == "No price rises or falls"
    assert words_at(different, 'id="affected"').strip().startswith("3 prices rise by Rp300–Rp5.000,")


def test_if_no_price_changes_the_rules_that_come_first_are_in_sight(products, owner):
    change_rule(Target(type="prepaid", product=products[0]), Terms("fixed", 11_000), actor=owner)
    typed = filled_in(target=f"brand:{products[0].brand_id}", kind="plus", value="500")
    browser = browser_of("administrator")

    assert '<details id="rules-told" open>' in browser.get(URL, typed).content.decode()
    assert '<details id="rules-told">' in browser.get(URL, filled_in(at_least="500")).content.decode()
