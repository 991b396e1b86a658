"""The payment of an order: stored with the order, changed until its shift closes, and ended with the order.

Lock order: the order, its payment, a shift, the account, the books.
"""

import datetime as dt
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.transaction import TransactionManagementError

from audit.services import record
from branches.services import keep_first_open
from core import clock
from core.bulk import insert_row
from credit import services as credit
from credit.errors import CreditRefused
from credit.methods import METHODS
from customers.models import Customer
from customers.services import who_saved
from drawers.errors import DrawerRefused
from drawers.events import PAYMENT_CORRECTED
from drawers.models import Outcome, Payment, Shift
from drawers.services.facts import PaymentFacts
from drawers.services.locking import lock_shift, refuse_unless_own
from staff.models import User

# Drawers are in use if somebody opened one within this many days before a sale. In that case a failed order was paid.
IN_USE_DAYS = 7
# The person's open shift, the branch of its drawer, and the same shift under the lock: empty if it was closed
# meanwhile.
_OPEN_SHIFT = """
    SELECT mine.id, (SELECT branch_id FROM drawers_drawer WHERE id = mine.drawer_id),
           (SELECT id FROM drawers_shift WHERE id = mine.id AND closed_at IS NULL FOR SHARE)
      FROM drawers_shift mine WHERE mine.cashier_id = %s AND mine.closed_at IS NULL
"""
_ON_CREDIT = ", ".join(f"'{method.code}'" for method in METHODS if method.needs_debtor)
# For a failed order: the customer has paid or owes it, if it is a sale of a drawer or on an account, if it had arrived
# before, or if a person sold it while drawers were in use. Otherwise nobody paid at a counter. Nobody has paid a sale
# on credit that is on no account, either (`Payment.is_on_no_account`).
_IS_OWED = f"""
    payment.outcome = 'kept' OR payment.debt_id IS NOT NULL OR (payment.method NOT IN ({_ON_CREDIT}) AND (
        payment.sold_in_id IS NOT NULL OR payment.agreed_in_id IS NOT NULL
        OR (payment.seller_id IS NOT NULL AND EXISTS (
            SELECT FROM drawers_shift s WHERE s.opened_at <= payment.at
               AND s.opened_at > payment.at - interval '{IN_USE_DAYS} days'))))
"""
# All payments are locked, by their keys, before the first shift: the condition counts them before any row is read.
_END = f"""
    WITH locked AS MATERIALIZED (
        SELECT id FROM drawers_payment WHERE id = ANY(%(keys)s::bigint[]) ORDER BY id FOR NO KEY UPDATE
    )
    UPDATE drawers_payment payment SET
           outcome = CASE
               WHEN ended.cost IS NOT NULL THEN 'kept'
               WHEN {_IS_OWED} THEN 'owed'
               ELSE 'nothing' END,
           cost = coalesce(ended.cost, payment.cost), ended_at = ended.at,
           ended_in_id = CASE WHEN payment.sold_in_id IS NOT NULL THEN (
               SELECT id FROM drawers_shift s WHERE s.cashier_id = payment.seller_id AND s.closed_at IS NULL FOR SHARE
           ) END
      FROM unnest(%(keys)s::bigint[], %(at)s::timestamptz[], %(costs)s::bigint[]) AS ended (id, at, cost)
     WHERE payment.id = ended.id AND (SELECT count(*) FROM locked) > 0
"""  # noqa: S608 - our own text
# A success that is reversed is "owed" also if it is on no account, and then no money goes back (`Payment.is_owed`).
_WILL_BE_OWED = f"""
    SELECT id FROM drawers_payment payment
     WHERE id = ANY(%s) AND ({_IS_OWED}) AND (payment.debt_id IS NOT NULL OR payment.method NOT IN ({_ON_CREDIT}))
"""  # noqa: S608 - our own text
# Rows that another transaction holds are left to the next shift: nothing may wait here, as the shift is locked.
_TAKE_IN = """
    UPDATE drawers_payment SET sold_in_id = coalesce(sold_in_id, %(shift)s),
           ended_in_id = CASE WHEN ended_at IS NOT NULL THEN %(shift)s END
     WHERE id IN (
        SELECT id FROM drawers_payment
         WHERE seller_id = %(seller)s AND (
            (sold_in_id IS NULL AND agreed_in_id IS NOT NULL)
            OR (sold_in_id IS NOT NULL AND ended_at IS NOT NULL AND ended_in_id IS NULL))
           FOR NO KEY UPDATE SKIP LOCKED
     )
"""


class Ending(NamedTuple):
    """The end of an order. `cost`: its cost in rupiah; None if nothing was delivered."""

    payment: int
    at: dt.datetime
    cost: int | None


def take_payment(ref_id: str, *, destination: str, amount: int, seller: User | None, facts: PaymentFacts) -> Payment:
    """Store the payment of the order with this ref_id, which sells for `amount` rupiah, in the order's transaction.

    It belongs to the seller's open shift, and to the branch of the facts, else of the drawer, else of the seller. If
    the shift that sold it has closed, it waits for the next one; if it was sold in no shift before, it stays in none. A
    sale on credit goes on the customer's account.
    Raises `PaymentUnclear` and `CreditRefused`.
    """
    row = facts.row
    given = facts.cash_given if row.counts_as_cash and (facts.cash_given or 0) >= amount else None
    facts.refuse_unless_clear(0)
    sold_in, agreed_in, branch = _where(seller, facts)
    debt = None
    if row.needs_debtor and facts.customer:
        if seller is None:
            raise CreditRefused("may_not")
        debt = credit.put_on_credit(facts.customer, ref_id=ref_id, amount=amount, actor=seller, branch=branch)
    payment = Payment(
        ref_id=ref_id,
        seller_id=seller.pk if seller else None,
        branch_id=branch,
        at=clock.now(),
        method=row.code,
        is_cash=row.counts_as_cash,
        amount=amount,
        cash_given=given,
        reference=facts.reference.strip()[:60] if row.keeps_reference else "",
        paid_at_once=facts.paid_at_once,
        debt=debt,
        buyer=facts.customer.pk if debt and facts.customer else who_saved(destination),
        sold_in_id=sold_in,
        agreed_in_id=agreed_in,
    )
    insert_row(payment)
    return payment


def _where(seller: User | None, facts: PaymentFacts) -> tuple[int | None, int | None, int]:
    """The shift that takes the sale, the earlier shift that sold it (both may be empty), and the branch."""
    if seller is None:
        return None, None, facts.branch or keep_first_open()
    if facts.is_agreed and facts.agreed_in is None:
        return None, None, facts.branch or seller.sells_in
    with connection.cursor() as cursor:
        cursor.execute(_OPEN_SHIFT, [seller.pk])
        seen, branch, locked = cursor.fetchone() or (None, None, None)
    agreed = facts.agreed_in or seen
    facts.refuse_unless_in(agreed)
    if agreed != seen and not facts.branch:
        branch = branch_of_sale(seller, agreed)
    return locked, agreed if agreed != locked else None, facts.branch or branch or seller.sells_in


def branch_of_sale(seller: User, agreed_in: int | None) -> int:
    """The key of the branch of a sale that was agreed in this shift; without a shift, of the seller's branch."""
    if agreed_in is None:
        return seller.sells_in
    return Shift.objects.values_list("drawer__branch", flat=True).get(pk=agreed_in)


def note_change(payment: Payment, change: int) -> None:
    """Note that the customer got `change` rupiah back from the cash given for this payment and others.

    Nothing is noted if the customer has paid in another way meanwhile, the price has moved or the shift has closed.
    """
    with transaction.atomic():
        current = lock_payment(payment.pk)
        is_changing = current.sold_in_id is None or _is_open(current.sold_in_id)
        if is_changing and current.cash_given is not None:
            current.cash_given = current.amount + change
            current.save(update_fields=["cash_given"])


def refuse_other_debtor(payment: Payment, facts: PaymentFacts) -> None:
    """Raise `CreditRefused` if a sale that was placed before is not on the account of these facts."""
    if not facts.row.needs_debtor:
        return
    if payment.debt is None:
        raise CreditRefused("placed_before")
    if facts.customer is None or payment.debt.account.customer_id != facts.customer.pk:
        raise CreditRefused("on_credit")


def is_other_way(payment: Payment, facts: PaymentFacts) -> bool:
    """Whether a sale that was placed before is paid in another way than by these facts."""
    return payment.method != facts.row.code


def end_payments(endings: Collection[Ending]) -> None:
    """End the payments of these orders, in the transaction that ends the orders; the orders are locked."""
    if endings:
        with connection.cursor() as cursor:
            columns = map(list, zip(*endings, strict=True))
            cursor.execute(_END, dict(zip(("keys", "at", "costs"), columns, strict=True)))


def will_be_owed(payments: Iterable[Payment]) -> set[int]:
    """The keys of those of these payments that the shop has to give back if their orders end now without success."""
    keys = [payment.pk for payment in payments]
    if not keys:
        return set()
    with connection.cursor() as cursor:
        cursor.execute(_WILL_BE_OWED, [keys])
        return {key for (key,) in cursor.fetchall()}


def take_in(shift: Shift) -> None:
    """Give this locked shift the payments that wait for its person's next shift: approved sales and late endings."""
    with connection.cursor() as cursor:
        cursor.execute(_TAKE_IN, {"shift": shift.pk, "seller": shift.cashier_id})


def lock_payment(pk: int) -> Payment:
    """The payment, locked until the transaction ends, with its debt."""
    if not connection.in_atomic_block:
        raise TransactionManagementError("a lock lasts no longer than its transaction")
    Payment.objects.select_for_update(no_key=True).only("pk").get(pk=pk)
    # A second query: a join in the query that waits for the lock would miss a debt that moved meanwhile.
    return Payment.objects.select_related("debt__account__customer", "debt__person", "sold_in__drawer").get(pk=pk)


def change_payment(
    payment: Payment,
    *,
    method: str,
    actor: User,
    cash_given: int | None = None,
    customer: Customer | None = None,
    reference: str = "",
) -> Payment:
    """Note that the customer paid in another way; return the changed payment.

    `cash_given`: rupiah, at least the amount. `customer`: the debtor; the sale comes on that account, or off it, in the
    same transaction. An audit event names the person and keeps both ways. Raises `DrawerRefused`, also if the shift of
    the sale is closed or the order ended unsuccessfully, `PaymentUnclear` and `CreditRefused`.
    """
    facts = PaymentFacts(method=method, customer=customer, reference=reference)
    row = facts.row
    debtor = customer if row.needs_debtor else None
    given = cash_given if row.counts_as_cash else None
    if row.needs_debtor and debtor is None:
        raise DrawerRefused("no_customer")
    facts.refuse_unless_clear(0)
    with transaction.atomic():
        current = lock_payment(payment.pk)
        if current.is_given:
            raise DrawerRefused("given_back")
        if current.outcome not in {Outcome.OPEN, Outcome.KEPT}:
            raise DrawerRefused("ended")
        _refuse_unless_own_open(current, actor)
        if given is not None and given < current.amount:
            raise DrawerRefused("cash_short")
        owes = current.debt.account.customer if current.debt else None
        slip = reference.strip()[:60] if row.keeps_reference else ""
        if (row.code, given, slip, debtor) == (current.method, current.cash_given, current.reference, owes):
            return current
        before = _as_paid(current)
        credit.lock_both_accounts(current.debt, debtor)
        if current.debt:
            credit.take_off_credit(current.debt, actor=actor)
        current.debt = None
        if debtor:
            ref_id, amount, branch = current.ref_id, current.amount, current.branch_id
            current.debt = credit.put_on_credit(debtor, ref_id=ref_id, amount=amount, actor=actor, branch=branch)
        current.method, current.is_cash = row.code, row.counts_as_cash
        current.cash_given, current.reference = given, slip
        current.buyer = debtor.pk if debtor else current.buyer
        current.save(update_fields=["method", "is_cash", "cash_given", "reference", "debt", "buyer"])
        sale = {"amount": current.amount, "shift": current.sold_in_id}
        after = _as_paid(current)
        record(PAYMENT_CORRECTED, actor=actor, subject=current.ref_id, before=before, after=after, facts=sale)
        return current


def _as_paid(payment: Payment) -> dict[str, Any]:
    """How the customer paid, for the activity log."""
    return {
        "paid_by": payment.method,
        "cash_given": payment.cash_given,
        "reference": payment.reference,
        "account_of": payment.debt.account.customer_id if payment.debt else None,
    }


def _refuse_unless_own_open(payment: Payment, actor: User) -> None:
    if payment.sold_in_id is None:
        raise DrawerRefused("no_sale")
    try:
        shift = lock_shift(payment.sold_in_id)
    except DrawerRefused as refusal:
        raise DrawerRefused("sold_before") from refusal
    refuse_unless_own(shift, actor)


def follow_price(payment_id: int, amount: int, *, actor: User | None) -> None:
    """Set the payment of an order, and its debt on an account, to the new `amount` (rupiah).

    The order is locked. In a closed shift only the debt changes. Raises `OverCap` and `CreditRefused`.
    """
    current = lock_payment(payment_id)
    is_changing = current.sold_in_id is None or _is_open(current.sold_in_id)
    if current.debt and current.debt.amount != amount:
        current.debt = credit.follow_price(current.debt, amount, actor=actor)
    if is_changing:
        # The given cash was for the old price.
        current.amount, current.cash_given = amount, None
    current.save(update_fields=["amount", "cash_given", "debt"])


def _is_open(shift: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM drawers_shift WHERE id = %s AND closed_at IS NULL FOR SHARE", [shift])
        return bool(cursor.rowcount == 1)
