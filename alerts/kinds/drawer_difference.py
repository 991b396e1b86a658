"""A drawer was closed with a large difference."""

import datetime as dt

from django.conf import settings
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, may
from core.money import signed_rupiah
from drawers.models import Shift

# A day that nobody signs is forgotten here after this.
_FOR = dt.timedelta(days=7)


class DrawerDifference(AlertKind, permission="drawers.view_shifts"):
    """One for each shift, until an owner has signed its day."""

    def reasons(self, now: Now) -> list[Reason]:
        limit = settings.DRAWER_DIFFERENCE_LIMIT
        # No shift is open for weeks: the index of the openings bounds what is read.
        lately = Shift.objects.filter(opened_at__gt=now.time - 2 * _FOR, closed_at__gt=now.time - _FOR)
        large = lately.filter(Q(difference__gt=limit) | Q(difference__lt=-limit), day__signed_at=None)
        return [
            Reason(
                key=str(shift.pk),
                facts={
                    "shift": shift.pk,
                    "drawer": shift.drawer.name,
                    "name": shift.cashier.shown_name,
                    "difference": shift.difference,
                },
            )
            for shift in large.select_related("drawer", "cashier").order_by("pk")[:50]
        ]

    def words(self, facts: Facts, person: Person) -> Words:
        names = {"drawer": facts.get("drawer", "–"), "name": facts.get("name", "–")}
        return Words(
            title=_("The drawer “%(drawer)s” was closed with a large difference.") % names,
            facts=_("%(name)s: %(amount)s.") % {**names, "amount": signed_rupiah(int(facts.get("difference", 0)))},
            next_step=_("Look into it, then sign the day.")
            if may(person, "drawers.sign_day")
            else _("Look into it with the cashier."),
            url=reverse("shift_detail", args=[facts["shift"]]) if "shift" in facts else reverse("shift_list"),
        )
