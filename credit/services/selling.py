"""Sales on credit. What an order is worth to the shop's customer is on the account in the order's own transaction.

Lock order: the bill's check, an order, a shift, the account, the books. Of a new order the account comes first: nobody
else can hold an order that is not stored yet.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from core.transactions import TRANSACTION_NUMBER
from credit.errors import CreditRefused, OtherAccount, OverCap, Overdue
from credit.models import CreditAccount, CreditEntry
from credit.services.locking import due_day, enter, lock_account, lock_account_of, name_of, refuse_unless_may
from purchases.models import Order, OrderEvent
from purchases.services import lock_order_for_move
from purchases.states import UNFULFILLED

if TYPE_CHECKING:
    from customers.models import Customer
    from staff.models import User

SALE, REFUND = CreditEntry.Kind.SALE, CreditEntry.Kind.REFUND


def sell_on_credit(customer: Customer, *, amount: int, key: str, place: Callable[[], Order], actor: User) -> Order:
    """Place an order and put what it sells for on the customer's account, both or nothing; return the order.

    `amount`: whole rupiah, the selling price that the customer confirmed. `key`: the order's idempotency key; the same
    again gives the same order, once on the account; refused if it was paid otherwise, also by somebody who was faster
    just now. `place`: stores the order, such as `place_order` with its facts. Raises `NoAccount`, `Overdue` or
    `OverCap` before it is called, `CreditRefused`, and what it raises. Of a bill lock the check before
    (`lock_check_for_payment`).
    """
    with transaction.atomic():
        refuse_unless_may(actor)
        account = lock_account_of(customer)
        before = Order.objects.filter(idempotency_key=key).first()
        if before is None:
            refuse_unless_sold_to(account, amount)
        else:
            _refuse_unless_on(account, before)
        order = place()
        if before is None and _is_stored_here(order):
            _sell(account, order, actor)
        else:
            _refuse_unless_on(account, order)
        return order


def _is_stored_here(order: Order) -> bool:
    """Whether this transaction has stored it, and not somebody who was faster with the same key."""
    return OrderEvent.objects.filter(order=order, txid=TRANSACTION_NUMBER).exists()


def _refuse_unless_on(account: CreditAccount, order: Order) -> None:
    sale = standing_sale(order.ref_id)
    if sale is None:
        raise CreditRefused("placed_before")
    if sale.account_id != account.pk:
        raise CreditRefused("on_credit")


def put_on_credit(order: Order, *, customer: Customer, actor: User) -> CreditEntry:
    """Put an order that was placed before, and is on no account, on this customer's; return the sale.

    Raises `NoAccount`, `Overdue`, `OverCap`, or `CreditRefused` for an order that has ended without success.
    """
    with transaction.atomic():
        refuse_unless_may(actor)
        current = lock_order_for_move(order.pk)
        if current.status in UNFULFILLED:
            raise CreditRefused("ended")
        account = lock_account_of(customer)
        if standing_sale(current.ref_id):
            raise CreditRefused("on_credit")
        refuse_unless_sold_to(account, current.customer_pays)
        return _sell(account, current, actor)


def lock_both_accounts(order: Order, customer: Customer | None) -> None:
    """Lock the account that a locked order is on, and that of `customer`, until the transaction ends.

    By their keys: where two orders swap their customers, one waits for the other.
    """
    sales = CreditEntry.objects.current().filter(ref_id=order.ref_id, ref_id__gt="", kind=SALE)
    ours = Q(pk__in=sales.values("account"))
    if customer:
        ours |= Q(customer=customer.pk)
    list(CreditAccount.objects.filter(ours).order_by("pk").select_for_update(no_key=True).values_list("pk"))


def take_off_credit(order: Order, *, actor: User) -> CreditEntry | None:
    """Undo the sale of an order that was paid otherwise after all; None where it is on no account."""
    with transaction.atomic():
        sale = _locked_sale(order.ref_id)
        return enter(sale.account, SALE, -sale.amount, actor=actor, ref_id=sale.ref_id, undoes=sale) if sale else None


def give_back_credit(order: Order, *, actor: User, customer: Customer | None = None, reason: str = "") -> CreditEntry:
    """Take the price of an order that ended without success off the account that it was sold on; return the entry.

    An order that was paid otherwise lowers what `customer` owes, or is kept for later sales. Once an order, whoever
    asks, and however often. Raises `CreditRefused`, `OtherAccount` where it is on another account than that of
    `customer`, or `NoAccount`.
    """
    with transaction.atomic():
        current = lock_order_for_move(order.pk)
        if current.status not in UNFULFILLED:
            raise CreditRefused("not_owed")
        sale = _locked_sale(current.ref_id)
        account = sale.account if sale else None
        if account and account.customer_id is None:
            raise CreditRefused("nobodys")
        if account and customer and account.customer_id != customer.pk:
            raise OtherAccount(name_of(account))
        if account is None:
            if is_given_back_on_credit(current.ref_id):
                raise CreditRefused("given_back")
            if customer is None:
                raise CreditRefused("not_on_credit")
            account = lock_account_of(customer)
        # With the account's lock, the database has the last word: one refund an order.
        if is_given_back_on_credit(current.ref_id):
            raise CreditRefused("given_back")
        amount = sale.amount if sale else current.customer_pays
        facts = {"ref_id": current.ref_id, "reason": reason.strip()[:500], "undoes": sale}
        return enter(account, REFUND, -amount, actor=actor, **facts)


def follow_price(order: Order, selling_price: int, actor: User | None) -> None:
    """Of a locked order that sells for `selling_price` rupiah from now on: so it does on the account. Raises `OverCap`.

    `settings.PRICE_FOLLOWERS` names it; it takes the account's lock.
    """
    sale = _locked_sale(order.ref_id)
    if sale is None or sale.amount == selling_price:
        return
    account = sale.account
    if selling_price > sale.amount:
        _refuse_over_cap(account, selling_price - sale.amount)
    person = actor or sale.person
    enter(account, SALE, -sale.amount, actor=person, ref_id=sale.ref_id, undoes=sale)
    enter(account, SALE, selling_price, actor=person, ref_id=sale.ref_id, due_on=sale.due_on, replaces=sale)


def refuse_while_on_credit(order: Order) -> None:
    """Raise `CreditRefused` while a locked order is on a customer's account: a note alone would leave the debt there.

    `settings.GIVEN_BACK_CHECKS` names it. The account of a deleted customer is paid and stays as it is.
    """
    sale = standing_sale(order.ref_id)
    if sale and sale.account.customer_id:
        raise CreditRefused("still_owed")


def standing_sale(ref_id: str) -> CreditEntry | None:
    """The entry by which an order is on a customer's account; None for an order that is on none."""
    sales = CreditEntry.objects.current().filter(ref_id=ref_id, ref_id__gt="", kind=SALE)
    return sales.select_related("account__customer", "person").first()


def is_given_back_on_credit(ref_id: str) -> bool:
    """Whether the price of this order was taken off an account because it ended without success."""
    return CreditEntry.objects.filter(ref_id=ref_id, ref_id__gt="", kind=REFUND).exists()


def sold_on_credit(ref_ids: Collection[str]) -> dict[str, str]:
    """Of these orders those that were sold on credit, also if that was given back since: ref_id → customer's name."""
    sales = CreditEntry.objects.filter(ref_id__in=ref_ids, ref_id__gt="", kind=SALE, undoes=None)
    found = sales.exclude(undone_by__kind=SALE).select_related("account__customer")
    return {sale.ref_id: name_of(sale.account) for sale in found}


def refuse_unless_sold_in_all(customer: Customer, *, amount: int, actor: User) -> None:
    """Raise what `sell_on_credit` raises unless `amount` rupiah more may be sold to this customer, now.

    For several orders together, before the first of them is placed; each is asked for again as it is placed.
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


def _sell(account: CreditAccount, order: Order, actor: User) -> CreditEntry:
    amount = order.customer_pays
    _refuse_over_cap(account, amount)
    former = CreditEntry.objects.filter(ref_id=order.ref_id, kind=SALE, undoes=None, replaced_by=None)
    facts = {"ref_id": order.ref_id, "due_on": due_day(account), "replaces": former.first()}
    return enter(account, SALE, amount, actor=actor, **facts)


def _locked_sale(ref_id: str) -> CreditEntry | None:
    """The standing sale with its account locked, as it is under the lock."""
    sale = standing_sale(ref_id)
    if sale is None:
        return None
    account = lock_account(sale.account_id)
    sale = standing_sale(ref_id)
    if sale is not None:
        sale.account = account
    return sale
