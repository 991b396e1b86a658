"""What is on an account for orders that ended without success: it stands there until somebody notes it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from credit.models import CreditAccount, CreditEntry, unpaid
from credit.services.ageing import Debt
from purchases.states import UNFULFILLED


@dataclass(frozen=True)
class OffAccount:
    """What taking a price off an account does, in rupiah: `less` is owed then, and `kept` is left for later sales."""

    amount: int
    less: int

    @classmethod
    def of(cls, amount: int, *, owed: int) -> OffAccount:
        """What it does while `owed` rupiah are owed (below zero: by the shop)."""
        return cls(amount, less=min(amount, max(0, owed)))

    @property
    def kept(self) -> int:
        """Rupiah that the customer has paid already."""
        return self.amount - self.less

    @property
    def code(self) -> str:
        """Its name for pages and tests: less is owed, partly so, or all of it is kept."""
        return "less" if not self.kept else "part" if self.less else "kept"


# An account is looked through so far back, whatever it has sold since; and all that is not paid.
_NEWEST = 200
_UNPAID = "SELECT e.* FROM ({unpaid}) debt JOIN credit_creditentry e ON e.id = debt.id"


def _not_fulfilled(account: str, debts: str) -> str:
    """SQL for the sales on an account whose orders ended without success. `debts`: SQL for its unpaid entries."""
    return f"""
        SELECT c.ref_id, c.amount
          FROM (
            (SELECT * FROM credit_creditentry WHERE account_id = {account} ORDER BY at DESC, id DESC LIMIT {_NEWEST})
             UNION {debts}
          ) c
         CROSS JOIN LATERAL (SELECT status FROM purchases_order WHERE ref_id = c.ref_id OFFSET 0) o
         WHERE c.kind = 'sale' AND c.undoes_id IS NULL AND o.status = ANY(%(unfulfilled)s)
           AND NOT EXISTS (SELECT FROM credit_creditentry undoing WHERE undoing.undoes_id = c.id)
    """  # noqa: S608 - our own text


_OF_ONE = _not_fulfilled("%(account)s", "SELECT * FROM credit_creditentry WHERE id = ANY(%(debts)s)")
_OF_MANY = f"""
    SELECT account.id, least(account.balance, sum(sale.amount))::bigint FROM credit_creditaccount account
     CROSS JOIN LATERAL (
        {_not_fulfilled("account.id", _UNPAID.format(unpaid=unpaid("account.id", "account.balance")))}
     ) sale
     WHERE account.id = ANY(%(accounts)s) AND account.balance > 0 GROUP BY account.id
"""  # noqa: S608 - our own text


def unfulfilled_sales(account: CreditAccount, debts: Collection[Debt]) -> dict[str, int]:
    """The sales on this account whose orders ended without success: ref_id → rupiah. `debts`: those of the account."""
    facts: dict[str, Any] = {
        "account": account.pk,
        "debts": [debt.entry for debt in debts],
        "unfulfilled": sorted(UNFULFILLED),
    }
    with connection.cursor() as cursor:
        cursor.execute(_OF_ONE, facts)
        return dict(cursor.fetchall())


def not_to_ask_for(accounts: Collection[int]) -> dict[int, int]:
    """Rupiah of what these accounts owe that are for orders that ended without success; those that have some."""
    with connection.cursor() as cursor:
        cursor.execute(_OF_MANY, {"accounts": list(accounts), "unfulfilled": sorted(UNFULFILLED)})
        return dict(cursor.fetchall())


def still_owed(account: CreditAccount, debts: list[Debt], unfulfilled: Mapping[str, int]) -> list[Debt]:
    """The debts of the account, oldest due first, as they are once `unfulfilled` is taken off it."""
    left = account.balance - sum(unfulfilled.values())
    found = []
    for debt in reversed(debts):
        if left > 0 and debt.ref_id not in unfulfilled:
            found.append(replace(debt, open=min(debt.amount, left)))
            left -= debt.amount
    return found[::-1]


def standing_sales(ref_ids: Collection[str]) -> QuerySet[CreditEntry]:
    """Of these orders those that are on an account now: the sales, with their accounts and customers."""
    sales = CreditEntry.objects.current().filter(ref_id__in=ref_ids, ref_id__gt="", kind=CreditEntry.Kind.SALE)
    return sales.select_related("account__customer")
