"""Fetches the upstream's catalogue, and keeps the last good one after every fault."""

import datetime as dt
from dataclasses import dataclass

import structlog
from django.db import DatabaseError, transaction
from django.utils import timezone

from catalogue.errors import CatalogueFault
from catalogue.models import Brand, CatalogueSync, Category, PriceChange, Product, ProductQuerySet, SyncFault
from catalogue.services.kinds import Corrections, settle_kind
from catalogue.services.pricing import lock_prices, reprice
from core import clock
from core.publish import publish
from core.times import time_of_day
from gateway.services import call
from upstream import messages, requests
from upstream.errors import Unavailable, UpstreamError

log = structlog.get_logger()


_PRODUCT_FIELDS = (
    *("name", "category_id", "brand_id", "type", "price", "admin_fee", "availability", "description"),
    *("cut_off_start", "cut_off_end", "is_listed", "selling_price", "fee"),
    *("kind", "kind_source"),
)


@dataclass(frozen=True)
class _Fetched:
    categories: list[messages.Category]
    brands: list[messages.Brand]
    products: list[messages.Product]
    odd: list[messages.OddRow]


def request_catalogue_sync() -> bool:
    """Let a worker fetch the catalogue soon; False when the broker is down (beat does it every 10 minutes anyway)."""
    return publish("catalogue.tasks.sync_catalogue")


def sync_catalogue() -> CatalogueSync:
    """Fetch categories, brands and products (three calls, background class) and apply them in one transaction.

    Delisted products are marked, never deleted; each new price is kept as a `PriceChange`. Raises `CatalogueFault`,
    with the attempt stored and the catalogue unchanged.

    A row that cannot be read is left out (`CatalogueSync.left_out`), and an alert names it. So are two rows of one
    product that differ. Its product keeps all that it had, also its place in the list: an order sends the price that a
    person has confirmed as `max_price`, so a price that has risen meanwhile is not charged. If a row does not say its
    product, no product is taken for delisted.
    """
    attempt = CatalogueSync.objects.create()
    try:
        fetched = _fetch()
        with transaction.atomic():
            _apply(attempt, fetched)
    except (UpstreamError, CatalogueFault, DatabaseError) as error:
        fault = error if isinstance(error, CatalogueFault) else _fault_of(error)
        attempt.result = CatalogueSync.Result.FAULT
        attempt.fault, attempt.fault_detail = fault.code, fault.detail[:300]
        attempt.finished_at = timezone.now()
        attempt.save(update_fields=["result", "fault", "fault_detail", "finished_at"])
        raise fault from error
    log.info("catalogue_synced", products=attempt.products, price_changes=attempt.price_changes)
    return attempt


def _fetch() -> _Fetched:
    # The product list first: its limit is the tightest (document, Limits), so a refusal costs no other call.
    listed = call(requests.products()).data
    categories = call(requests.categories()).data
    brands = call(requests.brands()).data
    for data in (listed, categories, brands):
        if data.odd:
            log.warning("catalogue_rows_left_out", list=data.rows, rows=[row.model_dump() for row in data.odd[:20]])
    odd = {row.code for row in listed.odd}
    twice = [row for row in _listed_twice(listed.products) if row.code not in odd]
    in_doubt = odd | {row.code for row in twice}
    products = {item.product_code: item for item in listed.products if item.product_code not in in_doubt}
    if twice and len(in_doubt) > len(products):
        raise CatalogueFault(SyncFault.LISTED_TWICE)
    if not products:
        raise CatalogueFault(SyncFault.EMPTY)
    return _Fetched(
        categories=categories.categories,
        brands=brands.brands,
        products=[*products.values()],
        odd=[*listed.odd, *twice],
    )


def _listed_twice(products: list[messages.Product]) -> list[messages.OddRow]:
    """The products of which two rows differ, each with the first field that differs; equal rows are one row."""
    first: dict[str, messages.Product] = {}
    twice: dict[str, messages.OddRow] = {}
    for item in products:
        code = item.product_code
        other = first.setdefault(code, item)
        if item != other and code not in twice:
            field = next(name for name in messages.Product.model_fields if getattr(item, name) != getattr(other, name))
            twice[code] = messages.OddRow(code=code, name=other.product_name, field=f"{field} (2×)")
    if twice:
        log.warning("catalogue_products_listed_twice", codes=list(twice)[:20])
    return list(twice.values())


def _fault_of(error: UpstreamError | DatabaseError) -> CatalogueFault:
    if isinstance(error, Unavailable) and error.reason == "budget":
        not_before = clock.now() + dt.timedelta(seconds=error.retry_after or 0.0)
        return CatalogueFault(SyncFault.RATE_LIMIT, f"→ {time_of_day(not_before)}", not_before=not_before)
    if isinstance(error, Unavailable) and error.reason == "connect":
        return CatalogueFault(SyncFault.UNREACHABLE)
    return CatalogueFault(SyncFault.OTHER, str(error) or type(error).__name__)


def _apply(attempt: CatalogueSync, fetched: _Fetched) -> None:
    lock_prices()
    newer = CatalogueSync.objects.filter(started_at__gt=attempt.started_at, result=CatalogueSync.Result.DONE)
    if newer.exists():
        raise CatalogueFault(SyncFault.OVERTAKEN)

    unlisted = Product.objects.listed().exclude(code__in=[item.product_code for item in fetched.products])
    kept = list(_in_doubt(unlisted, fetched.odd).select_related("category", "brand__category"))
    categories = _apply_categories(fetched, kept)
    brands = _apply_brands(fetched, categories, kept)
    known = Product.objects.in_bulk([item.product_code for item in fetched.products], field_name="code")
    corrections = Corrections.read()
    new: list[Product] = []
    changed: list[Product] = []
    changes: list[PriceChange] = []
    for item in fetched.products:
        product = known.get(item.product_code)
        is_new = product is None
        product = product or Product(code=item.product_code)
        before = None if is_new else _values(product)
        price_before = None if is_new else product.price
        _fill(product, item, categories[item.category], brands[item.category, item.brand])
        settle_kind(product, corrections, is_new=is_new)
        if is_new:
            new.append(product)
        elif _values(product) != before:
            changed.append(product)
        if is_new or price_before != product.price:
            changes.append(
                PriceChange(
                    product=product, price_before=price_before, price=product.price, admin_fee=product.admin_fee
                )
            )
    now = timezone.now()
    for product in changed:
        product.updated_at = now
    Product.objects.bulk_create(new)
    Product.objects.bulk_update(changed, [*_PRODUCT_FIELDS, "updated_at"], batch_size=500)
    PriceChange.objects.bulk_create(changes)
    delisted = unlisted.exclude(pk__in=[product.pk for product in kept]).update(is_listed=False, updated_at=now)
    reprice()
    attempt.result = CatalogueSync.Result.DONE
    attempt.finished_at = now
    attempt.products = len(fetched.products)
    attempt.added = len(new)
    attempt.delisted = delisted
    attempt.price_changes = len(changes) - len(new)
    attempt.left_out = _named(fetched.odd) or None
    attempt.save()


def _in_doubt(unlisted: ProductQuerySet, odd: list[messages.OddRow]) -> ProductQuerySet:
    """Of these products, which no good row lists, those of which an odd row may be."""
    return unlisted.filter(code__in=[row.code for row in odd]) if all(row.code for row in odd) else unlisted


def _named(odd: list[messages.OddRow]) -> list[dict[str, str]]:
    """The rows as they are kept, with our name of a product that we know."""
    names = dict(Product.objects.filter(code__in=[row.code for row in odd]).values_list("code", "name"))
    return [{**row.model_dump(), "name": names.get(row.code, row.name)} for row in odd]


def _apply_categories(fetched: _Fetched, kept: list[Product]) -> dict[str, Category]:
    names: dict[str, tuple[str, str]] = {item.code: (item.name, item.type) for item in fetched.categories}
    # A product is sold even if its category is missing from the list of categories, which then keeps its name.
    known = dict(Category.objects.values_list("code", "name"))
    for product in fetched.products:
        names.setdefault(product.category, (known.get(product.category, product.category), product.type))
    for kept_product in kept:
        names.setdefault(kept_product.category.code, (kept_product.category.name, kept_product.category.type))
    Category.objects.bulk_create(
        [Category(code=code, name=name, type=kind, is_listed=True) for code, (name, kind) in names.items()],
        update_conflicts=True,
        unique_fields=["code"],
        update_fields=["name", "type", "is_listed"],
    )
    Category.objects.exclude(code__in=names).update(is_listed=False)
    return Category.objects.in_bulk(list(names), field_name="code")


def _apply_brands(
    fetched: _Fetched, categories: dict[str, Category], kept: list[Product]
) -> dict[tuple[str, str], Brand]:
    names = {(item.category, item.code): item.name for item in fetched.brands if item.category in categories}
    by_code = dict(Brand.objects.values_list("code", "name")) | {item.code: item.name for item in fetched.brands}
    for product in fetched.products:
        names.setdefault((product.category, product.brand), by_code.get(product.brand, product.brand))
    for kept_product in kept:
        names.setdefault((kept_product.category.code, kept_product.brand.code), kept_product.brand.name)
    Brand.objects.bulk_create(
        [Brand(category=categories[category], code=code, name=name) for (category, code), name in names.items()],
        update_conflicts=True,
        unique_fields=["category", "code"],
        update_fields=["name", "is_listed"],
    )
    brands = {(brand.category.code, brand.code): brand for brand in Brand.objects.select_related("category")}
    gone = [brand.pk for key, brand in brands.items() if key not in names]
    Brand.objects.filter(pk__in=gone).update(is_listed=False)
    return brands


def _fill(product: Product, item: messages.Product, category: Category, brand: Brand) -> None:
    if product.type != item.type:  # a bill has a fee and no selling price; a prepaid product has no fee
        product.selling_price, product.fee = None, 0
    product.name = item.product_name
    product.category = category
    product.brand = brand
    product.type = item.type
    product.price = item.price
    product.admin_fee = item.admin_fee
    product.availability = item.status
    product.description = item.description
    product.cut_off_start = item.cut_off_start
    product.cut_off_end = item.cut_off_end
    product.is_listed = True


def _values(product: Product) -> tuple[object, ...]:
    return tuple(getattr(product, field) for field in _PRODUCT_FIELDS)
