"""Debts for orders that ended without success: they stay on the account until somebody notes it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from django.db.models import QuerySet, Sum

from credit.models import CreditAccount, CreditEntry
from credit.services.ageing import Debt


@dataclass(frozen=True)
class OffAccount:
    """The effect of taking a price off an account: `less` rupiah of debt; `kept` rupiah stay for later sales."""

    amount: int
    less: int

    @classmethod
    def of(cls, amount: int, *, owed: int) -> OffAccount:
        """The effect while the customer owes `owed` rupiah (below zero: the shop owes)."""
        return cls(amount, less=min(amount, max(0, owed)))

    @property
    def kept(self) -> int:
        """Rupiah that the customer has paid already."""
        return self.amount - self.less

    @property
    def code(self) -> str:
        """Its name for pages and tests: less is owed, partly so, or all of it is kept."""
        return "less" if not self.kept else "part" if self.less else "kept"


def unfulfilled_sales(account: CreditAccount) -> dict[str, int]:
    """The sales on this account whose orders ended without success: ref_id → rupiah."""
    return dict(_not_fulfilled([account.pk]).values_list("ref_id", "amount"))


def not_to_ask_for(accounts: Collection[int]) -> dict[int, int]:
    """Rupiah of what these accounts owe that are for orders that ended without success; those that have some."""
    sums = _not_fulfilled(accounts).order_by().values("account").annotate(sum=Sum("amount"))
    return {
        pk: int(min(balance, total))
        for pk, balance, total in sums.values_list("account", "account__balance", "sum")
        if balance > 0
    }


def _not_fulfilled(accounts: Collection[int]) -> QuerySet[CreditEntry]:
    """A payment names the debt that stands for it (`payment`), and knows how its order ended."""
    return CreditEntry.objects.filter(account__in=accounts, payment__outcome="owed")


def still_owed(account: CreditAccount, debts: list[Debt], unfulfilled: Mapping[str, int]) -> list[Debt]:
    """The debts of the account, oldest due first, as they are once `unfulfilled` is taken off it."""
    left = account.balance - sum(unfulfilled.values())
    remaining = []
    for debt in reversed(debts):
        if left > 0 and debt.ref_id not in unfulfilled:
            remaining.append(replace(debt, open=min(debt.amount, left)))
            left -= debt.amount
    return remaining[::-1]
