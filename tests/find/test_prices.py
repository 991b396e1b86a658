"""Words for a price together with a brand or a category lead to the form of its selling price."""

import pytest
from django.utils import timezone

from catalogue.models import Brand, Category
from core.rights import Role
from testing.database import statements
from testing.factories import make_product
from testing.people import Browser, browser_of
from tests.customers.helpers import make_customer

pytestmark = pytest.mark.django_db

RULE = "/products/prices/rule/"


@pytest.fixture(autouse=True)
def keys() -> list[int]:
    """The keys of Telkomsel in three categories; one of them also has XL."""
    for code, name in (("pulsa", "Pulsa"), ("data", "Data"), ("sms", "SMS")):
        Category.objects.create(code=code, name=name, type="prepaid")
    products = [make_product(category=category) for category in ("pulsa", "data", "sms")]
    make_product(category="data", brand="xl")
    Brand.objects.filter(code="xl").update(name="XL")
    return [product.brand_id for product in products]


def _found(browser: Browser, text: str) -> dict[str, list[tuple[str, str]]]:
    """The results of each kind: address and words."""
    groups = browser.get("/find/", {"q": text}).context["groups"]
    return {kind.name: [(result.url, result.words) for result in results] for kind, results in groups}


@pytest.mark.parametrize("text", ["harga telkomsel", "Telkomsel price", "harga jual tsel", "selling price telk"])
def test_find_leads_from_words_for_a_price_to_the_form(keys, text: str):
    results = _found(browser_of("administrator"), text)

    assert next(iter(results)) == "prices"
    assert results["prices"][0][0] == f"/products/prices/rule/?target=brands%3A{keys[0]}"
    assert len(results["prices"]) == 4  # and each category's


@pytest.mark.parametrize(
    ("text", "names"), [("harga pulsa", ["Pulsa", "Pulsa · Telkomsel"]), ("harga xl", ["Data · XL"])]
)
def test_find_leads_to_a_category_and_to_a_single_brand(text: str, names: list[str]):
    shown = _found(browser_of("administrator"), text)["prices"]

    assert [words for _url, words in shown] == names


@pytest.mark.parametrize("text", ["harga", "harga telkomsel 10", "jual telkomsel"])
def test_find_offers_no_form_for_less_or_for_a_product(text: str):
    assert "prices" not in _found(browser_of("administrator"), text)


@pytest.mark.parametrize(
    "text", ["telkomsel profit 500", "untung tsel minimal 500", "harga telkomsel laba 500", "profit at least 500"]
)
def test_words_for_profit_with_an_amount_lead_to_its_effect(keys, text: str):
    browser = browser_of("administrator")

    results = _found(browser, text)

    assert next(iter(results)) == "prices"
    (url, words) = results["prices"][0]
    assert words == "Telkomsel: every product earns at least Rp500"
    assert url == f"/products/prices/rule/?target=brands%3A{keys[0]}&kind=as_now&at_least=500#change"
    assert len(results["prices"]) == 1
    assert browser.get(url).context["change"].least_asked == 500


@pytest.mark.parametrize(
    ("text", "least"),
    [
        *(("telkomsel 99", None), ("telkomsel 100", 100), ("telkomsel 999", 999), ("telkomsel 1000", None)),
        *(("telkomsel laba 49", None), ("telkomsel laba 50", 50)),
        *(("telkomsel laba 100000", 100_000), ("telkomsel laba 100001", None)),
    ],
)
def test_only_amounts_that_a_sale_may_earn_are_a_profit(keys, text: str, least: int | None):
    results = _found(browser_of("administrator"), text).get("prices", [])

    addresses = [url for url, _words in results if "at_least" in url]
    assert addresses == ([f"{RULE}?target=brands%3A{keys[0]}&kind=as_now&at_least={least}#change"] if least else [])


def test_a_brand_in_one_category_gets_its_form_without_amount(keys):
    key = Brand.objects.get(code="xl").pk

    results = _found(browser_of("administrator"), "xl laba 500")["prices"]

    assert results == [(f"{RULE}?target=brand%3A{key}", "Data · XL")]


@pytest.mark.parametrize(
    ("text", "first"), [("telkomsel", "customers"), ("telkomsel 500", "customers"), ("telkomsel laba 500", "prices")]
)
def test_a_brand_without_a_word_gives_way_to_its_customer(text: str, first: str):
    make_customer("Telkomsel 500")

    assert next(iter(_found(browser_of("administrator"), text))) == first


def test_brands_of_bills_are_not_named_by_a_brand_alone(keys):
    for code in ("pdam", "tv"):
        category = Category.objects.create(code=code, name=code, type="postpaid")
        Brand.objects.create(category=category, code=f"{code}-x", name="Telkomsel")

    results = _found(browser_of("administrator"), "telkomsel 500")["prices"]

    assert [url for url, _words in results] == [f"{RULE}?target=brands%3A{keys[0]}&kind=as_now&at_least=500#change"]


@pytest.mark.parametrize("text", ["telkomsel profit below 500", "profit yesterday", "laba 500 5", "xyz laba 500"])
def test_other_words_with_profit_or_an_amount_lead_to_no_effect(text: str):
    assert not [url for url, _words in _found(browser_of("administrator"), text).get("prices", []) if "at_least" in url]


@pytest.mark.parametrize(
    ("text", "filled"), [("telkomsel", ""), ("tsel", ""), ("tel 500", "&kind=as_now&at_least=500#change")]
)
def test_a_brand_alone_or_with_an_amount_leads_to_its_price_before_its_products(keys, text: str, filled: str):
    results = _found(browser_of("administrator"), text)

    assert [url for url, _words in results["prices"]] == [f"/products/prices/rule/?target=brands%3A{keys[0]}{filled}"]
    assert next(iter(results)) == "prices"


@pytest.mark.parametrize(
    "text",
    [
        "te",
        "xl",
        "telkomsel 10",
        "telkomsel 5000",
        "telkomsel 5gb",
        "telkomsel 500 100",
        "500 telkomsel",
        "081234567890",
    ],
)
def test_what_names_a_product_or_a_number_finds_no_price(text: str):
    assert "prices" not in _found(browser_of("administrator"), text)


def test_only_a_text_that_names_a_brand_asks_for_brands():
    browser = browser_of("administrator")
    for text, count in (("telkomsel 500", 1), ("telkomsel 10", 0), ("budi", 0)):
        with statements() as sent:
            browser.get("/find/", {"q": text})
        assert len([sql for sql in sent if 'FROM "catalogue_brand"' in sql]) == count, text


@pytest.mark.parametrize("role", [Role.CASHIER, Role.SUPERVISOR, Role.AUDITOR])
def test_people_who_may_not_change_prices_find_no_form(role: Role):
    browser = browser_of(role)

    assert not [
        text
        for text in ("harga telkomsel", "telkomsel profit 500", "telkomsel 500")
        if "prices" in _found(browser, text)
    ]


def test_a_person_bound_to_a_branch_finds_no_form():
    assert "prices" not in _found(browser_of("administrator", bound_since=timezone.now()), "harga telkomsel")
