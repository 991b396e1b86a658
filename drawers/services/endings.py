"""Orders that ended after the shift that sold them had closed: they land in the next shift of the same person."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import connection

from drawers.models import Shift
from drawers.services.landing import COUNTED, IS_SALE

_MOST = 50
# What this shift sold and another one ended, with where that landed, and what landed here.
_LATE = f"""
    SELECT o.ref_id, o.product_name, o.status, sale.amount, sold.id, coalesce(sale.counted_in, landed.id)
     {COUNTED}
      LEFT JOIN LATERAL (
        SELECT following.id FROM drawers_shift following
         WHERE following.cashier_id = sold.cashier_id AND following.opened_at > sold.opened_at
           AND (following.closed_at IS NULL OR following.closed_at >= o.final_at)
         ORDER BY following.opened_at, following.id LIMIT 1
      ) landed ON sale.counted_in IS NULL
     WHERE {IS_SALE} AND o.final_at > sold.closed_at
     ORDER BY o.final_at, o.id LIMIT {_MOST}
"""  # noqa: S608 - our own text


@dataclass(frozen=True)
class LateEnding:
    """An order that shift `sold_in` sold and that ended in `ended_in`; None while its person has opened no other.

    `amount`: rupiah that the customer paid.
    """

    ref_id: str
    product_name: str
    status: str
    amount: int
    sold_in: int
    ended_in: int | None


def late_endings(shift: Shift) -> tuple[list[LateEnding], list[LateEnding]]:
    """What this shift sold and a later one ended, and what an earlier one sold and this one ended; oldest first."""
    with connection.cursor() as cursor:
        cursor.execute(_LATE, {"shifts": [shift.pk]})
        found = [LateEnding(*row) for row in cursor.fetchall()]
    return [one for one in found if one.sold_in == shift.pk], [one for one in found if one.sold_in != shift.pk]
