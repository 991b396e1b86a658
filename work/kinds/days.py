"""Days that are over and not signed: the first one of each branch, with the number of the later ones."""

from collections.abc import Collection
from typing import Any

from django.conf import settings
from django.db.models import Count, DateTimeField, Exists, F, Func, OuterRef, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _, ngettext, npgettext_lazy, pgettext_lazy

from core.rights import Right
from core.times import short_day
from drawers.models import DrawerDay
from staff.models import User
from work.kinds.kind import Line, Moment, Scope, WorkKind

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
    one = _("Day to sign")
    counted = npgettext_lazy("work", "%(n)s day to sign", "%(n)s days to sign", "n")
    step = pgettext_lazy("work", "Sign")
    look = ("calendar-check", "queued")
    sees = (Right.VIEW_SHIFTS,)
    does = (Right.SIGN_DAYS,)
    branch = "branch"

    def rows(self, moment: Moment, scope: Scope) -> QuerySet[Any]:
        """The first unsigned day before today of each branch: many unsigned days would hide all other work."""
        earlier = DrawerDay.objects.filter(signed_at=None, branch=OuterRef("branch"), day__lt=OuterRef("day"))
        unsigned = DrawerDay.objects.filter(signed_at=None, day__lt=moment.today)
        return unsigned.exclude(Exists(earlier)).annotate(since=_OVER)

    def lines(self, keys: Collection[int], person: User) -> dict[int, Line]:
        """The day, and the number of later ones; for people who may sign, the link opens the form that signs it."""
        page = "drawer_day_sign" if self.may_do(person) else "drawer_day"
        days = DrawerDay.objects.filter(pk__in=keys)
        unsigned = DrawerDay.objects.filter(signed_at=None, day__lt=timezone.localdate())
        counted = unsigned.filter(branch__in=days.values("branch")).values_list("branch").annotate(Count("pk"))
        following = {branch: count - 1 for branch, count in counted}
        return {
            day.pk: Line(
                subject=short_day(day.day),
                url=day.of_branch(reverse(page, args=[day.day.isoformat()])),
                about=_more(following.get(day.branch_id, 0)),
            )
            for day in days
        }


def _more(count: int) -> str:
    return ngettext("and %(n)s later day", "and %(n)s later days", count) % {"n": count} if count else ""
