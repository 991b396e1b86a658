"""The sums of shifts, always from their sales and entries."""

from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db import connection

from branches.seeing import own_branch
from credit import methods
from credit.methods import CASH, find_method

_SUMS = """
    SELECT shift_id, kind, method, is_cash, sum(amount),
           count(*) FILTER (WHERE undoes_id IS NULL) - count(*) FILTER (WHERE undoes_id IS NOT NULL)
      FROM drawers_drawerentry WHERE shift_id = ANY(%(shifts)s) GROUP BY 1, 2, 3, 4
     UNION ALL
    SELECT sold_in_id, 'sale', method, is_cash, sum(amount), count(*)
      FROM drawers_payment WHERE sold_in_id = ANY(%(shifts)s) GROUP BY 1, 3, 4
"""
# The orders that arrived in a shift: their cost, and the amount that customers paid for them, or owe. A reader of one
# branch sees only the cost of that branch's orders.
_COSTS = """
    SELECT ended_in_id, sum(cost), sum(coalesce(debt.amount, payment.amount)) FROM drawers_payment payment
      LEFT JOIN credit_creditentry debt ON debt.id = payment.debt_id
     WHERE ended_in_id = ANY(%(shifts)s) AND outcome = 'kept'
       AND (%(branch)s::bigint IS NULL OR payment.branch_id = %(branch)s) GROUP BY 1
"""


def _by_method() -> dict[str, int]:
    return {method.code: 0 for method in methods.METHODS}


@dataclass
class Totals:
    """Sums of one shift or of several, in rupiah; outgoing money is below zero."""

    opening: int = 0
    sales: dict[str, int] = field(default_factory=_by_method)
    refunds: dict[str, int] = field(default_factory=_by_method)
    # Paid debts; missing in days that were signed before we counted these.
    credit: dict[str, int] = field(default_factory=_by_method)
    # Payouts of money that the shop kept for customers; below zero.
    credit_out: dict[str, int] = field(default_factory=_by_method)
    # The methods among these that count as cash.
    cash_methods: list[str] = field(default_factory=lambda: [CASH])
    paid_in: int = 0
    paid_out: int = 0
    sale_count: int = 0
    refund_count: int = 0
    cost: int = 0
    arrived: int = 0

    @property
    def all_sales(self) -> int:
        """Rupiah of all sales, by any way to pay."""
        return sum(self.sales.values())

    @property
    def all_refunds(self) -> int:
        """Rupiah of everything that was given back; below zero."""
        return sum(self.refunds.values())

    @property
    def expected(self) -> int:
        """Cash that should be there: opening + cash sales − cash refunds ± credit in cash ± paid in and out."""
        sums = (self.sales, self.refunds, self.credit, self.credit_out)
        return self.opening + sum(self.in_cash(method_sums) for method_sums in sums) + self.paid_in + self.paid_out

    def in_cash(self, sums: dict[str, int]) -> int:
        """The part of these sums by method that is, or was, in the drawer."""
        return sum(sums.get(method, 0) for method in self.cash_methods)

    @property
    def all_credit(self) -> int:
        """Rupiah that customers paid of their debts, in cash or otherwise."""
        return sum(self.credit.values())

    @property
    def all_credit_out(self) -> int:
        """Rupiah that the shop paid out from money kept for customers, in cash or otherwise; below zero."""
        return sum(self.credit_out.values())

    @property
    def credit_sales(self) -> int:
        """Rupiah of the sales on credit."""
        return _on_credit(self.sales)

    @property
    def credit_left(self) -> int:
        """Rupiah of the sales on credit less what was given back on accounts; below zero if more was given back."""
        return self.credit_sales + _on_credit(self.refunds)

    @property
    def profit(self) -> int:
        """The amount that customers paid for the arrived orders, less their cost."""
        return self.arrived - self.cost

    def take(self, kind: str, method: str, *, is_cash: bool, amount: int, count: int) -> None:
        """Add the sum of the sales, or of the entries of one kind, by one method."""
        if is_cash and method not in self.cash_methods:
            self.cash_methods.append(method)
        match kind:
            case "sale":
                _add(self.sales, method, amount)
                self.sale_count += count
            case "refund":
                _add(self.refunds, method, amount)
                self.refund_count += count
            case "credit":
                _add(self.credit, method, amount)
            case "credit_out":
                _add(self.credit_out, method, amount)
            case "paid_in":
                self.paid_in += amount
            case "paid_out":
                self.paid_out += amount
            case _:
                self.opening += amount

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def _on_credit(sums: dict[str, int]) -> int:
    return sum(amount for code, amount in sums.items() if (row := find_method(code)) and row.needs_debtor)


def _add(sums: dict[str, int], method: str, amount: int) -> None:
    sums[method] = sums.get(method, 0) + amount  # also a method that is no longer in the table


def totals_of(shifts: Collection[int], *, with_cost: bool = False) -> dict[int, Totals]:
    """The sums of each of these shifts, by key. Cost and profit are zero unless the caller asks for them.

    They leave out orders of a branch that the present reader does not see.
    """
    totals = {pk: Totals() for pk in shifts}
    with connection.cursor() as cursor:
        cursor.execute(_SUMS, {"shifts": list(shifts)})
        for pk, kind, method, is_cash, amount, count in cursor.fetchall():
            totals[pk].take(kind, method, is_cash=is_cash, amount=int(amount), count=count)
        if with_cost:
            cursor.execute(_COSTS, {"shifts": list(shifts), "branch": own_branch()})
            for pk, cost, arrived in cursor.fetchall():
                totals[pk].cost, totals[pk].arrived = int(cost), int(arrived)
    return totals
