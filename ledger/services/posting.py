"""Post entries to the books: the only place that does. Call it inside the transaction that changes the order.

Lock order: the order's row, then the books.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from core.times import start_of_day
from gateway.services import next_number
from ledger.errors import NotEnough
from ledger.models import Books, Entry, OrderKind

if TYPE_CHECKING:
    from staff.models import User


def books() -> Books:
    """The books as they are now, for reading."""
    return Books.objects.filter(only=True).first() or Books()


def lock_books() -> Books:
    """The books, locked until the end of the transaction."""
    return Books.objects.select_for_update().get_or_create(only=True)[0]


def settled_no() -> int:
    """A number before which nobody posts any more: each entry with a lower one can be seen from now on.

    Call it outside any transaction, for it waits for whoever is posting.
    """
    with transaction.atomic():
        lock_books()
        return next_number()


def set_found(total: int) -> None:
    """Note what the open differences add up to (rupiah, signed); in the transaction that finds or closes one."""
    current = lock_books()
    current.found = total
    current.save(update_fields=["found"])


def available(of: Books | None = None) -> int | None:
    """Rupiah that a new order may spend: balance and found, less what is reserved. None before the opening."""
    current = of or books()
    return None if current.opened_at is None else current.balance + current.found - current.reserved


def reserve(*, ref_id: str, order_kind: str, amount: int, actor: User | None = None) -> None:
    """Reserve exactly `amount` rupiah for the order, whatever was before. Raises `NotEnough`, posting nothing."""
    current = lock_books()
    active = active_reservation(ref_id)
    if active == amount:
        return
    free = available(current)
    if free is not None and amount > free + active:
        raise NotEnough(amount=amount, available=free + active)
    if active:
        _post(current, Entry.Kind.RELEASE, active, ref_id=ref_id, order_kind=order_kind, actor=actor)
    _post(current, Entry.Kind.HOLD, amount, ref_id=ref_id, order_kind=order_kind, actor=actor)


def release(*, ref_id: str, order_kind: str, actor: User | None = None, reason: str = "") -> None:
    """End the order's reservation, if it has one."""
    current = lock_books()
    if active := active_reservation(ref_id):
        _post(current, Entry.Kind.RELEASE, active, ref_id=ref_id, order_kind=order_kind, actor=actor, reason=reason)


def debit(*, ref_id: str, order_kind: str, amount: int, actor: User | None = None) -> None:
    """The upstream has accepted the order for `amount` rupiah: end its reservation and debit it, once.

    `actor`: the order's cashier, here and in its refund.
    """
    current = lock_books()
    if active := active_reservation(ref_id):
        _post(current, Entry.Kind.RELEASE, active, ref_id=ref_id, order_kind=order_kind, actor=actor)
    if not _taken(ref_id):
        _post(current, Entry.Kind.DEBIT, amount, ref_id=ref_id, order_kind=order_kind, actor=actor)


def refund(*, ref_id: str, order_kind: str, actor: User | None = None) -> bool:
    """The accepted order has failed: what was taken comes back, once. False if nothing was taken."""
    return _give_back(Entry.Kind.REFUND, ref_id=ref_id, order_kind=order_kind, actor=actor)


def reverse(*, ref_id: str, order_kind: str, actor: User | None, reason: str) -> bool:
    """The upstream took back the order's success: what was taken comes back, once. False if nothing was taken."""
    return _give_back(Entry.Kind.REVERSAL, ref_id=ref_id, order_kind=order_kind, actor=actor, reason=reason)


def _give_back(kind: Entry.Kind, *, ref_id: str, order_kind: str, actor: User | None = None, reason: str = "") -> bool:
    current = lock_books()
    taken = _taken(ref_id)
    back = Entry.objects.filter(ref_id=ref_id, kind__in=[Entry.Kind.REFUND, Entry.Kind.REVERSAL])
    if taken and not back.exists():
        _post(current, kind, taken.amount, ref_id=ref_id, order_kind=order_kind, actor=actor, reason=reason)
    return taken is not None


def open_books(balance: int) -> None:
    """Post what the account had (rupiah) before everything that is in the books already. Once."""
    current = lock_books()
    current.opened_at = timezone.now()
    current.save(update_fields=["opened_at"])
    if balance:
        _post(current, Entry.Kind.OPENING, abs(balance), sign=1 if balance > 0 else -1)


def post_top_up(*, amount: int, actor: User | None, reason: str) -> Entry:
    """Add `amount` rupiah that were paid in."""
    return _post(lock_books(), Entry.Kind.TOPUP, amount, actor=actor, reason=reason)


def post_adjustment(*, amount: int, actor: User, reason: str) -> Entry:
    """Move the balance by `amount` rupiah (signed): what two people agreed on, or the reversal of that."""
    sign = 1 if amount > 0 else -1
    return _post(lock_books(), Entry.Kind.ADJUSTMENT, abs(amount), sign=sign, actor=actor, reason=reason)


def active_reservation(ref_id: str) -> int:
    """Rupiah that are reserved for this order now."""
    return Entry.objects.filter(ref_id=ref_id).aggregate(total=Sum("reserved_change"))["total"] or 0


_SIGNS = {
    Entry.Kind.DEBIT: -1,
    Entry.Kind.REFUND: 1,
    Entry.Kind.REVERSAL: 1,
    Entry.Kind.TOPUP: 1,
}
_RESERVED_SIGNS = {Entry.Kind.HOLD: 1, Entry.Kind.RELEASE: -1}


def _post(
    locked: Books,
    kind: Entry.Kind,
    amount: int,
    *,
    sign: int | None = None,
    ref_id: str = "",
    order_kind: str = "",
    actor: User | None = None,
    reason: str = "",
) -> Entry:
    """Write one entry and the sums after it; `sign` for the kinds that go both ways."""
    # Under the lock, never before the last one, and never in a closed day: the order of time is the order of the
    # entries, whatever the clocks of several machines say. So each day closes as the next one opens, and stays so.
    at = timezone.now()
    if last_at := Entry.objects.order_by("-pk").values_list("at", flat=True).first():
        at = max(at, last_at)
    if locked.closed_day:
        at = max(at, start_of_day(locked.closed_day + dt.timedelta(days=1)))
    balance_change = amount * (_SIGNS.get(kind, 0) if sign is None else sign)
    reserved_change = amount * _RESERVED_SIGNS.get(kind, 0)
    locked.balance += balance_change
    locked.reserved += reserved_change
    locked.save(update_fields=["balance", "reserved"])
    return Entry.objects.create(
        kind=kind,
        amount=amount,
        balance_change=balance_change,
        reserved_change=reserved_change,
        balance_after=locked.balance,
        reserved_after=locked.reserved,
        ref_id=ref_id,
        order_kind=OrderKind(order_kind) if order_kind else "",
        actor=actor,
        reason=reason[:500],
        at=at,
    )


def _taken(ref_id: str) -> Entry | None:
    return Entry.objects.filter(ref_id=ref_id, kind=Entry.Kind.DEBIT).first()
