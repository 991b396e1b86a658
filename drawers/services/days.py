"""The closing of a day: the sums of its shifts, by cashier. An owner's signature freezes it."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from django.db import transaction
from django.db.models import Count, QuerySet, Sum
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

from audit.models import AuditEvent
from audit.services import record
from branches.models import FIRST
from branches.services import has_several
from core import clock
from core.rights import Right
from core.times import start_of_day
from drawers.errors import DrawerRefused
from drawers.events import DAY_SIGNED
from drawers.models import DrawerDay, Payment, Shift
from drawers.models.payments import Outcome, on_no_account
from drawers.services.explaining import explanations_of
from drawers.services.totals import Totals, totals_of
from staff.models import User

# A page names at most this many sales in no shift.
MOST_NAMED = 20


@dataclass(frozen=True)
class DayLine:
    """One shift of a day, as its closing shows it; rupiah."""

    shift: int
    drawer: str
    cashier: str
    totals: Totals
    counted: int
    difference: int
    reason: str
    # The cash of this count is in the drawer at the end of the day; no other line counts the same cash.
    is_last_of_drawer: bool = True
    # The opening count less the cash that the last shift left; None in a day that was signed before we counted this.
    opening_difference: int | None = 0
    opening_reason: str = ""

    @property
    def left_before(self) -> int:
        """The cash that the drawer's last shift left."""
        return self.totals.opening - (self.opening_difference or 0)

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def of(cls, facts: dict[str, Any]) -> DayLine:
        """The line as it was signed, also from before lines had `is_last_of_drawer`."""
        facts = dict(facts)
        before = {"is_last_of_drawer": not facts.pop("is_handed_on", False), "opening_difference": None}
        return cls(**{**before, **facts, "totals": Totals(**facts["totals"])})


def day_lines(day: DrawerDay | None) -> list[DayLine]:
    """The shifts that were closed on this day, by cashier; for a signed day, as they were signed."""
    if day is None:
        return []
    if day.signed_at:
        return [DayLine.of(line) for line in day.facts["lines"]]
    shifts = list(day.shifts.select_related("drawer", "cashier").order_by("cashier__username", "closed_at", "pk"))
    totals = totals_of([shift.pk for shift in shifts], with_cost=True)
    explained = explanations_of(shifts)
    last = {shift.drawer_id: shift.pk for shift in sorted(shifts, key=lambda shift: (shift.opened_at, shift.pk))}
    return [
        DayLine(
            shift=shift.pk,
            drawer=shift.drawer.name,
            cashier=shift.cashier.shown_name,
            totals=totals[shift.pk],
            counted=shift.counted or 0,
            difference=shift.difference or 0,
            reason=_reason(shift.reason, explained[shift.pk].get("closing")),
            is_last_of_drawer=last[shift.drawer_id] == shift.pk,
            opening_difference=shift.opening_difference,
            opening_reason=_reason(shift.opening_reason, explained[shift.pk].get("opening")),
        )
        for shift in shifts
    ]


def _reason(at_the_count: str, later: AuditEvent | None) -> str:
    """The reason for a difference: a reason written after a blind count replaces the words that there was none."""
    return later.facts["reason"] if later and later.facts else at_the_count


def cash_of_day(lines: Iterable[DayLine]) -> dict[str, int]:
    """The counted and the expected cash of the drawers after their last shifts, and the difference; rupiah.

    The difference is the sum over all counts, at the ends and beginnings of shifts. So the expected cash is what the
    day before left in these drawers, plus what came in, less what went out.
    """
    lines = list(lines)
    counted = sum(line.counted for line in lines if line.is_last_of_drawer)
    difference = sum(line.difference + (line.opening_difference or 0) for line in lines)
    return {"expected": counted - difference, "counted": counted, "difference": difference}


def open_shifts_until(day: dt.date, branch: int | None = None) -> list[Shift]:
    """The open shifts that began on this day or before: the day is not over for them. `branch`: only of this branch."""
    until = start_of_day(day + dt.timedelta(days=1))
    open_shifts = Shift.objects.select_related("drawer", "cashier").filter(closed_at=None, opened_at__lt=until)
    if branch is not None:
        open_shifts = open_shifts.filter(drawer__branch=branch)
    return list(open_shifts.order_by("opened_at"))


def sold_in_no_shift(day: dt.date, branch: int | None = None) -> tuple[int, int]:
    """The sales of people on this day that are in no shift and wait for none: their number, and their rupiah.

    The next shift of a person who is switched off never comes, so nothing waits for it. Sales that were
    given back, or never paid, do not count. `branch`: only of this branch.
    """
    sums = _outside_shifts(day, branch).aggregate(count=Count("pk"), amount=Sum("amount", default=0))
    return sums["count"], int(sums["amount"])


def orders_in_no_shift(day: dt.date, branch: int | None = None) -> list[str]:
    """The ref_ids of the first of these sales, at most `MOST_NAMED`, in the order of time."""
    return list(_outside_shifts(day, branch).order_by("at").values_list("ref_id", flat=True)[:MOST_NAMED])


def sold_for_next_shifts(day: dt.date, branch: int | None = None) -> tuple[int, int]:
    """The sales of this day that their sellers' next shifts will take in: their number, and their rupiah.

    Each was placed only after its seller's shift had closed, such as after an approval. `branch`: only of this branch.
    """
    waiting = _in_no_shift(day).filter(agreed_in__isnull=False, seller__is_active=True)
    sums = _with_money(waiting, branch).aggregate(count=Count("pk"), amount=Sum("amount", default=0))
    return sums["count"], int(sums["amount"])


def _outside_shifts(day: dt.date, branch: int | None) -> QuerySet[Payment]:
    outside = _in_no_shift(day)
    # Each part uses its own index: joined by OR, PostgreSQL would use none.
    never = outside.filter(agreed_in=None).values("pk")
    no_more = outside.filter(agreed_in__isnull=False, seller__is_active=False).values("pk")
    return _with_money(Payment.objects.filter(pk__in=never.union(no_more, all=True)), branch)


def _in_no_shift(day: dt.date) -> QuerySet[Payment]:
    begins, ends = start_of_day(day), start_of_day(day + dt.timedelta(days=1))
    return Payment.objects.filter(at__gte=begins, at__lt=ends, sold_in=None, seller__isnull=False)


def _with_money(sales: QuerySet[Payment], branch: int | None) -> QuerySet[Payment]:
    """Without sales that were given back, or never paid."""
    sales = sales.exclude(outcome__in=[Outcome.NOTHING, Outcome.GIVEN])
    sales = sales.exclude(on_no_account(), outcome=Outcome.OWED)
    return sales if branch is None else sales.filter(branch=branch)


def seal_of(lines: list[DayLine]) -> str:
    """A hash of the closing, for the form that signs it; keyed, because it contains costs."""
    text = json.dumps([line.plain() for line in lines], sort_keys=True)
    return salted_hmac("drawers.day", text, algorithm="sha256").hexdigest()


def sign_day(day: dt.date, *, actor: User, branch: int = FIRST, seen: str | None = None) -> DrawerDay:
    """Freeze, under the actor's name, the closing of a branch's day that is over. Raises `DrawerRefused`.

    `seen`: the seal of the lines that were shown. All shifts that began on this day in this branch must be closed.
    """
    if not actor.has_perm(Right.SIGN_DAYS):
        raise DrawerRefused("no_right")
    if day >= timezone.localdate(clock.now()):
        raise DrawerRefused("day_running")
    with transaction.atomic():
        day_row = DrawerDay.objects.select_for_update(no_key=True).filter(day=day, branch=branch).first()
        lines = day_lines(day_row)
        if day_row is None or not lines:
            raise DrawerRefused("day_empty")
        if day_row.signed_at:
            raise DrawerRefused("day_signed")
        if open_shifts_until(day, branch):
            raise DrawerRefused("day_open")
        if seen is not None and not constant_time_compare(seen, seal_of(lines)):
            raise DrawerRefused("day_moved")
        day_row.facts = {"lines": [line.plain() for line in lines]}
        day_row.signed_by_id, day_row.signed_at = actor.pk, clock.now()
        day_row.save()
        facts: dict[str, Any] = {"shifts": len(lines), "difference": cash_of_day(lines)["difference"]}
        if has_several():
            facts["branch"] = branch
        record(DAY_SIGNED, actor=actor, subject=day.isoformat(), facts=facts)
        return day_row
