"""How old what customers owe is. It follows from the debts that are not paid, and from nothing of the time before."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass

from django.db import connection, models
from django.db.models import Count, Sum
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from credit.models import CreditAccount, unpaid


class Age(models.TextChoices):
    """How long a debt has been due."""

    NOT_DUE = "not_due", _("Not due")
    WEEK = "week", _("1–7 days")
    MONTH = "month", _("8–30 days")
    OLDER = "older", _("Over 30 days")


@dataclass(frozen=True)
class Debt:
    """A debt that is not paid, or not wholly: `open` rupiah of `amount`. `ref_id`: its order, if it is a sale."""

    entry: int
    ref_id: str
    due_on: dt.date
    at: dt.datetime
    amount: int
    open: int


def age_of(due_on: dt.date) -> Age:
    """How long what was due on this day has been due."""
    days = (timezone.localdate() - due_on).days
    if days <= 0:
        return Age.NOT_DUE
    return Age.WEEK if days <= 7 else Age.MONTH if days <= 30 else Age.OLDER


def debts_of(account: CreditAccount) -> list[Debt]:
    """The account's debts that are not paid, oldest due first."""
    with connection.cursor() as cursor:
        cursor.execute(f"{unpaid('%s', '%s')} ORDER BY due_on, id", _values(account))
        return [Debt(*row) for row in cursor.fetchall()]


def _values(account: CreditAccount) -> list[int]:
    # In the order of `unpaid`: the first debt, the older ones, and as often as it names what is owed.
    return [account.pk, account.pk, account.balance, account.balance, account.balance]


_BY_AGE = f"""
    SELECT account.id, debt.due_on, sum(debt.open)::bigint FROM credit_creditaccount account
     CROSS JOIN LATERAL ({unpaid("account.id", "account.balance")}) debt
     WHERE account.id = ANY(%s) AND account.balance > 0 GROUP BY 1, 2
"""  # noqa: S608 - our own text


def aged(accounts: Collection[int]) -> dict[int, dict[str, int]]:
    """The debts of these accounts: account → age → rupiah."""
    ages = {pk: dict.fromkeys(Age.values, 0) for pk in accounts}
    with connection.cursor() as cursor:
        cursor.execute(_BY_AGE, [list(accounts)])
        for pk, due_on, amount in cursor.fetchall():
            ages[pk][age_of(due_on)] += amount
    return ages


def owed_in_all() -> tuple[int, int]:
    """Rupiah that all customers owe together, and how many of them."""
    owing = CreditAccount.objects.filter(balance__gt=0).aggregate(sum=Sum("balance"), count=Count("pk"))
    return int(owing["sum"] or 0), int(owing["count"])
