"""How products fare by our own last orders, as the room of the orders has counted it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from catalogue.models import ProductHealth


@dataclass(frozen=True)
class Health:
    """How a product fares: of its last orders so many ended, so many of these failed; and until when that says much."""

    ended: int = 0
    failed: int = 0
    failing_until: dt.datetime | None = None
    slow_until: dt.datetime | None = None


def note_health(counted: Mapping[int, Health], now: dt.datetime) -> None:
    """Keep how each product (by its key) fares at `now`; those not named fare well. Only what changes is written."""
    kept = {row.product_id: row for row in ProductHealth.objects.all()}
    new, changed = [], []
    for product in sorted(kept.keys() | counted.keys()):
        health = counted.get(product, Health())
        row = kept.get(product)
        is_bad = health.failing_until or health.slow_until
        if row is None:
            if is_bad:
                new.append(ProductHealth(product_id=product, counted_at=now, **vars(health)))
        elif (is_bad or row.failing_until or row.slow_until) and health != _health_of(row):
            for name, value in vars(health).items():
                setattr(row, name, value)
            row.counted_at = now
            changed.append(row)
    ProductHealth.objects.bulk_create(
        new,
        update_conflicts=True,
        unique_fields=["product"],
        update_fields=["ended", "failed", "failing_until", "slow_until", "counted_at"],
    )
    ProductHealth.objects.bulk_update(changed, ["ended", "failed", "failing_until", "slow_until", "counted_at"])


def _health_of(row: ProductHealth) -> Health:
    return Health(row.ended, row.failed, row.failing_until, row.slow_until)
