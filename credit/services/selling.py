"""Sells on credit: the selling price goes on the customer's account, in the transaction that places the order.

Lock order: the bill's check, an order, its payment, a shift, the account, the books.
"""

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from credit.errors import CreditRefused, OtherAccount, OverCap, Overdue
from credit.models import CreditAccount, CreditEntry
from credit.services.accounts import due_day, enter, lock_account, lock_account_of, name_of, refuse_unless_may
from customers.models import Customer
from staff.models import User

SALE, REFUND = CreditEntry.Kind.SALE, CreditEntry.Kind.REFUND
# The ways in which an order's debt comes to an account: sold on it, or moved to it.
OF_SALES = (SALE, CreditEntry.Kind.MOVED)


def put_on_credit(
    customer: Customer, *, ref_id: str, amount: int, actor: User, branch: int, is_sold: bool = False
) -> CreditEntry:
    """Put the order with this ref_id, which sells for `amount` rupiah, on the customer's account; return the entry.

    `branch`: the key of the order's. `is_sold`: the sale is only entered again; then only the cap refuses it, no right
    and no overdue debt.
    Call it in the transaction that stores the payment. Raises `NoAccount`, `Overdue`, `OverCap` or `CreditRefused`.
    """
    if not is_sold:
        refuse_unless_may(actor)
    account = lock_account_of(customer)
    if not is_sold:
        refuse_unless_sold_to(account, amount)
    former = CreditEntry.objects.filter(ref_id=ref_id, kind__in=OF_SALES, undoes=None, replaced_by=None).first()
    due_on = due_day(account)
    return enter(account, SALE, amount, actor=actor, branch=branch, ref_id=ref_id, due_on=due_on, replaces=former)


def lock_both_accounts(debt: CreditEntry | None, customer: Customer | None) -> None:
    """Lock the account that `debt` is on, and that of `customer`, until the transaction ends.

    In the order of their keys: if two orders swap their customers, one waits for the other.
    """
    ours = Q(pk=debt.account_id) if debt else Q(pk__in=())
    if customer:
        ours |= Q(customer=customer.pk)
    list(CreditAccount.objects.filter(ours).order_by("pk").select_for_update(no_key=True).values_list("pk"))


def take_off_credit(debt: CreditEntry, *, actor: User) -> CreditEntry:
    """Undo the credit sale of an order that was paid in another way. Raises `CreditRefused` without a customer."""
    account = lock_account(debt.account_id)
    if account.customer_id is None:
        raise CreditRefused("account_gone")
    return enter(account, SALE, -debt.amount, actor=actor, ref_id=debt.ref_id, undoes=debt)


def give_back_credit(
    debt: CreditEntry | None,
    *,
    ref_id: str,
    amount: int,
    actor: User,
    branch: int,
    customer: Customer | None = None,
    reason: str = "",
) -> CreditEntry:
    """Take the price of an order that ended without success off the account that it was sold on; return the entry.

    `debt`: the sale on credit. If the order was paid in another way, `amount` rupiah lower what `customer` owes, or are
    kept for later sales. `branch`: the key of the order's. Raises `CreditRefused`, `OtherAccount` if the sale is not on
    the account of `customer`, or `NoAccount`.
    """
    facts = {"ref_id": ref_id, "reason": reason.strip()[:500], "undoes": debt}
    with transaction.atomic():
        if debt is None:
            if customer is None:
                raise CreditRefused("not_on_credit")
            return enter(lock_account_of(customer), REFUND, -amount, actor=actor, branch=branch, **facts)
        account = lock_account(debt.account_id)
        if account.customer_id is None:
            raise CreditRefused("nobodys")
        if customer and account.customer_id != customer.pk:
            raise OtherAccount(name_of(account))
        return enter(account, REFUND, -debt.amount, actor=actor, branch=branch, **facts)


def follow_price(debt: CreditEntry, amount: int, *, actor: User | None) -> CreditEntry:
    """Change the sale on the account to `amount` rupiah; return the new entry.

    Raises `OverCap`, and `CreditRefused` without a customer.
    """
    account, person = lock_account(debt.account_id), actor or debt.person
    if account.customer_id is None:
        raise CreditRefused("account_gone")
    if amount > debt.amount:
        _refuse_over_cap(account, amount - debt.amount)
    enter(account, SALE, -debt.amount, actor=person, ref_id=debt.ref_id, undoes=debt)
    return enter(account, SALE, amount, actor=person, ref_id=debt.ref_id, due_on=debt.due_on, replaces=debt)


def refuse_unless_sold_in_all(customer: Customer, *, amount: int, actor: User) -> None:
    """Raise the refusals of `put_on_credit` unless `amount` rupiah more may be sold to this customer now.

    It checks several orders together before the first is placed; each is checked again when it is placed.
    """
    refuse_unless_may(actor)
    with transaction.atomic():
        refuse_unless_sold_to(lock_account_of(customer), amount)


def refuse_unless_sold_to(account: CreditAccount, amount: int) -> None:
    """Raise `Overdue` or `OverCap` unless `amount` rupiah more may be sold on this account, now."""
    if account.oldest_due and account.oldest_due < timezone.localdate():
        raise Overdue(name_of(account), since=account.oldest_due)
    _refuse_over_cap(account, amount)


def _refuse_over_cap(account: CreditAccount, amount: int) -> None:
    if account.balance + amount > account.cap:
        raise OverCap(name_of(account), owed=account.balance, cap=account.cap, amount=amount)
