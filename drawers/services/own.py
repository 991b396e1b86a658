"""The present state of a person's own drawer, for pages that show it next to other content."""

from dataclasses import dataclass
from typing import Any

from django.db.models import BigIntegerField, QuerySet, Sum

from core.together import Given
from drawers.models import DrawerEntry, Payment, Shift
from policies.services import policies
from staff.models import User


def is_blind(shift: Shift, person: User) -> bool:
    """Whether this person may not see the expected cash: it is the person's own drawer, and is counted first."""
    return shift.is_open and shift.cashier_id == person.pk and policies().blind_count


def counts_blind(person: User) -> bool:
    """Whether this person has an open drawer that has to be counted first: no page may add up the person's sales."""
    return policies().blind_count and Shift.objects.filter(cashier=person.pk, closed_at=None).exists()


@dataclass(frozen=True)
class OwnDrawer:
    """The person's open shift, if any. `expected`: rupiah in cash that should be in the drawer, as its page says."""

    shift: Shift | None = None
    expected: int = 0

    @property
    def is_blind(self) -> bool:
        """Whether no page may show the expected cash, or a sum that reveals it."""
        return self.shift is not None and policies().blind_count


def own_drawer_questions(person: Given) -> list[QuerySet[Any, Any]]:
    """The queries for `Together`; `own_drawer_of` reads their answers."""
    sums = [
        rows.order_by().values_list(of).annotate(sum=Sum("amount", output_field=BigIntegerField()))
        for rows, of in (
            (DrawerEntry.objects.filter(shift__cashier=person, shift__closed_at=None, is_cash=True), "shift"),
            (Payment.objects.filter(sold_in__cashier=person, sold_in__closed_at=None, is_cash=True), "sold_in"),
        )
    ]
    return [Shift.objects.filter(cashier=person, closed_at=None).select_related("drawer"), *sums]


def own_drawer_of(shifts: list[Shift], entered: list[Any], sold: list[Any]) -> OwnDrawer:
    """The drawer, from the answers to `own_drawer_questions`."""
    return OwnDrawer(shifts[0] if shifts else None, sum(int(cash) for _shift, cash in (*entered, *sold)))
