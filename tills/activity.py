"""Shows tills in the activity log."""

from django.utils.translation import gettext_lazy, pgettext_lazy

from audit.facts import Fact, choice_of, money, name_codes, name_facts
from audit.subjects import ANY, About, Seen, Subject, register
from core.rights import Right
from tills.models import PrinterWay, Till


class _TillNames(Subject):
    """Tills by their names at that time; the number is a fact."""

    def about(self, key: str, seen: Seen) -> About:
        number = seen.facts.get("till")
        return About(key, self.url(seen.reader, number) if isinstance(number, int) else "")


_page = ("till_detail", Right.ENROL_TILLS)
name_facts(
    pin_limit=Fact(pgettext_lazy("audit", "Limit by PIN"), money),
    printer=Fact(gettext_lazy("Receipt printer"), choice_of(PrinterWay)),
    till=Fact(pgettext_lazy("audit", "Till"), of="till"),
)
name_codes(
    "because",
    ended=pgettext_lazy("audit", "session ended"),
    more=pgettext_lazy("audit", "password sign-in for more"),
    next=pgettext_lazy("audit", "next person"),
    till=pgettext_lazy("audit", "till left"),
)
register(
    Subject("till", pgettext_lazy("audit", "Till no. %(number)s"), *_page, model=Till),
    _TillNames("till_name", "", *_page, keys=ANY),
)
