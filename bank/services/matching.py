"""Rows of the bank find what they are: by reference, by amount and day, and a day of QRIS by its sum less a fee."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator

from django.db import connection, transaction

from bank.models import BankRow, State
from bank.services.items import Item, items_of

# The bank books later than the shop by so many days at most (a weekend, a holiday), or earlier. The likeliest first.
_DAYS_LATER = (0, 1, -1, 2, 3, 4)
_LATEST, _EARLIEST = dt.timedelta(days=max(_DAYS_LATER)), dt.timedelta(days=min(_DAYS_LATER))
_LEAST_REFERENCE = 4
# One person at a time reads and matches.
_LOCK = 20_261_126


def lock_bank() -> None:
    """Wait for all who read or match, until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])


@transaction.atomic
def match_rows(first: dt.date, last: dt.date) -> int:
    """Match the rows of these days that nobody has decided about; how many were."""
    lock_bank()
    open_rows = BankRow.objects.filter(day__gte=first, day__lte=last, state=State.UNKNOWN, decided_at=None)
    rows = list(open_rows.select_related("account").order_by("day", "pk"))
    items = open_items(first - _LATEST, last - _EARLIEST)
    matched = []
    for row, item in _pairs(rows, items):
        put(row, item)
        matched.append(row)
    BankRow.objects.bulk_update(matched, ["state", "item", "item_day", "item_amount"], batch_size=500)
    return len(matched)


def open_items(first: dt.date, last: dt.date) -> list[Item]:
    """Those of these days that no row is matched with."""
    items = items_of(first, last)
    taken = set(BankRow.objects.filter(item__in=[item.key for item in items]).values_list("item", flat=True))
    return [item for item in items if item.key not in taken]


def put(row: BankRow, item: Item) -> None:
    """The row as matched with it; not saved."""
    row.state, row.item, row.item_day, row.item_amount = State.MATCHED, item.key, item.day, item.amount


def _pairs(rows: list[BankRow], items: list[Item]) -> Iterator[tuple[BankRow, Item]]:
    """Each row and each item at most once. Of several alike, the earliest go together."""
    left: defaultdict[tuple[int, dt.date], list[BankRow]] = defaultdict(list)
    for row in rows:
        left[row.amount, row.day].append(row)
    found: set[str] = set()

    def days_of(item: Item) -> Iterator[list[BankRow]]:
        return (left[item.amount, item.day + dt.timedelta(days=later)] for later in _DAYS_LATER)

    for item in items:
        if len(item.reference) < _LEAST_REFERENCE:
            continue
        named = (row for same in days_of(item) for row in same if item.reference in f"{row.text} {row.reference}")
        if (first := next(named, None)) is not None:
            left[first.amount, first.day].remove(first)
            found.add(item.key)
            yield first, item
    for later in _DAYS_LATER:
        for item in items:
            same = left[item.amount, item.day + dt.timedelta(days=later)]
            if same and item.key not in found:
                found.add(item.key)
                yield same.pop(0), item
    rest = [row for same in left.values() for row in same if row.amount > 0]
    for item in items:
        if item.is_day and item.key not in found:
            paid = [row for row in rest if _is_paid_out(row, item)]
            if paid:
                row = min(paid, key=lambda row: (row.day, item.amount - row.amount, row.pk))
                rest.remove(row)
                yield row, item


def _is_paid_out(row: BankRow, item: Item) -> bool:
    later, fee = row.day - item.day, item.amount - row.amount
    return dt.timedelta() <= later <= _LATEST and 0 <= fee * 10_000 <= item.amount * row.account.most_fee
