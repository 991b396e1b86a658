"""Shows drawers, shifts and days in the activity log."""

from django.utils.translation import pgettext_lazy

from audit.facts import Fact, money, name_codes, name_facts
from audit.subjects import About, Seen, Subject, register
from core.rights import Right
from core.times import day_words
from credit.methods import method_words
from drawers.models import Drawer


class _Days(Subject):
    """Days by their dates."""

    def about(self, key: str, seen: Seen) -> About | None:
        day = day_words(key)
        return About(day, self.url(seen.reader, key)) if day else None


_drawer, _shift = pgettext_lazy("audit", "Drawer no. %(number)s"), pgettext_lazy("audit", "Shift no. %(number)s")
name_facts(
    account_of=Fact(pgettext_lazy("audit", "On credit of customer no.")),
    counted=Fact(pgettext_lazy("audit", "Counted"), money),
    difference=Fact(pgettext_lazy("audit", "Difference"), money),
    drawer=Fact(pgettext_lazy("audit", "Drawer")),
    expected=Fact(pgettext_lazy("audit", "Expected"), money),
    left=Fact(pgettext_lazy("audit", "Left by the last shift"), money),
    method=Fact(pgettext_lazy("audit", "Given back by"), method_words),
    paid_by=Fact(pgettext_lazy("audit", "Paid by"), method_words),
    shift=Fact(pgettext_lazy("audit", "Shift")),
    shifts=Fact(pgettext_lazy("audit", "Shifts")),
)
name_codes("by", password=pgettext_lazy("audit", "password"), pin=pgettext_lazy("audit", "PIN"))
register(
    Subject("drawer", _drawer, "drawer_change", Right.MANAGE_DRAWERS, model=Drawer),
    Subject("shift", _shift, "shift_detail", Right.VIEW_SHIFTS),
    _Days("day", "", "drawer_day", Right.VIEW_SHIFTS, keys=r"\d{4}-\d\d-\d\d"),
)
