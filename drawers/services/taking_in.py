"""Restores the payment of an order that was sold before this database was restored, from the journal of sent orders."""

import datetime as dt
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import DatabaseError, transaction

from branches.models import Branch
from branches.services import keep_first_open
from core.bulk import insert_row
from core.errors import Refused
from credit import services as credit
from credit.methods import find_method
from credit.models import CreditEntry
from customers.models import Customer
from customers.services import who_saved
from drawers.models import Payment, Shift
from staff.models import User


def take_in_payment(
    ref_id: str, *, destination: str, seller: User | None, at: dt.datetime, sold: Mapping[str, Any]
) -> tuple[Payment, list[str]]:
    """Store the payment of the order with this ref_id, in the order's transaction; return it, and its missing parts.

    `sold`: the facts of the sale; a row's key counts only if the row is older than the sale. The "shift" and the
    "debtor" may be missing: then the payment is in no shift, or on no account.
    """
    row, lacks = find_method(sold["method"]), []
    is_cash = bool(row and row.counts_as_cash)
    shift = _shift(sold["shift"], seller=seller, at=at)
    if sold["shift"] and shift is None:
        lacks.append("shift")
    debt, branch = None, _branch(sold["branch"], seller=seller)
    if row and row.needs_debtor:
        customer, amount = sold["customer"], sold["amount"]
        debt = _debt(ref_id, customer=customer, amount=amount, branch=branch, seller=seller, at=at)
        if debt is None:
            lacks.append("debtor")
    is_open = shift is not None and shift.closed_at is None
    payment = Payment(
        ref_id=ref_id,
        seller=seller,
        branch_id=branch,
        at=at,
        method=sold["method"],
        is_cash=is_cash,
        amount=sold["amount"],
        cash_given=sold["cash_given"] if is_cash else None,
        reference=sold["reference"],
        # A line of an older version does not say it.
        paid_at_once=UUID(shared) if (shared := sold.get("paid_at_once")) else None,
        debt=debt,
        buyer=sold["customer"] if debt else who_saved(destination, before=at),
        sold_in=shift if is_open else None,
        agreed_in=None if is_open else shift,
    )
    insert_row(payment)
    return payment, lacks


def _shift(key: int | None, *, seller: User | None, at: dt.datetime) -> Shift | None:
    """The seller's shift of the sale: an open one takes it, a closed one leaves it for the seller's next shift."""
    if key is None or seller is None:
        return None
    own = Shift.objects.filter(pk=key, cashier=seller, opened_at__lte=at)
    return own.select_for_update(no_key=True).first()


def _debt(
    ref_id: str, *, customer: int | None, amount: int, branch: int, seller: User | None, at: dt.datetime
) -> CreditEntry | None:
    debtor = Customer.objects.filter(pk=customer, created_at__lte=at).first() if customer else None
    if debtor is None or seller is None:
        return None
    try:
        with transaction.atomic():
            return credit.put_on_credit(debtor, ref_id=ref_id, amount=amount, actor=seller, branch=branch, is_sold=True)
    except (Refused, DatabaseError):  # without an account, or above its cap in this database
        return None


def _branch(key: int, *, seller: User | None) -> int:
    if Branch.objects.filter(pk=key).exists():
        return key
    return seller.sells_in if seller else keep_first_open()
