"""Customers' accounts: the lock and the entries; gives credit, and changes its cap and due date.

Every service that adds an entry holds the lock: after the order's and the shift's, before the books. People who manage
credit change its terms, and each change is noted.
"""

import datetime as dt
from typing import Any
from uuid import UUID

from django.db import connection, transaction
from django.db.transaction import TransactionManagementError
from django.utils import timezone

from audit.services import record
from core import clock
from core.rights import Right
from credit.errors import CreditRefused, NoAccount
from credit.events import CREDIT_CHANGED
from credit.models import CreditAccount, CreditEntry
from customers.models import Customer
from staff.models import User


def set_credit(
    customer: Customer,
    *,
    cap: int,
    due_days: int,
    due_on: dt.date | None = None,
    actor: User,
) -> CreditAccount:
    """Let the customer owe up to `cap` rupiah, due `due_days` after a sale or on the day `due_on`; also changes these.

    A cap of 0 ends the credit: nothing more is sold on credit, and the debts stay. Raises `CreditRefused`.
    """
    if not actor.has_perm(Right.MANAGE_CREDIT):
        raise CreditRefused("no_right")
    terms = {"cap": cap, "due_days": due_days, "due_on": due_on}
    with transaction.atomic():
        account, is_new = CreditAccount.objects.get_or_create(customer=customer, defaults=terms)
        before: dict[str, Any] | None = None
        if not is_new:
            account = lock_account(account.pk)
            before = _terms(account)
            for name, value in terms.items():
                setattr(account, name, value)
            account.save(update_fields=list(terms))
        if before != _terms(account):
            subject = f"customer {customer.pk}"
            facts = {"before": before, "after": _terms(account)}
            record(CREDIT_CHANGED, actor=actor, subject=subject, **facts)
        return account


def bring_forward(
    account: CreditAccount, *, amount: int, reason: str, actor: User, token: UUID | None = None
) -> CreditEntry:
    """Enter a debt of `amount` rupiah from before this account began, such as from a notebook.

    It is not a sale, so it may pass the cap. `token`: one per rendered form; the same again gives the same entry.
    Raises `CreditRefused`.
    """
    if not actor.has_perm(Right.MANAGE_CREDIT):
        raise CreditRefused("no_right")
    if not reason.strip():
        raise CreditRefused("no_reason")
    with transaction.atomic():
        current = lock_account(account.pk)
        kind, reason_text = CreditEntry.Kind.BROUGHT, reason.strip()[:500]
        if before := entered_before(current, token, actor=actor, kind=kind, amount=amount, reason=reason_text):
            return before
        if current.customer_id is None:
            raise CreditRefused("gone_meanwhile")
        return enter(current, kind, amount, actor=actor, due_on=due_day(current), reason=reason_text, token=token)


def _terms(account: CreditAccount) -> dict[str, Any]:
    due_on = account.due_on.isoformat() if account.due_on else None
    return {"cap": account.cap, "due_days": account.due_days, "due_on": due_on}


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
    """The customer's name, as it is now; a dash if the customer was deleted."""
    return account.customer.name if account.customer else "–"


def due_day(account: CreditAccount) -> dt.date:
    """The day on which a sale of today is due."""
    today = timezone.localdate()
    if account.due_on and account.due_on >= today:
        return account.due_on
    return today + dt.timedelta(days=account.due_days)


def entered_before(account: CreditAccount, token: UUID | None, *, actor: User, **facts: Any) -> CreditEntry | None:
    """The entry that this form has already made in the locked account; None for a new form.

    `facts`: its present values. Raises `CreditRefused` if they were different then, or the entry was undone.
    """
    before = CreditEntry.objects.filter(token=token).select_related("undone_by").first() if token else None
    if before is None:
        return None
    same = {"account_id": account.pk, "person_id": actor.pk, **facts}
    if hasattr(before, "undone_by") or any(getattr(before, name) != value for name, value in same.items()):
        raise CreditRefused("form_used")
    before.account = account
    return before


def enter(
    account: CreditAccount,
    kind: CreditEntry.Kind,
    amount: int,
    *,
    actor: User,
    branch: int | None = None,
    **facts: Any,
) -> CreditEntry:
    """Add an entry of `amount` rupiah (signed) to the locked account. The database moves its balance with it.

    `branch`: the key of the branch of its order or drawer; None: that of the entry that it undoes or replaces, else the
    branch where the actor sells.
    """
    if branch is None:
        former = facts.get("undoes") or facts.get("replaces")
        branch = former.branch_id if former else actor.sells_in
    entry = CreditEntry.objects.create(
        account=account,
        kind=kind,
        amount=amount,
        balance_after=account.balance + amount,
        person_id=actor.pk,
        branch_id=branch,
        at=clock.now(),
        **facts,
    )
    account.balance = entry.balance_after
    return entry
