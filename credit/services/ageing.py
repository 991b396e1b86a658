"""The age of customers' debts, and debts for orders that ended without success.

The age depends only on unpaid debts. The price of an order that did not succeed stays on the account
until somebody notes it.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from django.db import connection, models
from django.db.models import Count, Func, QuerySet, Sum, Value
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from credit.models import CreditAccount, CreditEntry, unpaid

_BY_AGE = f"""
    SELECT account.id, debt.due_on, sum(debt.open)::bigint FROM credit_creditaccount account
     CROSS JOIN LATERAL ({unpaid("account.id", "account.balance")}) debt
     WHERE account.id = ANY(%s) AND account.balance > 0 GROUP BY 1, 2
"""  # noqa: S608 - our own text

# Whether an account has an unpaid debt as in `unpaid`: one whose newer debts add up to less than the account owes. To
# read all debts from the oldest due day on in one pass is faster for many accounts than to walk from debt to debt.
_OWES_FOR = """
    EXISTS (SELECT FROM (SELECT %(expressions)s) account (id, balance, oldest_due, branch) CROSS JOIN LATERAL (
        SELECT e.id, sum(e.amount) OVER (ORDER BY e.due_on DESC, e.id DESC) - e.amount AS newer
          FROM credit_creditentry e
         WHERE e.account_id = account.id AND e.due_on >= account.oldest_due
           AND NOT EXISTS (SELECT FROM credit_creditentry undoing WHERE undoing.undoes_id = e.id)
    ) debt LEFT JOIN drawers_payment sale ON sale.debt_id = debt.id
     WHERE debt.newer < account.balance AND
"""

# An entry that replaces another one (a merge, a new price) is as old as the first of them.
_SINCE = """
    (WITH RECURSIVE entry AS (
        SELECT at, replaces_id FROM credit_creditentry WHERE id = debt.id
        UNION ALL
        SELECT former.at, former.replaces_id FROM entry JOIN credit_creditentry former ON former.id = entry.replaces_id
    ) SELECT min(at) FROM entry)
"""
_COLUMNS = f"debt.id, debt.ref_id, debt.due_on, {_SINCE}, debt.amount, debt.open"
_DEBTS = f"FROM ({unpaid('%s', '%s')}) debt ORDER BY debt.due_on, debt.id"


class Age(models.TextChoices):
    """The time for which a debt has been due."""

    NOT_DUE = "not_due", _("Not due")
    WEEK = "week", _("1–7 days")
    MONTH = "month", _("8–30 days")
    OLDER = "older", _("Over 30 days")


@dataclass(frozen=True)
class Debt:
    """A debt that is not, or not fully, paid: `open` rupiah of `amount`. `ref_id`: its order, if it is a sale.

    `since`: the moment of the sale or of the first entry. Later entries move the debt, or change its price.
    """

    entry: int
    ref_id: str
    due_on: dt.date
    since: dt.datetime
    amount: int
    open: int


def age_of(due_on: dt.date) -> Age:
    """The age of a debt that is due on this day."""
    days = (timezone.localdate() - due_on).days
    if days <= 0:
        return Age.NOT_DUE
    return Age.WEEK if days <= 7 else Age.MONTH if days <= 30 else Age.OLDER


def debts_of(account: CreditAccount) -> list[Debt]:
    """The account's debts that are not paid, oldest due first."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_COLUMNS} {_DEBTS}", _values(account))
        return [Debt(*row) for row in cursor.fetchall()]


def debts_and_unfulfilled(account: CreditAccount) -> tuple[list[Debt], set[str]]:
    """The debts of `debts_of`, and the ref_ids of those whose orders ended without success, by one query."""
    ended = "EXISTS (SELECT FROM drawers_payment paid WHERE paid.debt_id = debt.id AND paid.outcome = 'owed')"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_COLUMNS}, {ended} {_DEBTS}", _values(account))
        rows = cursor.fetchall()
    return [Debt(*row[:-1]) for row in rows], {row[1] for row in rows if row[-1]}


def _values(account: CreditAccount) -> list[int]:
    # In the order of the SQL of `unpaid`: the account twice, then the owed sum three times.
    return [account.pk, account.pk, account.balance, account.balance, account.balance]


def aged(accounts: Collection[int]) -> dict[int, dict[str, int]]:
    """The debts of these accounts: account → age → rupiah."""
    ages = {pk: dict.fromkeys(Age.values, 0) for pk in accounts}
    with connection.cursor() as cursor:
        cursor.execute(_BY_AGE, [list(accounts)])
        for pk, due_on, amount in cursor.fetchall():
            ages[pk][age_of(due_on)] += amount
    return ages


def owing_in(branch: int, *, with_shop: bool = False) -> Func:
    """The condition that an account owes for a sale of this branch; `with_shop`: or for a debt of no branch."""
    template = f"{_OWES_FOR} (sale.branch_id = account.branch {'OR sale.id IS NULL' if with_shop else ''}))"
    return Func("pk", "balance", "oldest_due", Value(branch), template=template, output_field=models.BooleanField())


def owed_in_all(accounts: QuerySet[CreditAccount] | None = None) -> tuple[int, int]:
    """Rupiah that all customers, or those of these accounts, owe together, and the number of debtors."""
    accounts = CreditAccount.objects.all() if accounts is None else accounts
    owing = accounts.filter(balance__gt=0).aggregate(sum=Sum("balance"), count=Count("pk"))
    return int(owing["sum"] or 0), int(owing["count"])


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
        """The code for pages and tests: "less" (only less debt), "part" (a part is kept) or "kept" (all is kept)."""
        return "less" if not self.kept else "part" if self.less else "kept"


def unfulfilled_sales(account: CreditAccount) -> dict[str, int]:
    """The sales on this account whose orders ended without success: ref_id → rupiah."""
    return dict(_not_fulfilled([account.pk]).values_list("ref_id", "amount"))


def not_to_ask_for(accounts: Collection[int]) -> dict[int, int]:
    """Rupiah that these accounts owe for orders that ended without success; only the accounts that have some."""
    sums = _not_fulfilled(accounts).order_by().values("account").annotate(sum=Sum("amount"))
    return {
        pk: int(min(balance, total))
        for pk, balance, total in sums.values_list("account", "account__balance", "sum")
        if balance > 0
    }


def _not_fulfilled(accounts: Collection[int]) -> QuerySet[CreditEntry]:
    """The debts whose orders ended without success; each debt's payment knows the outcome."""
    return CreditEntry.objects.filter(account__in=accounts, payment__outcome="owed")


def still_owed(account: CreditAccount, debts: list[Debt], unfulfilled: Mapping[str, int]) -> list[Debt]:
    """The debts of the account, oldest due first, after `unfulfilled` is taken off it."""
    left = account.balance - sum(unfulfilled.values())
    remaining = []
    for debt in reversed(debts):
        if left > 0 and debt.ref_id not in unfulfilled:
            remaining.append(replace(debt, open=min(debt.amount, left)))
            left -= debt.amount
    return remaining[::-1]
