"""Sales enter a shift by themselves, and how a customer paid can be changed until the shift closes.

Nothing of this stands in the way of an order: placing one knows of no drawer. Whatever looks at a shift, closes it or
opens the next one enters what is missing first, and the sweep does so every few seconds. So no sale depends on a
message or on one process, and the database refuses a second entry of the same order.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import structlog
from django.db import connection, transaction

from core import clock
from credit import services as credit
from drawers.errors import DrawerRefused
from drawers.models import DrawerEntry, Method, Refund, Shift
from drawers.services.agreed import Agreed, agreed_payments
from drawers.services.locking import lock_shift, open_shift_of, refuse_unless_own
from purchases.models import GivenBack, Order
from purchases.services import lock_order_for_move
from purchases.states import UNFULFILLED

if TYPE_CHECKING:
    from customers.models import Customer
    from staff.models import User

log = structlog.get_logger()

# What the customer pays for an order, in rupiah (`Order.customer_pays`).
PAYS = "coalesce(o.selling_price, o.price, o.max_price)"
# Also of the shifts just before: an order that was being stored while its shift closed lands in the next one.
BEFORE_TOO = 3
# Orders of a person by the keys between which they were stored in one of these shifts, and which no shift has. The
# clocks only bound what is read, generously. Fenced, so that each shift reads its own orders and no plan reads all.
# What a person sold in a shift and a second one approved after it had closed, while the seller had no drawer open,
# is found by its approval.
_SOLD = f"""
    FROM (
        SELECT * FROM drawers_shift WHERE cashier_id = {{cashier}} ORDER BY opened_at DESC, id DESC LIMIT {BEFORE_TOO}
    ) sold CROSS JOIN LATERAL (
        (SELECT * FROM purchases_order
          WHERE placed_by_id = sold.cashier_id AND created_at >= sold.opened_at - interval '1 hour'
            AND created_at < coalesce(sold.closed_at + interval '1 hour', 'infinity')
            AND id > sold.first_no AND (sold.last_no IS NULL OR id < sold.last_no) OFFSET 0)
        UNION ALL
        (SELECT late.* FROM approvals_approval asked JOIN purchases_order late ON late.ref_id = asked.result
          WHERE asked.asked_by_id = sold.cashier_id AND asked.asked_at >= sold.opened_at
            AND asked.asked_at < sold.closed_at AND asked.result > '' AND late.id > sold.last_no
            AND NOT EXISTS (
                SELECT FROM drawers_shift other WHERE other.cashier_id = sold.cashier_id
                   AND other.opened_at >= sold.opened_at
                   AND other.first_no < late.id AND (other.last_no IS NULL OR other.last_no > late.id)
            ) OFFSET 0)
    ) o WHERE (
        SELECT e.id FROM drawers_drawerentry e
         WHERE e.ref_id = o.ref_id AND e.ref_id > '' AND e.kind = 'sale' LIMIT 1
    ) IS NULL
"""  # noqa: S608 - our own text
_MISSING = f"SELECT o.ref_id, {PAYS}, o.placed_by_id, sold.id {_SOLD.format(cashier='%s')} ORDER BY o.id"
# A bill, and an order at cost, follow the cost that people confirm later (`Order.follows_cost`).
_OTHER_PRICE = f"""
    FROM drawers_drawerentry sale JOIN purchases_order o ON o.ref_id = sale.ref_id
   WHERE sale.shift_id = taking.id AND sale.kind = 'sale' AND sale.undoes_id IS NULL AND sale.amount <> {PAYS}
     AND NOT EXISTS (SELECT FROM drawers_drawerentry undoing WHERE undoing.undoes_id = sale.id)
"""
_REPRICED = f"SELECT sale.id, {PAYS} {_OTHER_PRICE.replace('taking.id', '%s')} ORDER BY sale.id"

_LACKING = f"""
    SELECT taking.id FROM drawers_shift taking WHERE taking.closed_at IS NULL AND EXISTS (
        SELECT 1 {_SOLD.format(cashier="taking.cashier_id")} UNION ALL SELECT 1 {_OTHER_PRICE}
    )
"""  # noqa: S608 - our own text


def enter_sales(shift: Shift) -> int:
    """Enter what this person has sold and no shift has; the shift is locked by the caller. How many.

    As cash, what is on a customer's account as on credit, and what a second person approved as it was agreed then.

    A sale whose price has moved since is entered again for the price of now, paid as before.
    """
    with connection.cursor() as cursor:
        cursor.execute(_MISSING, [shift.cashier_id])
        missing = cursor.fetchall()
    now = clock.now()
    refs = [row[0] for row in missing]
    on_credit = credit.sold_on_credit(refs) if refs else {}
    agreed = agreed_payments(refs) if refs else {}
    for ref_id, amount, person, sold_in in missing:
        DrawerEntry.objects.create(
            shift=shift,
            kind=DrawerEntry.Kind.SALE,
            **_paid(agreed.get(ref_id), on_credit.get(ref_id), amount),
            amount=amount,
            ref_id=ref_id,
            person_id=person,
            at=now,
            sold_in_id=None if sold_in == shift.pk else sold_in,
        )
    with connection.cursor() as cursor:
        cursor.execute(_REPRICED, [shift.pk])
        repriced = dict(cursor.fetchall())
    for sale in DrawerEntry.objects.filter(pk__in=repriced).order_by("pk"):
        # What the customer gave was for the other price.
        _replace(
            sale, shift, method=sale.method, amount=repriced[sale.pk], reason=sale.reason, person_id=sale.person_id
        )
    return len(missing) + len(repriced)


def _paid(agreed: Agreed | None, debtor: str | None, amount: int) -> dict[str, Any]:
    """How a sale that enters by itself was paid. `debtor`: the name of whose account it is on."""
    if debtor is not None:
        return {"method": Method.CREDIT, "reason": debtor}
    if agreed is None or agreed.method == Method.CREDIT:  # on credit, it was taken off the account since
        return {"method": Method.CASH}
    is_enough = agreed.cash_given is not None and agreed.cash_given >= amount
    return {"method": agreed.method, "cash_given": agreed.cash_given if is_enough else None}


def _replace(sale: DrawerEntry, shift: Shift, *, method: str, amount: int, person_id: int, **facts: Any) -> DrawerEntry:
    """Undo a sale of the locked shift, and enter it again so."""
    same = {"shift": shift, "kind": sale.kind, "ref_id": sale.ref_id, "sold_in_id": sale.sold_in_id}
    same |= {"person_id": person_id, "at": clock.now()}
    DrawerEntry.objects.create(**same, method=sale.method, amount=-sale.amount, undoes=sale)
    return DrawerEntry.objects.create(**same, **facts, method=method, amount=amount, replaces=sale)


def catch_up(shift: Shift) -> None:
    """Before a shift is shown: enter its missing sales, if there are any. A closed one has none."""
    if shift.is_open and shift.pk in lacking_shifts(shift.pk):
        _enter_all([shift.pk])


def catch_up_person(person: int) -> None:
    """The same for the open shift of this person, if there is one."""
    with connection.cursor() as cursor:
        cursor.execute(_LACKING + " AND taking.cashier_id = %s", [person])
        _enter_all([row[0] for row in cursor.fetchall()])


def sweep_sales() -> int:
    """Enter the sales that open shifts lack; how many shifts lacked any."""
    lacking = lacking_shifts()
    _enter_all(lacking)
    return len(lacking)


def lacking_shifts(pk: int | None = None) -> list[int]:
    """The open shifts that lack a sale, or this one if it does."""
    with connection.cursor() as cursor:
        cursor.execute(_LACKING + (" AND taking.id = %s" if pk else ""), [pk] if pk else [])
        return [row[0] for row in cursor.fetchall()]


def _enter_all(shifts: list[int]) -> None:
    for pk in shifts:
        try:
            with transaction.atomic():
                enter_sales(lock_shift(pk))
        except DrawerRefused:
            log.info("shift_closed_meanwhile", shift=pk)  # who closed it entered them


def current_sale(ref_id: str) -> DrawerEntry | None:
    """The entry that says how this order was paid; None while it is in no shift."""
    sales = DrawerEntry.objects.current().filter(ref_id=ref_id, kind=DrawerEntry.Kind.SALE)
    return sales.select_related("shift__drawer", "shift__cashier", "sold_in").first()


def current_sales(ref_ids: Collection[str]) -> dict[str, DrawerEntry | None]:
    """The same of several orders, each by its ref_id."""
    sales = DrawerEntry.objects.current().filter(ref_id__in=ref_ids, ref_id__gt="", kind=DrawerEntry.Kind.SALE)
    return {**dict.fromkeys(ref_ids), **{sale.ref_id: sale for sale in sales}}


def is_given_back(order: Order) -> bool:
    """Whether somebody noted that the customer has the money back: here, on the order, or on an account."""
    refunds = DrawerEntry.objects.filter(ref_id=order.ref_id, kind=DrawerEntry.Kind.REFUND)
    if refunds.exists() or credit.is_given_back_on_credit(order.ref_id):
        return True
    noted = Refund.objects.filter(order=order, given_at__isnull=False)
    return noted.exists() or GivenBack.objects.filter(order=order).exists()


def note_payment(
    order: Order,
    *,
    method: str,
    actor: User,
    cash_given: int | None = None,
    customer: Customer | None = None,
    note: str = "",
    while_placing: bool = False,
) -> DrawerEntry:
    """Note how the customer paid: the entry that was there is undone, and another one takes its place.

    `cash_given`: rupiah, at least the amount. `customer`: who owes it, for a sale on credit; it goes on that account,
    or off it, in the same transaction. `while_placing`: it was chosen before the order was placed, so that it counts
    also where the order has failed within the same second. Raises `DrawerRefused`, also when the shift of the sale is
    closed or the money went back, and `CreditRefused`.
    """
    chosen = Method(method)
    given = cash_given if chosen == Method.CASH else None
    if chosen == Method.CREDIT and customer is None:
        raise DrawerRefused("no_customer")
    with transaction.atomic():
        current = lock_order_for_move(order.pk)
        if is_given_back(current):
            raise DrawerRefused("given_back")
        if current.status in UNFULFILLED and not while_placing:
            raise DrawerRefused("ended")
        sale = _locked_sale(current)
        refuse_unless_own(sale.shift, actor)
        if given is not None and given < sale.amount:
            raise DrawerRefused("cash_short")
        on_account = credit.standing_sale(current.ref_id)
        owes = on_account.account.customer if on_account else None
        reason = customer.name if customer and chosen == Method.CREDIT else note.strip()[:500]
        if (chosen, given, reason) == (sale.method, sale.cash_given, sale.reason) and (
            chosen != Method.CREDIT or owes == customer
        ):
            return sale
        credit.lock_both_accounts(current, customer if chosen == Method.CREDIT else None)
        credit.take_off_credit(current, actor=actor)
        if chosen == Method.CREDIT and customer:
            credit.put_on_credit(current, customer=customer, actor=actor)
        return _replace(
            sale,
            sale.shift,
            method=chosen,
            amount=sale.amount,
            person_id=actor.pk,
            cash_given=given,
            reason=reason,
        )


def _locked_sale(order: Order) -> DrawerEntry:
    """The order's sale as it is under the lock of its shift; it enters first, where it is missing still."""
    shift_id = DrawerEntry.objects.filter(ref_id=order.ref_id, kind="sale").values_list("shift", flat=True).first()
    if shift_id is None:
        own = open_shift_of(order.placed_by_id) if order.placed_by_id else None
        if own is None:
            raise DrawerRefused("no_sale")
        shift_id = own.pk
    try:
        shift = lock_shift(shift_id)
    except DrawerRefused as refusal:
        raise DrawerRefused("sold_before") from refusal
    enter_sales(shift)
    sale = current_sale(order.ref_id)
    if sale is None:
        raise DrawerRefused("no_sale")
    return sale
