"""Opens a shift with a count, hands it over, closes it with a count. A shift can always be closed."""

import datetime as dt
from collections.abc import Sequence

import structlog
from django.db import IntegrityError, transaction
from django.db.models import CharField, Sum
from django.db.models.functions import Cast, Coalesce, Mod
from django.utils import timezone
from django.utils.translation import ngettext, pgettext_lazy

from audit.acts import act
from audit.services import record
from core import clock
from core.rights import Right
from credit.methods import CASH
from drawers.errors import DifferenceUnexplained, DrawerRefused, OpeningUnexplained
from drawers.events import COUNT_CORRECTED, DRAWER_DIFFERENCE, DRAWER_OPENED_OTHERWISE, DRAWER_TAKEN_OVER
from drawers.models import (
    DENOMINATIONS,
    SMALLEST_COIN,
    Drawer,
    DrawerDay,
    DrawerEntry,
    Payment,
    Shift,
    ShiftHistory,
)
from drawers.services.explaining import words_without_reason
from drawers.services.locking import enter, lock_shift, open_shift_of, refuse_unless_own
from drawers.services.payments import take_in
from policies.services import policies
from staff.models import User
from tills.services import confirm_in_person

log = structlog.get_logger()
TAKE_OVER = act("take_over_drawer", pgettext_lazy("audit", "Take over a drawer"))


def amount_of(pieces: Sequence[int]) -> int:
    """Rupiah of a count, the number of each of `DENOMINATIONS` in their order. Raises `ValueError` below zero."""
    if any(count < 0 for count in pieces):
        raise ValueError(pieces)
    return sum(value * count for value, count in zip(DENOMINATIONS, pieces, strict=True))


def open_shift(drawer: Drawer, *, pieces: Sequence[int], actor: User, reason: str = "") -> Shift:
    """Begin the actor's shift with the count of the drawer.

    Raises `OpeningUnexplained` if the count differs from the last one and there is no reason (a blind count needs
    none), and `DrawerRefused`.
    """
    with transaction.atomic():
        shift = _begin(drawer, cashier=actor, pieces=pieces, actor=actor, reason=reason)
        if difference := shift.opening_difference:
            facts = {"drawer": shift.drawer.name, "left": shift.left_before, "counted": shift.opening}
            facts |= {"difference": difference, "reason": shift.opening_reason}
            record(DRAWER_OPENED_OTHERWISE, actor=actor, subject=str(shift), facts=facts)
        return shift


def _begin(
    drawer: Drawer,
    *,
    cashier: User,
    pieces: Sequence[int],
    actor: User,
    reason: str = "",
    taken_from: Shift | None = None,
) -> Shift:
    if not cashier.has_perm(Right.USE_DRAWERS):
        raise DrawerRefused("no_right")
    # The lock on the person's row keeps the person in the branch; the lock on the drawer's row keeps the drawer in use,
    # and two people from opening it at once.
    holder = User.objects.select_for_update(no_key=True).get(pk=cashier.pk)
    current = Drawer.objects.select_for_update(no_key=True).get(pk=drawer.pk)
    if not current.is_active:
        raise DrawerRefused("drawer_off")
    if holder.bound_to not in {None, current.branch_id}:
        raise DrawerRefused("other_branch")
    if Shift.objects.filter(drawer=current, closed_at=None).exists():
        raise DrawerRefused("drawer_taken")
    (before, left), now = _last_in(current), clock.now()
    opening = amount_of(pieces)
    differs = left is not None and opening != left
    why = _why(reason, OpeningUnexplained(opening - left)) if left is not None and differs else ""
    try:
        with transaction.atomic():
            shift = Shift.objects.create(
                drawer=current,
                cashier_id=cashier.pk,
                # Even if the clock was set back, a shift begins after the one whose count it begins with.
                opened_at=max(now, before + dt.timedelta.resolution) if before else now,
                opening=opening,
                opening_pieces=list(pieces),
                left_before=left,
                opening_reason=why,
                taken_from=taken_from,
            )
    except IntegrityError:
        raise DrawerRefused("person_busy") from None
    kind = DrawerEntry.Kind.HANDOVER if taken_from else DrawerEntry.Kind.OPENING
    enter(shift, kind, shift.opening, method=CASH, actor=actor, at=shift.opened_at)
    take_in(shift)
    log.info("shift_opened", shift=shift.pk, cashier=cashier.pk)
    return shift


def _why(reason: str, refusal: OpeningUnexplained | DifferenceUnexplained) -> str:
    """The reason for a difference. Raises the refusal without one, except for a blind count (no second try)."""
    if not reason.strip() and policies().blind_count:
        return words_without_reason()
    if not reason.strip():
        raise refusal
    return reason.strip()[:500]


def _of_rounding(shift: Shift, difference: int) -> str:
    """The reason, if the difference is exactly what rounding up brings in (`rounded_up`); else ""."""
    sales, more = rounded_up(shift)
    if not difference or difference != more:
        return ""
    words = ngettext(
        "%(n)s cash sale for whose amount there is no coin, rounded up.",
        "%(n)s cash sales for whose amounts there is no coin, rounded up.",
        sales,
    )
    return words % {"n": sales}


def _last_in(drawer: Drawer) -> tuple[dt.datetime | None, int | None]:
    """The beginning of the drawer's last shift, and the rupiah that its count left; None before its first."""
    last = drawer.shifts.order_by("-opened_at", "-pk").values_list("opened_at", "counted").first()
    return last or (None, None)


def close_shift(shift: Shift, *, pieces: Sequence[int], actor: User, reason: str = "") -> Shift:
    """Close it with this count and any difference; return the closed shift.

    Raises `DifferenceUnexplained` for a difference without a reason, unless the count is blind or the difference is
    exactly that of `rounded_up`; and `DrawerRefused`.
    """
    with transaction.atomic():
        return _end(shift, pieces=pieces, actor=actor, reason=reason)


def hand_over(
    shift: Shift, *, to: User, pieces: Sequence[int], actor: User, reason: str = "", confirmed_by: str = "password"
) -> Shift:
    """Close the shift with a count, and begin one of `to` at the same drawer with the same count; return the new shift.

    `confirmed_by`: the result of `confirm_receiver`. Both happen, or nothing. Raises the same as `close_shift` and
    `open_shift`.
    """
    with transaction.atomic():
        closed = _end(shift, pieces=pieces, actor=actor, reason=reason)
        if to.pk == closed.cashier_id or open_shift_of(to.pk):
            raise DrawerRefused("person_busy")
        taken = _begin(closed.drawer, cashier=to, pieces=pieces, actor=actor, taken_from=closed)
        facts = {"drawer": closed.drawer.name, "by": confirmed_by}
        record(DRAWER_TAKEN_OVER, actor=to, subject=str(closed), facts=facts)
        return taken


def _end(shift: Shift, *, pieces: Sequence[int], actor: User, reason: str) -> Shift:
    current = lock_shift(shift.pk)
    refuse_unless_own(current, actor)
    take_in(current)
    expected, counted = expected_cash(current), amount_of(pieces)
    difference = counted - expected
    current.counted, current.counted_pieces = counted, list(pieces)
    current.expected, current.difference = expected, difference
    reason = reason.strip() or _of_rounding(current, difference)
    current.reason = _why(reason, DifferenceUnexplained(difference)) if difference else reason[:500]
    current.closed_by_id, current.closed_at = actor.pk, clock.now()
    current.day = _day_for(timezone.localdate(current.closed_at), current.drawer.branch_id)
    current.save()
    _note_large_difference(current, actor)
    log.info("shift_closed", shift=current.pk, difference=difference)
    return current


def _note_large_difference(shift: Shift, actor: User) -> None:
    if abs(shift.difference or 0) > policies().drawer_difference_limit:
        facts = {"drawer": shift.drawer.name, "expected": shift.expected, "counted": shift.counted}
        facts |= {"difference": shift.difference}
        record(DRAWER_DIFFERENCE, actor=actor, subject=str(shift), facts=facts)


def correct_count(shift: Shift, *, pieces: Sequence[int], actor: User, reason: str) -> Shift:
    """Replace the closing count, once and with a reason; return the shift.

    Only until the next shift begins at the drawer, or the day is signed. Raises `DrawerRefused`.
    """
    with transaction.atomic():
        current = lock_shift(shift.pk, is_closed=True)
        refuse_unless_own(current, actor)
        if current.day_id is None:
            raise DrawerRefused("in_use")
        day = DrawerDay.objects.select_for_update(no_key=True).get(pk=current.day_id)
        # The lock on the drawer's row keeps the next shift from beginning with this count meanwhile.
        Drawer.objects.select_for_update(no_key=True).get(pk=current.drawer_id)
        if current.first_counted is not None:
            raise DrawerRefused("corrected")
        if day.signed_at:
            raise DrawerRefused("day_signed")
        if Shift.objects.filter(drawer=current.drawer_id, opened_at__gt=current.opened_at).exists():
            raise DrawerRefused("count_used")
        if not reason.strip():
            raise DrawerRefused("no_correction")
        current.first_counted, current.correction = current.counted, reason.strip()[:500]
        current.counted, current.counted_pieces = amount_of(pieces), list(pieces)
        first_difference, current.difference = current.difference, current.counted - (current.expected or 0)
        current.reason = _reason_after(current, first_difference or 0) if current.difference else ""
        current.save()
        facts = {"drawer": current.drawer.name, "before": current.first_counted, "counted": current.counted}
        facts |= {"difference": current.difference, "reason": current.correction}
        record(COUNT_CORRECTED, actor=actor, subject=str(current), facts=facts)
        _note_large_difference(current, actor)
        return current


def _reason_after(shift: Shift, first_difference: int) -> str:
    """The reason for the corrected count: the first one; the new one if there was none or rounding no longer fits."""
    if _of_rounding(shift, first_difference):
        return _of_rounding(shift, shift.difference or 0) or shift.correction
    return shift.reason or shift.correction


def first_reason_of(shift: Shift) -> str:
    """The reason why the first count of a corrected shift differed, as it was said then; empty if it did not."""
    closings = ShiftHistory.objects.filter(pgh_obj=shift.pk, closed_at__isnull=False, first_counted=None)
    return closings.order_by("pgh_id").values_list("reason", flat=True).first() or ""


def expected_cash(shift: Shift) -> int:
    """Rupiah that should be in the drawer: the sum of the shift's sales and entries in cash."""
    sold = Payment.objects.filter(sold_in=shift, is_cash=True).aggregate(cash=Sum("amount"))
    entered = DrawerEntry.objects.filter(shift=shift, is_cash=True).aggregate(cash=Sum("amount"))
    return int(sold["cash"] or 0) + int(entered["cash"] or 0)


def rounded_up(shift: Shift) -> tuple[int, int]:
    """The number of cash sales whose price no coins can pay, and the extra rupiah if all of them were rounded up.

    Orders that a customer paid together count as one sale. The books keep exact amounts: this only explains such a
    difference.
    """
    at_once = Coalesce(Cast("paid_at_once", CharField()), "ref_id")
    sales = Payment.objects.filter(sold_in=shift, is_cash=True).order_by().values(at_once=at_once)
    odd = sales.annotate(odd=Mod(Sum("amount"), SMALLEST_COIN)).filter(odd__gt=0).values_list("odd", flat=True)
    missing = [SMALLEST_COIN - int(rest) for rest in odd]
    return len(missing), sum(missing)


def _day_for(today: dt.date, branch: int) -> DrawerDay:
    """The branch's day for a shift that closes now, locked: today, or the first day that is not signed."""
    day = today
    while True:
        DrawerDay.objects.bulk_create([DrawerDay(day=day, branch_id=branch)], ignore_conflicts=True)
        day_row = DrawerDay.objects.select_for_update(no_key=True).get(day=day, branch=branch)
        if day_row.signed_at is None:
            return day_row
        day += dt.timedelta(days=1)


def confirm_receiver(person: User, secret: str, *, actor: User, till_token: str) -> str:
    """The way in which the receiver of the drawer was recognised, for `hand_over`: "pin" or "password".

    `actor`: the signed-in person. `till_token`: of the browser, or "". Guesses are counted: call it outside of any
    transaction that may roll back. Raises `Refused` if the secret is neither.
    """
    return confirm_in_person(person, secret, act=TAKE_OVER, actor=actor, till_token=till_token)
