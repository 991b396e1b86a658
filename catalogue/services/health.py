"""How products fare by our own last orders, as the room of the orders has counted it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from catalogue.models import ProductHealth

_COUNTED = ["ended", "failed", "failing_until", "slow_until", "counted_at"]


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
    kept = {row.product_id: row for row in ProductHealth.objects.all()}
    new, changed = [], []
    for product in sorted(kept.keys() | counted.keys()):
        row, health = kept.get(product), counted.get(product, Health())
        before = _health_of(row) if row else Health()
        if health == before or not (health.is_bad or before.is_bad):
            continue
        if row is None:
            row = ProductHealth(product_id=product)
            new.append(row)
        else:
            changed.append(row)
        for name, value in vars(health).items():
            setattr(row, name, value)
        row.counted_at = now
    ProductHealth.objects.bulk_create(new, update_conflicts=True, unique_fields=["product"], update_fields=_COUNTED)
    ProductHealth.objects.bulk_update(changed, _COUNTED)


def _health_of(row: ProductHealth) -> Health:
    return Health(row.ended, row.failed, row.failing_until, row.slow_until)
