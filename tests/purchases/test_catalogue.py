"""The catalogue follows the upstream, and the last good one survives every fault."""

import pytest

from purchases.models import CatalogueSync, PriceChange, Product
from purchases.services import CatalogueFault, sync_catalogue
from tests.conftest import Upstream
from upstream.client import get_client
from upstream.messages import Products

PRODUCT = "Telkomsel 10.000"


def test_the_whole_catalogue_is_there_after_a_sync(upstream: Upstream):
    done = CatalogueSync.objects.get()

    assert done.result == CatalogueSync.Result.DONE
    assert done.products == Product.objects.listed().count() >= 400
    assert Product.objects.values("category").distinct().count() >= 9
    assert Product.objects.values("brand__code").distinct().count() >= 30
    assert set(Product.objects.values_list("type", flat=True)) == {"prepaid", "postpaid"}
    # three requests: the product list is rate-limited most tightly
    asked = [row["endpoint"] for row in upstream.control("requests")["requests"]]
    assert sorted(asked) == ["/v1/brands", "/v1/categories", "/v1/products"]


def test_a_sync_without_news_changes_nothing(upstream: Upstream):
    before = list(Product.objects.order_by("pk").values())

    done = sync_catalogue()

    assert (done.added, done.vanished, done.price_changes) == (0, 0, 0)
    assert list(Product.objects.order_by("pk").values()) == before


def test_a_new_price_is_taken_over_and_the_old_one_kept_as_history(upstream: Upstream):
    product = Product.objects.get(name=PRODUCT)
    upstream.control("product", product_code=product.code, price=product.price + 75)

    done = sync_catalogue()

    change = PriceChange.objects.filter(product=product).order_by("-at", "-pk").first()
    assert done.price_changes == 1
    assert change is not None
    assert (change.price_before, change.price) == (product.price, product.price + 75)
    product.refresh_from_db()
    assert product.price == change.price


def test_a_product_that_vanishes_is_unlisted_and_comes_back_as_the_same(upstream: Upstream):
    product = Product.objects.get(name=PRODUCT)
    upstream.control("product", product_code=product.code, vanished=True)
    assert sync_catalogue().vanished == 1
    product.refresh_from_db()
    assert not product.is_listed
    assert not product.is_available

    upstream.control("product", product_code=product.code, vanished=False)
    sync_catalogue()

    assert Product.objects.get(pk=product.pk).is_listed


def test_a_disturbed_product_is_shown_as_such(upstream: Upstream):
    product = Product.objects.get(name=PRODUCT)
    upstream.control("product", product_code=product.code, status="inactive")

    sync_catalogue()

    assert not Product.objects.get(pk=product.pk).is_available


def test_the_last_good_catalogue_stays_when_the_upstream_cannot_be_reached(upstream: Upstream, settings):
    before = list(Product.objects.order_by("pk").values())
    settings.UPSTREAM_BASE_URL = "http://127.0.0.1:9"
    get_client().budget.declare_fresh()

    with pytest.raises(CatalogueFault):
        sync_catalogue()

    assert list(Product.objects.order_by("pk").values()) == before
    fault = CatalogueSync.objects.order_by("-pk").first()
    assert fault is not None
    assert (fault.result, bool(fault.fault), fault.finished_at is not None) == ("fault", True, True)


def test_a_catalogue_without_a_single_product_is_a_fault_not_a_catalogue(upstream: Upstream, monkeypatch):
    count = Product.objects.listed().count()
    real = get_client().products()
    empty = type(real)(data=Products(products=[]), raw=real.raw, sent_at=real.sent_at, received_at=real.received_at)
    monkeypatch.setattr(type(get_client()), "products", lambda self: empty)

    with pytest.raises(CatalogueFault):
        sync_catalogue()

    assert Product.objects.listed().count() == count


def test_a_product_listed_twice_is_a_fault_that_is_recorded(upstream: Upstream, monkeypatch):
    real = get_client().products()
    twice = [*real.data.products, real.data.products[0]]
    answer = type(real)(data=Products(products=twice), raw=real.raw, sent_at=real.sent_at, received_at=real.received_at)
    monkeypatch.setattr(type(get_client()), "products", lambda self: answer)

    with pytest.raises(CatalogueFault, match="twice"):
        sync_catalogue()

    assert not CatalogueSync.objects.filter(result=CatalogueSync.Result.RUNNING).exists()


def test_an_older_catalogue_never_overwrites_a_newer_one(upstream: Upstream, monkeypatch):
    """Two syncs at once: the slower one started first and finishes last."""
    product = Product.objects.get(name=PRODUCT)
    real = type(get_client()).brands
    newer: list[CatalogueSync] = []

    def overtaken(self, **kwargs):
        if not newer:
            upstream.control("product", product_code=product.code, price=99_000)
            newer.append(CatalogueSync())
            newer[0] = sync_catalogue()
        return real(self, **kwargs)

    monkeypatch.setattr(type(get_client()), "brands", overtaken)
    with pytest.raises(CatalogueFault):
        sync_catalogue()

    product.refresh_from_db()
    assert product.price == 99_000


@pytest.mark.parametrize("text", ["telkomsel 10.000", "Telkomsel 10000", "10.000 telkomsel", "TELKOMSEL 10.000"])
def test_a_product_is_found_however_its_name_is_typed(upstream: Upstream, text):
    assert Product.objects.filter(name=PRODUCT).get() in Product.objects.matching(text)


def test_a_sync_waits_for_its_turn_in_a_paced_budget(upstream: Upstream, settings):
    # 600 a minute are paced at 100 ms: the second and third call come too early at first.
    settings.UPSTREAM_ACCOUNT_RATE = "600/minute"

    assert sync_catalogue().result == CatalogueSync.Result.DONE
