"""Merges two customers who are one person: their debts decide which row stays, and payments follow."""

from django.db import transaction

from audit.services import record
from credit.errors import CreditRefused
from credit.events import CREDIT_MOVED
from credit.models import CreditAccount, CreditEntry
from credit.services import debts_of
from credit.services.accounts import enter
from customers.models import Customer
from customers.services import absorb
from customers.services.agreed import lock_agreed
from drawers.models import Outcome, Payment
from staff.models import User

_MOVED = CreditEntry.Kind.MOVED


def merge_customers(one: Customer, other: Customer, *, name: str, note: str, actor: User) -> Customer:
    """Make one customer of both, with this name and note; return the row that stays.

    The customer with money on the account stays; if both have money, it moves to the account of `one`. Raises
    `CreditRefused` if a sale happens at the same moment, and `Customer.DoesNotExist`.
    """
    with transaction.atomic():
        # `no_key`: a sale that is being committed refers to these keys, and holds an account that is locked next.
        both = Customer.objects.filter(pk__in=[one.pk, other.pk]).order_by("pk")
        rows = both.select_for_update(no_key=True).in_bulk()
        if len(rows) < 2:
            raise Customer.DoesNotExist
        lock_agreed(rows)  # a worker that places the next of these sales holds it, and waits for the account
        payments = _lock_payments([one.pk, other.pk])
        # No sale to either happens meanwhile: a sale on credit waits for the account, and finds it without a customer.
        locked = CreditAccount.objects.filter(customer__in=rows).order_by("pk").select_for_update(no_key=True)
        accounts = {account.customer_id: account for account in locked}
        worth = {pk: 1 + bool(account.balance) for pk, account in accounts.items()}
        gone, kept = sorted([other.pk, one.pk], key=lambda pk: worth.get(pk, 0))
        if gone in accounts:
            _move(accounts[gone], accounts[kept], payments, actor=actor)
        absorb(rows[kept], rows[gone], name=name, note=note, actor=actor)
    return rows[kept]


def _unsettled(account: CreditAccount) -> list[int]:
    """The sales on this account whose orders are open, or ended without success: their price may still come off it."""
    sales = CreditEntry.objects.filter(account=account, payment__outcome__in=[Outcome.OPEN, Outcome.OWED])
    return list(sales.values_list("pk", flat=True))


def _to_move(account: CreditAccount) -> set[int]:
    return {*_unsettled(account), *(debt.entry for debt in debts_of(account) if account.balance > 0)}


def _lock_payments(customers: list[int]) -> dict[int | None, Payment]:
    """The payments of the debts that may move, locked before the accounts: entry → payment."""
    debts = set[int]().union(*map(_to_move, CreditAccount.objects.filter(customer__in=customers)))
    locked = Payment.objects.filter(debt__in=debts).order_by("pk").select_for_update(no_key=True)
    return {payment.debt_id: payment for payment in locked}


def _move(leaving: CreditAccount, staying: CreditAccount, payments: dict[int | None, Payment], *, actor: User) -> None:
    """Move the entries of one locked account to the other: each debt as a whole, with its order, then the payments.

    A paid sale whose order may still fail moves, too: its price would come off the account.
    """
    was, keys = leaving.balance, _to_move(leaving)
    if not (was or keys):
        return
    debts = CreditEntry.objects.filter(pk__in=keys).order_by("due_on", "pk")
    for debt in debts:
        enter(leaving, _MOVED, -debt.amount, actor=actor, ref_id=debt.ref_id, undoes=debt)
        moved = enter(staying, _MOVED, debt.amount, actor=actor, ref_id=debt.ref_id, due_on=debt.due_on, replaces=debt)
        if payment := payments.get(debt.pk):
            payment.debt = moved
            payment.save(update_fields=["debt"])
        elif Payment.objects.filter(debt=debt).exists():
            raise CreditRefused("sold_meanwhile")
    if paid := -leaving.balance:
        former = enter(leaving, _MOVED, paid, actor=actor)
        enter(staying, _MOVED, -paid, actor=actor, replaces=former)
    facts = {"amount": was, "merged": leaving.customer_id}
    record(CREDIT_MOVED, actor=actor, subject=f"customer {staying.customer_id}", facts=facts)
