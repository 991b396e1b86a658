"""Days that are over and not signed."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from babel.dates import format_date
from django.conf import settings
from django.db.models import DateTimeField, F, Func, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from core.rights import Right
from core.times import active_locale
from drawers.models import DrawerDay
from work.kinds.kind import Line, Moment, Scope, WorkKind

if TYPE_CHECKING:
    from staff.models import User


# Midnight at which the shop's day is over.
_OVER = Func(
    F("day"),
    template=f"((%(expressions)s + 1)::timestamp AT TIME ZONE '{settings.TIME_ZONE}')",
    output_field=DateTimeField(),
)


class Days(WorkKind):
    """The closing of a day, once it is over."""

    code = "day"
    words = _("Days to sign")
    step = pgettext_lazy("work", "Sign")
    look = ("calendar-check", "queued")
    sees = (Right.VIEW_SHIFTS,)
    does = (Right.SIGN_DAYS,)
    branch = "branch"

    def rows(self, moment: Moment, scope: Scope) -> QuerySet[Any]:
        """Unsigned ones before today."""
        return DrawerDay.objects.filter(signed_at=None, day__lt=moment.today).annotate(since=_OVER)

    def lines(self, keys: Collection[int], person: User) -> dict[int, Line]:
        """Which day; for an owner with the form that signs it, if it can be signed now."""
        page = "drawer_day_sign" if self.may_do(person) else "drawer_day"
        return {
            day.pk: Line(
                subject=str(format_date(day.day, "EEEE, d MMMM yyyy", locale=active_locale())),
                url=day.of_branch(reverse(page, args=[day.day.isoformat()])),
            )
            for day in DrawerDay.objects.filter(pk__in=keys)
        }
