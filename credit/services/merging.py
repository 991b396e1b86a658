"""Two customers who are one person become one. It lies here, because what they owe decides which of them stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from credit.errors import CreditRefused
from credit.models import CreditAccount
from customers.models import Customer
from customers.services import absorb

if TYPE_CHECKING:
    from staff.models import User


def merge_customers(one: Customer, other: Customer, *, name: str, note: str, actor: User) -> Customer:
    """Make one customer of both, with this name and note; return the row that stays.

    The one whose account has money on it stays, so no entry moves. Raises `CreditRefused` where both have some, and
    `Customer.DoesNotExist`.
    """
    with transaction.atomic():
        rows = Customer.objects.select_for_update().filter(pk__in=[one.pk, other.pk]).order_by("pk").in_bulk()
        if len(rows) < 2:
            raise Customer.DoesNotExist
        # Nobody sells to either meanwhile: a sale on credit waits for the account, and finds it without a customer.
        accounts = CreditAccount.objects.filter(customer__in=rows).order_by("pk").select_for_update(no_key=True)
        worth = {account.customer_id: 1 + (account.balance != 0) for account in accounts}
        gone, kept = sorted([other.pk, one.pk], key=lambda pk: worth.get(pk, 0))
        if worth.get(gone) == worth.get(kept) == 2:
            raise CreditRefused("both_owe")
        absorb(rows[kept], rows[gone], name=name, note=note, actor=actor)
    return rows[kept]
