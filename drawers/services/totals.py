"""What shifts add up to, always from their entries. Cost and profit from the orders that they sold."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db import connection

from drawers.models import Method
from drawers.services.landing import COUNTED, IS_SALE
from purchases.states import Status

_SUMS = """
    SELECT shift_id, kind, method, sum(amount),
           count(*) FILTER (WHERE undoes_id IS NULL) - count(*) FILTER (WHERE undoes_id IS NOT NULL)
      FROM drawers_drawerentry WHERE shift_id = ANY(%s) GROUP BY 1, 2, 3
"""
# Of what has arrived in a shift: what it cost us, and what the customers paid for just that.
_COSTS = f"""
    SELECT coalesce(sale.counted_in, sold.id), sum(coalesce(o.price, o.max_price)), sum(sale.amount)
     {COUNTED}
     WHERE {IS_SALE} AND o.status = %(success)s
       AND (sale.counted_in IS NOT NULL OR sold.closed_at IS NULL OR o.final_at <= sold.closed_at)
     GROUP BY 1
"""


@dataclass
class Totals:
    """Sums of one shift or of several, in rupiah; what went out is below zero."""

    opening: int = 0
    sales: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Method.values, 0))
    refunds: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Method.values, 0))
    # What customers paid of their debts; what a signed day says of the time before has none.
    credit: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Method.values, 0))
    # What the shop paid out of what it kept for customers; below zero.
    credit_out: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Method.values, 0))
    paid_in: int = 0
    paid_out: int = 0
    sale_count: int = 0
    refund_count: int = 0
    cost: int = 0
    arrived: int = 0

    @property
    def all_sales(self) -> int:
        """Rupiah of all sales, however they were paid."""
        return sum(self.sales.values())

    @property
    def all_refunds(self) -> int:
        """Rupiah of everything that was given back; below zero."""
        return sum(self.refunds.values())

    @property
    def expected(self) -> int:
        """Cash that should be there: opening + cash sales − cash refunds ± credit in cash ± paid in and out."""
        cash = Method.CASH.value
        taken = self.sales[cash] + self.refunds[cash] + self.credit[cash] + self.credit_out[cash]
        return self.opening + taken + self.paid_in + self.paid_out

    @property
    def all_credit(self) -> int:
        """Rupiah that customers paid of their debts, in cash or otherwise."""
        return sum(self.credit.values())

    @property
    def all_credit_out(self) -> int:
        """Rupiah that were paid out to customers of what the shop kept for them, in cash or otherwise; below zero."""
        return sum(self.credit_out.values())

    @property
    def credit_sales(self) -> int:
        """Rupiah of the sales on credit."""
        return self.sales[Method.CREDIT.value]

    @property
    def profit(self) -> int:
        """What the customers paid for what has arrived in it, less what that cost us."""
        return self.arrived - self.cost

    def take(self, kind: str, method: str, amount: int, count: int) -> None:
        """Add what the entries of one kind and method come to."""
        match kind:
            case "sale":
                self.sales[method] += amount
                self.sale_count += count
            case "refund":
                self.refunds[method] += amount
                self.refund_count += count
            case "credit":
                self.credit[method] += amount
            case "credit_out":
                self.credit_out[method] += amount
            case "paid_in":
                self.paid_in += amount
            case "paid_out":
                self.paid_out += amount
            case _:
                self.opening += amount

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def totals_of(shifts: Collection[int], *, with_cost: bool = False) -> dict[int, Totals]:
    """The sums of each of these shifts, by key. Cost and profit are zero unless they are asked for."""
    found = {pk: Totals() for pk in shifts}
    with connection.cursor() as cursor:
        cursor.execute(_SUMS, [list(shifts)])
        for pk, kind, method, amount, count in cursor.fetchall():
            found[pk].take(kind, method, int(amount), count)
        if with_cost:
            cursor.execute(_COSTS, {"shifts": list(shifts), "success": Status.SUCCESS.value})
            for pk, cost, arrived in cursor.fetchall():
                found[pk].cost, found[pk].arrived = int(cost), int(arrived)
    return found
