"""A drawer was closed with a large difference, or opened with one against what was left in it."""

import datetime as dt
from collections.abc import Iterator

from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, may
from core.money import signed_rupiah
from core.rights import Right
from drawers.models import Shift
from policies.services import policies

# The alert ends this long after the count, even if nobody has signed the day.
_FOR = dt.timedelta(days=7)


class DrawerDifference(AlertKind, permission=Right.VIEW_SHIFTS, of_branch=True):
    """One for each count of a shift, at its beginning and at its end, until an owner has signed its day."""

    def reasons(self, now: Now) -> list[Reason]:
        limit, since = policies().drawer_difference_limit, now.time - _FOR
        # No shift stays open for weeks, so a range of the index of openings has all of them.
        lately = Shift.objects.filter(opened_at__gt=since - _FOR).annotate(began_off=F("opening") - F("left_before"))
        closed_off = Q(closed_at__gt=since) & (Q(difference__gt=limit) | Q(difference__lt=-limit))
        opened_off = Q(opened_at__gt=since) & (Q(began_off__gt=limit) | Q(began_off__lt=-limit))
        large = lately.filter(opened_off | closed_off, day__signed_at=None)
        shifts = large.select_related("drawer", "cashier").order_by("pk")[:50]
        return [reason for shift in shifts for reason in _reasons_of(shift, limit)]

    def words(self, facts: Facts, person: Person) -> Words:
        names = {"drawer": facts.get("drawer", "–"), "name": facts.get("name", "–")}
        return Words(
            title=_("The drawer “%(drawer)s” was opened with a large difference against what was left.") % names
            if facts.get("is_opening")
            else _("The drawer “%(drawer)s” was closed with a large difference.") % names,
            facts=_("%(name)s: %(amount)s.") % {**names, "amount": signed_rupiah(int(facts.get("difference", 0)))},
            next_step=_("Look into it, then sign the day.")
            if may(person, Right.SIGN_DAYS)
            else _("Look into it with the cashier."),
            url=reverse("shift_detail", args=[facts["shift"]]) if "shift" in facts else reverse("shift_list"),
        )


def _reasons_of(shift: Shift, limit: int) -> Iterator[Reason]:
    """The facts of one shift: its opening, its closing, or both. The key of a closing is the shift's alone."""
    facts = {"shift": shift.pk, "drawer": shift.drawer.name, "name": shift.cashier.shown_name}
    facts["branch"] = shift.drawer.branch_id
    if abs(shift.opening_difference) > limit:
        yield Reason(
            key=f"{shift.pk}-opening", facts={**facts, "difference": shift.opening_difference, "is_opening": True}
        )
    if abs(shift.difference or 0) > limit:
        yield Reason(key=str(shift.pk), facts={**facts, "difference": shift.difference})
