"""The health of products by our own last orders, which the room `purchases` counts."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from catalogue.models import ProductHealth

_FACTS = ("ended", "failed", "failing_until", "slow_until")


@dataclass(frozen=True)
class Health:
    """The health of a product: the number of its last orders that ended, of those that failed, and its expiry."""

    ended: int = 0
    failed: int = 0
    failing_until: dt.datetime | None = None
    slow_until: dt.datetime | None = None

    @property
    def is_bad(self) -> bool:
        """Whether the seller has to be warned."""
        return self.failing_until is not None or self.slow_until is not None


def note_health(counted: Mapping[int, Health], now: dt.datetime) -> None:
    """Store the health of each product (by key) at `now`; products not named are healthy. Only changes are written."""
    kept = {product: Health(*facts) for product, *facts in ProductHealth.objects.values_list("product", *_FACTS)}
    changed = []
    for product in sorted(kept.keys() | counted.keys()):
        before, health = kept.get(product, Health()), counted.get(product, Health())
        if health != before and (health.is_bad or before.is_bad):
            changed.append(ProductHealth(product_id=product, counted_at=now, **vars(health)))
    ProductHealth.objects.bulk_create(
        changed, update_conflicts=True, unique_fields=["product"], update_fields=[*_FACTS, "counted_at"]
    )
