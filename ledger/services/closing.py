"""Closes each day of the shop (Asia/Jakarta) after its end, and proves later that it still agrees with its entries."""

import datetime as dt
from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Count, Min, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from core import clock
from core.times import start_of_day
from core.together import read_together
from ledger.models import Books, ClosedDay, Entry, Flaw, RunningDay
from ledger.services.posting import books, lock_books
from ledger.services.proving import FoundFlaw

_ONE_DAY = dt.timedelta(days=1)


def sums_key(kind: str, order_kind: str = "") -> str:
    """The name of a sum in `ClosedDay.sums`: the kind of the entries, and the kind of their orders."""
    return f"{kind}:{order_kind}" if order_kind else str(kind)


def first_day() -> dt.date | None:
    """The day of the books' first entry; None before it."""
    first = Entry.objects.order_by("pk").values_list("at", flat=True).first()
    return timezone.localdate(first) if first else None


def day_to_close(of: Books, first: dt.date | None) -> dt.date | None:
    """The oldest day that is over and not closed yet; `first`: the result of `first_day`."""
    day = of.closed_day + _ONE_DAY if of.closed_day else first
    return day if day and day < timezone.localdate(clock.now()) else None


def close_days() -> None:
    """Keep a row for each day that is over, oldest first. Safe at any time, by anyone; not inside `snapshot`."""
    first = first_day()
    while day_to_close(books(), first):
        with transaction.atomic():
            locked = lock_books()
            if day := day_to_close(locked, first):
                # An existing row was not made here. It stays, and the nightly proof compares it.
                ClosedDay.objects.bulk_create([closing_of(day)], ignore_conflicts=True)
                locked.closed_day = day
                locked.save(update_fields=["closed_day"])


def closing_of(day: dt.date) -> ClosedDay:
    """The closing of this day, from its entries; it is not stored."""
    return closing_from(day, *read_together(*closing_questions(day)))


def closing_questions(day: dt.date, *, is_running: bool = False) -> list[QuerySet[Any, Any]]:
    """The queries for the closing of this day; `closing_from` makes it from their answers.

    `is_running`: only the entries after those in `RunningDay`, and that row.
    """
    start, end = start_of_day(day), start_of_day(day + _ONE_DAY)
    summed = RunningDay.objects.filter(day=day)
    entries = Entry.objects.between(start, end)
    if is_running:
        entries = entries.filter(
            at__gte=Coalesce(Subquery(summed.values("last_at")), Value(start)),
            pk__gt=Coalesce(Subquery(summed.values("last_entry")), 0),
        )
    made = (
        entries.order_by()
        .values_list("kind", "order_kind")
        .annotate(Count("pk"), Sum("balance_change"), Sum("reserved_change"), Min("balance_after"))
    )
    return [newest_before(start), newest_before(end), made, *([summed] if is_running else [])]


def closing_from(
    day: dt.date,
    found_before: list[Entry],
    found_last: list[Entry],
    made: list[tuple[Any, ...]],
    summed: Sequence[RunningDay] = (),
) -> ClosedDay:
    """The closing of this day, from the answers to `closing_questions`; it is not stored."""
    none = Entry(pk=0, balance_after=0, reserved_after=0)
    before, last = next(iter(found_before), none), next(iter(found_last), none)
    lowest = min([before.balance_after, *(row.lowest for row in summed)])
    sums: dict[str, dict[str, int]] = {key: dict(kept) for row in summed for key, kept in row.sums.items()}
    for kind, order_kind, count, balance, reserved, least in made:
        more = Counter(count=count, balance=balance, reserved=reserved)
        more.update(sums.get(sums_key(kind, order_kind), {}))
        sums[sums_key(kind, order_kind)] = dict(more)
        lowest = min(lowest, least)
    return ClosedDay(
        day=day,
        last_entry=last.pk or 0,
        balance=last.balance_after,
        reserved=last.reserved_after,
        lowest=lowest,
        sums=sums,
    )


def keep_running_day(closing: ClosedDay, last: Entry) -> None:
    """Keep the sums of today's entries up to `last`, the newest, so that nobody adds them up again."""
    facts = {"day": closing.day, "lowest": closing.lowest, "sums": closing.sums}
    row = RunningDay(last_entry=last.pk, last_at=last.at, **facts)
    changing = ["day", "last_entry", "last_at", "lowest", "sums"]
    RunningDay.objects.bulk_create([row], update_conflicts=True, unique_fields=["only"], update_fields=changing)


def wrong_day() -> FoundFlaw | None:
    """Add up every closed day again; return the first whose kept row differs or is missing. None: all agree."""
    first, last = first_day(), books().closed_day
    if first is None or last is None:
        return None
    kept = {row.day: row for row in ClosedDay.objects.filter(day__lte=last)}
    for number in range((last - min(first, *kept, last)).days, -1, -1):
        day = last - number * _ONE_DAY
        by_entries = closing_of(day)
        if day not in kept or _facts(kept[day]) != _facts(by_entries):
            of_day = Entry.objects.between(start_of_day(day), start_of_day(day + _ONE_DAY))
            entry = of_day.order_by("at", "pk").values_list("pk", flat=True).first()
            amount = _amount_off(kept[day], by_entries) if day in kept else -by_entries.balance
            return FoundFlaw(kind=Flaw.DAY, amount=amount, entry_id=entry or by_entries.last_entry or None)
    return None


def _facts(row: ClosedDay) -> tuple[object, ...]:
    return row.last_entry, row.balance, row.reserved, row.lowest, row.sums


def _amount_off(kept: ClosedDay, by_entries: ClosedDay) -> int:
    """Rupiah, signed, by which the first differing figure is off; 0 if only a count or an id differs."""
    before, now = _amounts(kept), _amounts(by_entries)
    off = (before.get(name, 0) - now.get(name, 0) for name in [*now, *before])
    return next((amount for amount in off if amount), 0)


def _amounts(row: ClosedDay) -> dict[str, int]:
    amounts = {"balance": row.balance, "reserved": row.reserved, "lowest": row.lowest}
    for key, made in row.sums.items():
        amounts |= {f"{key} {name}": made[name] for name in ("balance", "reserved")}
    return amounts


def newest_before(at: dt.datetime) -> QuerySet[Entry]:
    """The newest entry before this moment, if there is one."""
    return Entry.objects.filter(at__lt=at).order_by("-at", "-pk")[:1]
