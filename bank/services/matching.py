"""Match rows of the bank: by reference, by amount and day, and a day of QRIS by its sum less a fee."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import Max, Min, Q, QuerySet

from bank.models import BankRow, State
from bank.services.items import Item, items_of, without_taken

# How many days later than the shop the bank may book (a weekend, a holiday), or earlier. The likeliest offset comes
# first.
_DAYS_LATER = (0, 1, -1, 2, 3, 4)
_LATEST, _EARLIEST = dt.timedelta(days=max(_DAYS_LATER)), dt.timedelta(days=min(_DAYS_LATER))
#: How far a row and the entry that a person matches it with may be apart.
MOST_APART = dt.timedelta(days=14)
_LEAST_REFERENCE = 4
# One person at a time reads and matches.
_LOCK = 20_261_126
# All rows in one statement; a CASE for each of them would take seconds.
_MATCH = f"""
    UPDATE bank_bankrow row SET state = '{State.MATCHED.value}', item = pair.item, item_day = pair.day,
           item_amount = pair.amount
      FROM unnest(%s::bigint[], %s::text[], %s::date[], %s::bigint[]) AS pair (id, item, day, amount)
     WHERE row.id = pair.id
"""  # noqa: S608 - our own text


class _Row(NamedTuple):
    pk: int
    day: dt.date
    amount: int
    text: str
    reference: str
    most_fee: int


def lock_bank() -> None:
    """Keep everybody else from reading files or matching until the transaction ends; waits for its turn."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])


@transaction.atomic
def match_rows(first: dt.date, last: dt.date) -> int:
    """Match the rows of these days, and those of their entries, that nobody has decided about.

    Return how many were matched.
    """
    lock_bank()
    of_days = Q(day__range=(first, last))
    of_entries = Q(item_day__range=(first, last), day__range=(first + _EARLIEST, last + _LATEST))
    undecided = BankRow.objects.filter(of_days | of_entries, decided_at=None)
    bounds = undecided.aggregate(first=Min("day"), last=Max("day"))
    if bounds["first"] is None:
        return 0
    items = items_of(bounds["first"] - _LATEST, bounds["last"] - _EARLIEST)
    released = _release(undecided.filter(state=State.MATCHED), items)
    columns = ("pk", "day", "amount", "text", "reference", "account__most_fee")
    open_rows = BankRow.objects.filter(of_days | Q(pk__in=released), decided_at=None, state=State.UNKNOWN)
    rows = [_Row(*row) for row in open_rows.order_by("day", "pk").values_list(*columns)]
    pairs = [(row.pk, item.key, item.day, item.amount) for row, item in _pairs(rows, without_taken(items))]
    with connection.cursor() as cursor:
        cursor.execute(_MATCH, [list(column) for column in zip(*pairs, strict=True)] or [[]] * 4)
    return len(pairs)


def _release(matched: QuerySet[BankRow], items: list[Item]) -> list[int]:
    """Make these rows unknown if the books no longer have their item, or have another amount for it; return them."""
    amounts = {item.key: item.amount for item in items}
    kept = matched.values_list("pk", "item", "item_amount")
    gone = [pk for pk, item, amount in kept if item is not None and amounts.get(item) != amount]
    BankRow.objects.filter(pk__in=gone).update(state=State.UNKNOWN, item=None, item_day=None, item_amount=None)
    return gone


def _pairs(rows: list[_Row], items: list[Item]) -> Iterator[tuple[_Row, Item]]:
    """Each row and each item at most once; among equal ones, the earliest of both belong together."""
    left: defaultdict[tuple[int, dt.date], list[_Row]] = defaultdict(list)
    for row in rows:
        left[row.amount, row.day].append(row)
    found: set[str] = set()

    def days_of(item: Item) -> Iterator[list[_Row]]:
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


def _is_paid_out(row: _Row, item: Item) -> bool:
    later = row.day - item.day
    return dt.timedelta() <= later <= _LATEST and is_fee(item.amount - row.amount, of=item.amount, most=row.most_fee)


def is_fee(less: int, *, of: int, most: int) -> bool:
    """Whether the provider may have kept `less` rupiah `of` a day's sum; `most`: in hundredths of a percent."""
    return 0 <= less * 10_000 <= of * most
