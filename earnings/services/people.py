"""The sales and other countable work of each person, so that people can be compared."""

from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, F, Min, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce

from audit.models import AuditEvent
from branches.seeing import narrowed
from core.snapshot import snapshot
from drawers.models import TO_GIVE_BACK, DrawerEntry, Payment, Shift
from earnings.services.figures import Figures, Period, figures_by
from purchases.events import FULL_NUMBER_SEEN
from purchases.models import ReceiptPrint
from staff.models import User


@dataclass(frozen=True)
class PersonFigures:
    """One person's days. `difference`: rupiah by which the counts of the shifts were off, signed.

    It adds up closing counts, and opening counts against the cash left in the drawer; `is_uncounted`: a shift is still
    open. `shift`: the key of the only shift, else None. `paid_out`: rupiah that the person took out of the drawer by
    hand. `given_back`: rupiah that the person noted as given back to customers.
    """

    person: User
    figures: Figures
    difference: int
    is_uncounted: bool
    shift: int | None
    paid_out: int
    given_back: int
    reprints: int
    numbers_seen: int


class _Shifts(NamedTuple):
    """A person's shifts: rupiah by which counts were off, the open ones, rupiah paid out, their number, the first."""

    off: int
    open: int
    paid_out: int
    number: int
    first: int | None


_NOTHING = _Shifts(0, 0, 0, 0, None)


def people_beside(period: Period) -> list[PersonFigures]:
    """Everybody with any of these figures in this period, the most sales first; only from rows that the reader sees."""
    since, until = period.since, period.until
    with snapshot():
        figures = figures_by("person", period)
        shifts = narrowed(Shift.objects.filter(opened_at__gte=since, opened_at__lt=until), "drawer__branch")
        at_opening = Coalesce(F("opening") - F("left_before"), 0)
        by_hand = DrawerEntry.objects.filter(shift=OuterRef("pk"), kind=DrawerEntry.Kind.PAID_OUT).order_by()
        drawers = shifts.order_by().values_list("cashier")
        counted = drawers.annotate(
            off=Sum(at_opening + Coalesce("difference", 0)),
            open=Count("pk", filter=Q(closed_at=None)),
            paid_out=Coalesce(-Sum(Subquery(by_hand.values("shift").annotate(out=Sum("amount")).values("out"))), 0),
            number=Count("pk"),
            first=Min("pk"),
        )
        off = {cashier: _Shifts(*counts) for cashier, *counts in counted}
        refunds = narrowed(Payment.objects.filter(given_at__gte=since, given_at__lt=until))
        given_back = dict(refunds.order_by().values_list("given_by").annotate(sum=Sum(TO_GIVE_BACK)))
        copies = ReceiptPrint.objects.filter(number__gt=1, at__gte=since, at__lt=until)
        copies = narrowed(copies, "order__payment__branch")
        reprints = dict(copies.order_by().values_list("printed_by").annotate(Count("pk")))
        looks = AuditEvent.objects.filter(kind=FULL_NUMBER_SEEN.key, at__gte=since, at__lt=until)
        looks = narrowed(looks, "person__branch")
        seen = dict(looks.order_by().values_list("person").annotate(Count("pk")))
        people = User.objects.in_bulk([key for key in {*figures, *off, *given_back, *reprints, *seen} if key])
    rows = [
        PersonFigures(
            person=person,
            figures=figures.get(pk, Figures()),
            difference=off.get(pk, _NOTHING).off,
            is_uncounted=off.get(pk, _NOTHING).open > 0,
            shift=off.get(pk, _NOTHING).first if off.get(pk, _NOTHING).number == 1 else None,
            paid_out=off.get(pk, _NOTHING).paid_out,
            given_back=given_back.get(pk, 0),
            reprints=reprints.get(pk, 0),
            numbers_seen=seen.get(pk, 0),
        )
        for pk, person in people.items()
    ]
    return sorted(rows, key=lambda row: (-row.figures.sales, row.person.username))


def only_reason(person: User, period: Period) -> str:
    """The reason of this person's only payout by hand in this period's shifts; "" for none or several."""
    shifts = Q(shift__cashier=person, shift__opened_at__gte=period.since, shift__opened_at__lt=period.until)
    by_hand = narrowed(DrawerEntry.objects.filter(shifts, kind=DrawerEntry.Kind.PAID_OUT), "shift__drawer__branch")
    reasons = list(by_hand.order_by().values_list("reason", flat=True)[:2])
    return reasons[0] if len(reasons) == 1 else ""
