"""How products fare by our own last orders, as the room of the orders has counted it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from catalogue.models import ProductHealth

_FACTS = ("ended", "failed", "failing_until", "slow_until")


@dataclass(frozen=True)
class Health:
    """How a product fares: of its last orders so many ended, so many of these failed; and until when that says much."""

    ended: int = 0
    failed: int = 0
    failing_until: dt.datetime | None = None
    slow_until: dt.datetime | None = None

    @property
    def is_bad(self) -> bool:
        """Whether there is something to say about it."""
        return self.failing_until is not None or self.slow_until is not None


def note_health(counted: Mapping[int, Health], now: dt.datetime) -> None:
    """Keep how each product (by its key) fares at `now`; those not named fare well. Only what changes is written."""
    kept = {product: Health(*facts) for product, *facts in ProductHealth.objects.values_list("product", *_FACTS)}
    changed = []
    for product in sorted(kept.keys() | counted.keys()):
        before, health = kept.get(product, Health()), counted.get(product, Health())
        if health != before and (health.is_bad or before.is_bad):
            changed.append(ProductHealth(product_id=product, counted_at=now, **vars(health)))
    ProductHealth.objects.bulk_create(
        changed, update_conflicts=True, unique_fields=["product"], update_fields=[*_FACTS, "counted_at"]
    )
