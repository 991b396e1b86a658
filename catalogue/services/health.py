"""How products fare by our own last orders, which the room `purchases` counts."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from catalogue.models import ProductHealth

_FACTS = ("ended", "failed", "failing_until", "slow_until")


@dataclass(frozen=True)
class Health:
    """How a product fares: how many of its last orders ended, how many of these failed, and until when that counts."""

    ended: int = 0
    failed: int = 0
    failing_until: dt.datetime | None = None
    slow_until: dt.datetime | None = None

    @property
    def is_bad(self) -> bool:
        """Whether there is something to warn about."""
        return self.failing_until is not None or self.slow_until is not None


def note_health(counted: Mapping[int, Health], now: dt.datetime) -> None:
    """Store how each product (by key) fares at `now`; products not named fare well. Only changes are written."""
    kept = {product: Health(*facts) for product, *facts in ProductHealth.objects.values_list("product", *_FACTS)}
    changed = []
    for product in sorted(kept.keys() | counted.keys()):
        before, health = kept.get(product, Health()), counted.get(product, Health())
        if health != before and (health.is_bad or before.is_bad):
            changed.append(ProductHealth(product_id=product, counted_at=now, **vars(health)))
    ProductHealth.objects.bulk_create(
        changed, update_conflicts=True, unique_fields=["product"], update_fields=[*_FACTS, "counted_at"]
    )
