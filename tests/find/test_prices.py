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


def test_find_leads_from_words_for_a_price_to_the_form(keys):
    browser = browser_of("administrator")
    for text in ("harga telkomsel", "Telkomsel price", "harga jual tsel", "selling price telk"):
        results = _found(browser, text)
        assert next(iter(results)) == "prices", text
        assert results["prices"][0][0] == f"{RULE}?target=brands%3A{keys[0]}"
        assert len(results["prices"]) == 4  # and each category's
    for text, names in [("harga pulsa", ["Pulsa", "Pulsa · Telkomsel"]), ("harga xl", ["Data · XL"])]:
        assert [words for _url, words in _found(browser, text)["prices"]] == names, text
    # a brand in one category gets its form without the amount
    key = Brand.objects.get(code="xl").pk
    assert _found(browser, "xl laba 500")["prices"] == [(f"{RULE}?target=brand%3A{key}", "Data · XL")]

    # less, a product or a number finds no price
    texts = ["harga", "harga telkomsel 10", "jual telkomsel", "te", "xl", "telkomsel 10", "telkomsel 5000"]
    for text in [*texts, "telkomsel 5gb", "telkomsel 500 100", "500 telkomsel", "081234567890"]:
        assert "prices" not in _found(browser, text), text
    for text in ("telkomsel profit below 500", "profit yesterday", "laba 500 5", "xyz laba 500"):
        assert not [url for url, _words in _found(browser, text).get("prices", []) if "at_least" in url], text


def test_words_for_profit_with_an_amount_lead_to_its_effect(keys):
    browser, form = browser_of("administrator"), f"{RULE}?target=brands%3A{keys[0]}"
    for text in ("telkomsel profit 500", "untung tsel minimal 500", "harga telkomsel laba 500", "profit at least 500"):
        results = _found(browser, text)

        assert next(iter(results)) == "prices", text
        [(url, words)] = results["prices"]
        assert words == "Telkomsel: every product earns at least Rp500"
        assert url == f"{form}&kind=as_now&at_least=500#change"
    assert browser.get(url).context["change"].least_asked == 500

    # only amounts that a sale may earn are a profit
    for text, least in [
        *(("telkomsel 99", None), ("telkomsel 100", 100), ("telkomsel 999", 999), ("telkomsel 1000", None)),
        *(("telkomsel laba 49", None), ("telkomsel laba 50", 50)),
        *(("telkomsel laba 100000", 100_000), ("telkomsel laba 100001", None)),
    ]:
        addresses = [url for url, _words in _found(browser, text).get("prices", []) if "at_least" in url]
        assert addresses == ([f"{form}&kind=as_now&at_least={least}#change"] if least else []), text

    # a brand alone leads to its price before its products
    for text, filled in [("telkomsel", ""), ("tsel", ""), ("tel 500", "&kind=as_now&at_least=500#change")]:
        results = _found(browser, text)
        assert [url for url, _words in results["prices"]] == [f"{form}{filled}"], text
        assert next(iter(results)) == "prices", text


def test_a_brand_without_a_word_gives_way_to_its_customer():
    make_customer("Telkomsel 500")
    browser = browser_of("administrator")

    for text, first in [("telkomsel", "customers"), ("telkomsel 500", "customers"), ("telkomsel laba 500", "prices")]:
        assert next(iter(_found(browser, text))) == first, text


def test_brands_of_bills_are_not_named_by_a_brand_alone(keys):
    for code in ("pdam", "tv"):
        category = Category.objects.create(code=code, name=code, type="postpaid")
        Brand.objects.create(category=category, code=f"{code}-x", name="Telkomsel")

    results = _found(browser_of("administrator"), "telkomsel 500")["prices"]

    assert [url for url, _words in results] == [f"{RULE}?target=brands%3A{keys[0]}&kind=as_now&at_least=500#change"]


def test_only_a_text_that_names_a_brand_asks_for_brands():
    browser = browser_of("administrator")
    for text, count in (("telkomsel 500", 1), ("telkomsel 10", 0), ("budi", 0)):
        with statements() as sent:
            browser.get("/find/", {"q": text})
        assert len([sql for sql in sent if 'FROM "catalogue_brand"' in sql]) == count, text


def test_people_who_may_not_change_prices_find_no_form():
    browsers = {role: browser_of(role) for role in (Role.CASHIER, Role.SUPERVISOR, Role.AUDITOR)}
    browsers["bound to a branch"] = browser_of("administrator", bound_since=timezone.now())
    for who, browser in browsers.items():
        for text in ("harga telkomsel", "telkomsel profit 500", "telkomsel 500"):
            assert "prices" not in _found(browser, text), (who, text)
