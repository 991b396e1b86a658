"""Finds the kind of each product's numbers: by its names, by the shop's setting, or kept from before."""

from __future__ import annotations

from dataclasses import dataclass

import structlog
from django.db import transaction
from django.utils import timezone

from audit.services import record
from catalogue.destinations import CUSTOMER, DestinationKind, kind_of_category, kind_of_own_names
from catalogue.events import NUMBER_KIND_CHANGED
from catalogue.models import Category, KindCorrection, KindSource, Product, ProductType
from catalogue.services.pricing import lock_prices
from catalogue.services.targets import Target
from staff.models import User

log = structlog.get_logger()


@dataclass(frozen=True)
class Corrections:
    """The kinds that the shop has set, by the keys of categories and of products."""

    categories: dict[int, DestinationKind]
    products: dict[int, DestinationKind]

    @classmethod
    def read(cls) -> Corrections:
        rows = list(KindCorrection.objects.all())
        return cls(
            {row.category_id: row.kind for row in rows if row.category_id},
            {row.product_id: row.kind for row in rows if row.product_id},
        )


def kind_by_names(product: Product) -> DestinationKind | None:
    """The kind to which the names of the product or its brand point, else those of its category; else None."""
    own, brand, category = product.names
    is_bill = product.type == ProductType.POSTPAID
    return kind_of_own_names(own, brand) or kind_of_category(category, is_bill=is_bill)


def settle_kind(product: Product, corrections: Corrections, *, is_new: bool = False) -> None:
    """Set the kind of the product's numbers and its source; not saved.

    The shop's setting for the product counts first, then the words of the product and its brand, then the shop's
    setting for the category, then the category's words. A known product keeps its kind when the provider renames it
    (`KEPT`): its numbers are checked by another rule only when the shop says so.
    """
    own, brand, _category = product.names
    set_for_it = corrections.products.get(product.pk)
    if not set_for_it and not kind_of_own_names(own, brand):
        set_for_it = corrections.categories.get(product.category_id)
    named = kind_by_names(product)
    if set_for_it:
        product.kind, product.kind_source = set_for_it, KindSource.SHOP
    elif is_new or not product.is_kind_known or named is product.kind:
        product.kind = named or CUSTOMER
        product.kind_source = KindSource.NAMES if named else KindSource.UNKNOWN
    else:
        product.kind_source = KindSource.KEPT


def correct_kind(target: Target, kind: DestinationKind | None, *, actor: User) -> None:
    """Set the kind of a category's or a product's numbers (None: as the names say).

    It counts for later sales; orders and saved numbers stay as they are.
    """
    with transaction.atomic():
        lock_prices()
        row = KindCorrection.objects.filter(category=target.category, product=target.product).first()
        before = row.kind if row else None
        if kind is None and row:
            row.delete()
        elif kind:
            row = row or KindCorrection(category=target.category, product=target.product)
            row.kind, row.changed_at = kind, timezone.now()
            row.save()
        changed = _settle_again(target)
        record(
            NUMBER_KIND_CHANGED,
            actor=actor,
            subject=target.name,
            before={"target": target.key, "number_kind": str(before or "")},
            after={"target": target.key, "number_kind": str(kind or "")},
            facts={"affected": changed},
        )
    log.info("number_kind_changed", by=actor.pk, target=target.key, kind=str(kind or ""), affected=changed)


@dataclass
class CategoryKinds:
    """A listed category: the names of its products' kinds, how many products, whether the shop should set the kind."""

    category: Category
    kinds: list[str]
    count: int = 0
    is_asking: bool = False
    is_set: bool = False

    @property
    def key(self) -> str:
        """Its key as a target."""
        return f"category:{self.category.pk}"


def read_category_kinds() -> list[CategoryKinds]:
    """Every category with listed products; those that ask the shop come first."""
    rows: dict[int, CategoryKinds] = {}
    products = Product.objects.listed().select_related("category").order_by("category__name", "name")
    for product in products:
        row = rows.setdefault(product.category_id, CategoryKinds(product.category, []))
        name = str(product.kind.name)
        row.kinds += [] if name in row.kinds else [name]
        row.count += 1
        row.is_asking |= product.kind_source in {KindSource.KEPT, KindSource.UNKNOWN}
        row.is_set |= product.kind_source == KindSource.SHOP
    return sorted(rows.values(), key=lambda row: not row.is_asking)


def _settle_again(target: Target) -> int:
    products = Product.objects.select_related("brand", "category")
    products = (
        products.filter(category=target.category) if target.category else products.filter(pk__in=[target.keys[2]])
    )
    corrections, changed = Corrections.read(), []
    for product in products:
        before = product.kind, product.kind_source
        settle_kind(product, corrections, is_new=product.kind_source == KindSource.SHOP)
        if (product.kind, product.kind_source) != before:
            product.updated_at = timezone.now()
            changed.append(product)
    Product.objects.bulk_update(changed, ["kind", "kind_source", "updated_at"], batch_size=500)
    return len(changed)
