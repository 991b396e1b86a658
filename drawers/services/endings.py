"""Orders that ended after the shift that sold them had closed: they land in the next shift of the same person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import connection

from drawers.models import Shift
from drawers.services.sales import BEFORE_TOO

_MOST = 50
_LATE = f"""
    SELECT o.ref_id, o.product_name, o.status, sale.amount, sold.id, landed.id
      FROM (
        SELECT * FROM drawers_shift WHERE cashier_id = %(cashier)s AND (opened_at, id) <= (%(opened)s, %(shift)s)
         ORDER BY opened_at DESC, id DESC LIMIT {BEFORE_TOO}
      ) sold
      JOIN drawers_drawerentry sale ON sale.shift_id = sold.id AND sale.kind = 'sale' AND sale.undoes_id IS NULL
      JOIN purchases_order o ON o.ref_id = sale.ref_id AND o.final_at > sold.closed_at
      LEFT JOIN LATERAL (
        SELECT following.id FROM drawers_shift following
         WHERE following.cashier_id = sold.cashier_id AND following.opened_at > sold.opened_at
           AND (following.closed_at IS NULL OR following.closed_at >= o.final_at)
         ORDER BY following.opened_at, following.id LIMIT 1
      ) landed ON TRUE
     WHERE (sold.id = %(shift)s OR landed.id = %(shift)s)
       AND NOT EXISTS (SELECT FROM drawers_drawerentry undoing WHERE undoing.undoes_id = sale.id)
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
    facts: dict[str, Any] = {"cashier": shift.cashier_id, "opened": shift.opened_at, "shift": shift.pk}
    with connection.cursor() as cursor:
        cursor.execute(_LATE, facts)
        found = [LateEnding(*row) for row in cursor.fetchall()]
    return [one for one in found if one.sold_in == shift.pk], [one for one in found if one.sold_in != shift.pk]
