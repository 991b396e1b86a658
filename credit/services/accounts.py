"""Give a customer credit, and change its cap and due date: people who manage credit do it, and each change is noted."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from django.db import transaction

from audit.services import record
from core.rights import Right
from credit.errors import CreditRefused
from credit.events import CREDIT_CHANGED
from credit.models import CreditAccount, CreditEntry
from credit.services.locking import due_day, enter, entered_before, lock_account

if TYPE_CHECKING:
    from uuid import UUID

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
    """Let the customer owe up to `cap` rupiah, due so many days after a sale, or on a day; also when it was otherwise.

    A cap of 0 ends it: nothing more is sold on credit, and what is owed stays. Raises `CreditRefused`.
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
    """Enter `amount` rupiah that the customer owed before this account began, such as by a book.

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
        return enter(current, kind, amount, actor=actor, due_on=due_day(current), reason=reason_text, token=token)


def _terms(account: CreditAccount) -> dict[str, Any]:
    due_on = account.due_on.isoformat() if account.due_on else None
    return {"cap": account.cap, "due_days": account.due_days, "due_on": due_on}
