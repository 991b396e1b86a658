"""The tables of the catalogue: the products of the upstream, the rules, the products' health, the public price list."""

from catalogue.models.health import LAST_ORDERS, ProductHealth
from catalogue.models.products import (
    MOST_PERCENT,
    MOST_RUPIAH,
    ROUNDINGS,
    Availability,
    Brand,
    CatalogueSync,
    Category,
    KindCorrection,
    KindSource,
    PriceChange,
    PriceRule,
    PriceRuleKind,
    Product,
    ProductQuerySet,
    ProductType,
    SyncFault,
)
from catalogue.models.public_list import PublicPriceList
