"""The catalogue follows the upstream, and the last good one survives every fault."""

from dataclasses import replace
from typing import Any

import pytest

from catalogue.errors import CatalogueFault
from catalogue.models import CatalogueSync, PriceChange, Product, SyncFault
from catalogue.services import sync_catalogue
from catalogue.tasks import fetch_missing_catalogue
from testing.database import empty_tables
from tests.conftest import Upstream
from upstream.client import Client, get_client
from upstream.endpoints import Endpoint
from upstream.messages import Products

PRODUCT = "Telkomsel 10.000"


@pytest.fixture(autouse=True)
def _patient(upstream: Upstream, settings: Any) -> None:
    """Wait longer: on a busy machine the whole catalogue takes its time."""
    settings.UPSTREAM_CONNECT_TIMEOUT = settings.UPSTREAM_READ_TIMEOUT = 30.0


def test_only_a_missing_catalogue_is_fetched_out_of_turn_and_as_a_whole(upstream: Upstream):
    products, syncs = Product.objects.count(), CatalogueSync.objects.count()
    fetch_missing_catalogue()
    assert CatalogueSync.objects.count() == syncs

    empty_tables()
    upstream.control("reset")  # forgets the requests of the fixture
    fetch_missing_catalogue()

    done = CatalogueSync.objects.get()
    assert done.result == CatalogueSync.Result.DONE
    assert done.products == Product.objects.listed().count() == products >= 400
    assert Product.objects.values("category").distinct().count() >= 9
    assert Product.objects.values("brand__code").distinct().count() >= 30
    assert set(Product.objects.values_list("type", flat=True)) == {"prepaid", "postpaid"}
    # three requests: the product list is rate-limited most tightly
    asked = [row["endpoint"] for row in upstream.control("requests")["requests"]]
    assert sorted(asked) == ["/v1/brands", "/v1/categories", "/v1/products"]


def test_a_sync_takes_over_new_prices_what_is_lacking_and_what_is_gone_until_it_returns(upstream: Upstream):
    dearer, lacking, gone = Product.objects.filter(name__startswith="Telkomsel", availability="active")[:3]
    upstream.control("product", product_code=dearer.code, price=dearer.price + 75)
    upstream.control("product", product_code=lacking.code, status="inactive")
    upstream.control("product", product_code=gone.code, vanished=True)

    done = sync_catalogue()

    assert (done.price_changes, done.delisted) == (1, 1)
    change = PriceChange.objects.filter(product=dearer).order_by("-at", "-pk").first()
    assert change is not None
    assert (change.price_before, change.price) == (dearer.price, dearer.price + 75)
    assert Product.objects.get(pk=dearer.pk).price == change.price
    assert not Product.objects.get(pk=lacking.pk).is_available
    hidden = Product.objects.get(pk=gone.pk)
    assert (hidden.is_listed, hidden.is_available) == (False, False)

    upstream.control("product", product_code=gone.code, vanished=False)
    sync_catalogue()
    assert Product.objects.get(pk=gone.pk).is_listed


def test_given_no_upstream_or_no_product_the_last_good_catalogue_stays(upstream: Upstream, settings, monkeypatch):
    before = list(Product.objects.order_by("pk").values())
    with monkeypatch.context() as patch:
        answer_products_with(patch, lambda products: [])
        with pytest.raises(CatalogueFault):
            sync_catalogue()
    assert list(Product.objects.order_by("pk").values()) == before

    settings.UPSTREAM_BASE_URL = "http://127.0.0.1:9"
    get_client().budget.declare_fresh()
    with pytest.raises(CatalogueFault):
        sync_catalogue()

    assert list(Product.objects.order_by("pk").values()) == before
    fault = CatalogueSync.objects.order_by("-pk").first()
    assert fault is not None
    assert (fault.result, fault.fault, fault.finished_at is not None) == ("fault", SyncFault.UNREACHABLE, True)


def answer_products_with(monkeypatch: Any, change: Any) -> None:
    """Have the upstream list its products as `change` returns them."""
    real = Client.send

    def send(self, request, *how):
        reply = real(self, request, *how)
        if request.endpoint != Endpoint.PRODUCTS:
            return reply
        return replace(reply, data=Products(products=change(reply.data.products)))

    monkeypatch.setattr(Client, "send", send)


def test_an_older_catalogue_never_overwrites_a_newer_one(upstream: Upstream, monkeypatch):
    """Two syncs at once: the slower one started first and finishes last."""
    product = Product.objects.get(name=PRODUCT)
    real = Client.send
    began: list[bool] = []

    def overtaken(self, request, *how):
        if request.endpoint == Endpoint.BRANDS and not began:
            began.append(True)
            upstream.control("product", product_code=product.code, price=99_000)
            sync_catalogue()
        return real(self, request, *how)

    monkeypatch.setattr(Client, "send", overtaken)
    with pytest.raises(CatalogueFault):
        sync_catalogue()

    product.refresh_from_db()
    assert product.price == 99_000


def test_a_sync_without_news_waits_for_its_turn_in_a_paced_budget_and_changes_nothing(upstream: Upstream, settings):
    # 600 a minute are paced at 100 ms: the second and third call come too early at first.
    settings.UPSTREAM_ACCOUNT_RATE = "600/minute"
    before = list(Product.objects.order_by("pk").values())

    done = sync_catalogue()

    assert (done.result, done.added, done.delisted, done.price_changes) == (CatalogueSync.Result.DONE, 0, 0, 0)
    assert list(Product.objects.order_by("pk").values()) == before
