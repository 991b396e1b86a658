"""A row of the provider's list that cannot be read costs no other: it is left out, and people are told which."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from alerts.models import Alert
from catalogue.errors import CatalogueFault
from catalogue.models import Brand, CatalogueSync, Category, PriceChange, Product, SyncFault
from catalogue.services import sync_catalogue
from tests.alerts.helpers import open_alerts
from tests.upstream.helpers import PRODUCT, success
from tests.upstream.scripted_upstream import Received, ScriptedUpstream
from upstream.client import get_client

CATEGORY = {"code": "PULSA", "name": "Pulsa", "type": "prepaid"}
BRAND = {"code": "TELKOMSEL", "name": "Telkomsel", "category": "PULSA"}


def product(code: str, **changes: Any) -> dict[str, Any]:
    """A row of the product list."""
    return PRODUCT | {"product_code": code, "product_name": f"Pulsa {code}", "price": 10_000} | changes


class Lists:
    """An upstream that answers with these lists; a product that the test does not change is as in the first sync."""

    def __init__(self, server: ScriptedUpstream) -> None:
        self.categories: list[Any] = [CATEGORY]
        self.brands: list[Any] = [BRAND]
        self.products: list[Any] = [product(code) for code in "ABCD"]
        self.server = server
        server.behaviour = self.answer

    def answer(self, connection: socket.socket, received: Received) -> bool:
        """Answer with the list that was requested."""
        name = received.path.rpartition("/")[2]
        self.server.answers(200, success({name: getattr(self, name)}))
        answer, self.server.behaviour = self.server.behaviour, self.answer
        return answer(connection, received)


@pytest.fixture
def lists(transactional_db: None, settings: Any) -> Iterator[Lists]:
    """An upstream from which a first catalogue of four products was fetched."""
    server = ScriptedUpstream()
    settings.UPSTREAM_BASE_URL = server.url
    settings.UPSTREAM_SECRET_ID, settings.UPSTREAM_SECRET_KEY = "our-secret-id", "our-very-secret-key"
    settings.UPSTREAM_PRODUCTS_RATE = "1000/minute"
    get_client().budget.declare_fresh()
    lists = Lists(server)
    sync_catalogue()
    yield lists
    server.stop()


def catalogue() -> dict[str, tuple[int, bool]]:
    """Price of each product, and whether it is listed."""
    return {row.code: (row.price, row.is_listed) for row in Product.objects.order_by("code")}


ODD = [
    {"price": 11_000.5},
    {"price": "11000"},
    {"price": None},
    {"status": "gone"},
    {"type": "other"},
    {"cut_off_start": "24:30"},
]


def test_an_odd_product_keeps_all_that_it_had_and_others_are_taken(lists: Lists):
    before = Product.objects.filter(code="A").values().get()
    others = [product("B", price=11_000), product("C"), product("E")]
    for nth, change in enumerate(ODD):
        lists.products = [product("A", name="Other", **change), *others]

        done = sync_catalogue()

        assert Product.objects.filter(code="A").values().get() == before, change
        assert catalogue() == {
            "A": (10_000, True),
            "B": (11_000, True),
            "C": (10_000, True),
            "D": (10_000, False),
            "E": (10_000, True),
        }
        news = 0 if nth else 1  # the first of these lists brings them
        counts = (done.result, done.products, done.added, done.delisted, done.price_changes)
        assert counts == ("done", 3, news, news, news)
        assert done.left_out == [{"code": "A", "name": "Pulsa A", "field": next(iter(change))}]
    assert not PriceChange.objects.filter(product__code="A", price_before__isnull=False).exists()


def test_a_row_of_an_unknown_product_takes_no_other_for_vanished(lists: Lists):
    lists.products = [product("A", price=9_000), product("B"), PRODUCT | {"product_code": 7}, "?"]

    done = sync_catalogue()

    assert catalogue() == {"A": (9_000, True), "B": (10_000, True), "C": (10_000, True), "D": (10_000, True)}
    assert done.left_out == [
        {"code": "", "name": "Telkomsel 10.000", "field": "product_code"},
        {"code": "", "name": "", "field": ""},
    ]
    assert Category.objects.get().is_listed
    assert Brand.objects.get().is_listed


def test_a_product_with_two_rows_that_differ_keeps_all_that_it_had(lists: Lists):
    before = Product.objects.filter(code="A").values().get()
    for change in ({"price": 11_000}, {"status": "inactive"}, {"brand": "XL"}):
        two = [product("A", price=9_000), product("A", **{"price": 9_000, **change})]
        lists.products = [*two, product("B", price=11_000)]

        done = sync_catalogue()

        assert Product.objects.filter(code="A").values().get() == before, change
        assert catalogue() == {"A": (10_000, True), "B": (11_000, True), "C": (10_000, False), "D": (10_000, False)}
        assert done.left_out == [{"code": "A", "name": "Pulsa A", "field": f"{next(iter(change))} (2×)"}]
    assert not PriceChange.objects.filter(product__code="A", price_before__isnull=False).exists()


def test_a_product_with_two_equal_rows_is_taken_once_and_not_with_an_odd_one(lists: Lists):
    four = lists.products
    lists.products = [product("A", price=1), product("A", price="1"), *four[1:], product("E", price="1")]
    sync_catalogue()
    assert set(catalogue()) == set("ABCD"), "a new product whose row is odd is not sold"
    assert catalogue()["A"] == (10_000, True)

    lists.products = [product("A", price=9_000), *four[1:], product("A", price=9_000, unread="other")]
    done = sync_catalogue()

    assert catalogue()["A"] == (9_000, True)
    assert (done.products, done.delisted, done.left_out) == (4, 0, None)


TWICE = [product(code, price=price) for code in "AB" for price in (9_000, 9_500)]
FEW_GOOD = [
    ([*TWICE, product("C")], SyncFault.LISTED_TWICE, None),
    ([*TWICE, product("C", price="?"), product("D"), product("E")], SyncFault.LISTED_TWICE, None),
    (
        [product("A", price=9_000), product("B", price="1"), product("C", price="1")],
        SyncFault.OTHER,
        "malformed: products.1.price",
    ),
]


def test_more_products_in_doubt_than_good_ones_refuse_the_whole_list(lists: Lists):
    before = catalogue()
    for lists.products, code, detail in FEW_GOOD:
        with pytest.raises(CatalogueFault) as caught:
            sync_catalogue()

        assert caught.value.code == code
        assert detail is None or caught.value.detail == detail
        assert catalogue() == before
        assert not CatalogueSync.objects.filter(result=CatalogueSync.Result.RUNNING).exists()


def test_an_odd_category_or_brand_keeps_its_name(lists: Lists):
    lists.categories = [CATEGORY | {"name": 7}, {"code": "DATA", "name": "Data", "type": "prepaid"}]
    lists.brands = [BRAND | {"name": 7}, BRAND | {"code": "XL", "name": "XL Axiata"}]
    lists.products = [product("A", price=9_000), *lists.products[1:]]

    sync_catalogue()

    assert catalogue()["A"] == (9_000, True)
    assert list(Category.objects.order_by("code").values_list("name", flat=True)) == ["Data", "Pulsa"]
    assert list(Brand.objects.order_by("code").values_list("name", flat=True)) == ["Telkomsel", "XL Axiata"]


def test_the_only_product_of_a_brand_keeps_its_brand_when_odd(lists: Lists):
    lists.brands = [BRAND, BRAND | {"code": "XL", "name": "XL Axiata"}]
    lists.products = [*lists.products, product("X", brand="XL")]
    sync_catalogue()
    lists.brands = [BRAND]
    lists.products = [*lists.products[:-1], product("X", brand="XL", price="1")]

    sync_catalogue()

    brand = Brand.objects.get(code="XL")
    assert (brand.is_listed, brand.name) == (True, "XL Axiata")


def test_an_alert_names_the_odd_product_until_it_can_be_read(lists: Lists):
    lists.products = [product("A", price="1"), *lists.products[1:]]
    sync_catalogue()

    assert ("products_left_out", "") in open_alerts()

    facts = Alert.objects.open().get(kind="products_left_out").facts
    assert facts == {"count": 1, "names": ["Pulsa A (A): price"]}
    lists.products[0] = product("A", price=12_000)
    sync_catalogue()
    assert ("products_left_out", "") not in open_alerts()
    assert CatalogueSync.objects.first().left_out is None
