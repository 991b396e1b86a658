"""An account's lock, which every service holds that adds an entry: after the order's and the shift's, before the books.

In the same way every entry is made here.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from django.db import connection
from django.db.transaction import TransactionManagementError
from django.utils import timezone

from core import clock
from core.rights import Right
from credit.errors import CreditRefused, NoAccount
from credit.models import CreditAccount, CreditEntry

if TYPE_CHECKING:
    from uuid import UUID

    from customers.models import Customer
    from staff.models import User


def lock_account(pk: int) -> CreditAccount:
    """The account, locked until the transaction ends."""
    if not connection.in_atomic_block:
        raise TransactionManagementError("a lock lasts no longer than its transaction")
    accounts = CreditAccount.objects.select_for_update(no_key=True, of=("self",)).select_related("customer")
    return accounts.get(pk=pk)


def lock_account_of(customer: Customer) -> CreditAccount:
    """This customer's account, locked until the transaction ends. Raises `NoAccount`."""
    pk = CreditAccount.objects.filter(customer=customer.pk).values_list("pk", flat=True).first()
    account = lock_account(pk) if pk else None
    if account is None or account.customer is None:
        raise NoAccount(customer.name)
    return account


def refuse_unless_may(actor: User) -> None:
    """Raise `CreditRefused` unless this person may sell on credit and take payments."""
    if not actor.has_perm(Right.USE_CREDIT):
        raise CreditRefused("may_not")


def name_of(account: CreditAccount) -> str:
    """The customer's name, as it is now; a dash where the customer was deleted."""
    return account.customer.name if account.customer else "–"


def due_day(account: CreditAccount) -> dt.date:
    """When a sale of today is due."""
    today = timezone.localdate()
    if account.due_on and account.due_on >= today:
        return account.due_on
    return today + dt.timedelta(days=account.due_days)


def entered_before(account: CreditAccount, token: UUID | None, *, actor: User, **facts: Any) -> CreditEntry | None:
    """The entry of the locked account that this form has made before; None for a form that has made none.

    `facts`: its present values. Raises `CreditRefused` when it said something else then, or what it entered was undone.
    """
    before = CreditEntry.objects.filter(token=token).select_related("undone_by").first() if token else None
    if before is None:
        return None
    same = {"account_id": account.pk, "person_id": actor.pk, **facts}
    if hasattr(before, "undone_by") or any(getattr(before, name) != value for name, value in same.items()):
        raise CreditRefused("form_used")
    before.account = account
    return before


def enter(account: CreditAccount, kind: CreditEntry.Kind, amount: int, *, actor: User, **facts: Any) -> CreditEntry:
    """Add an entry of `amount` rupiah (signed) to the locked account. The database moves its balance with it."""
    entry = CreditEntry.objects.create(
        account=account,
        kind=kind,
        amount=amount,
        balance_after=account.balance + amount,
        person_id=actor.pk,
        at=clock.now(),
        **facts,
    )
    account.balance = entry.balance_after
    return entry
