"""The sums of a day that is over are not those of its orders and entries."""

from django.urls import reverse
from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words
from alerts.models import Severity
from core.rights import Right
from core.times import day_words


class DaySumsOff(AlertKind, permission=Right.VIEW_SHIFTS):
    """The last proof of a day found its sums wrong."""

    def reasons(self, now: Now) -> list[Reason]:
        days = [day.day.isoformat() for day in now.wrong_days]
        return [Reason(severity=Severity.CRITICAL, facts={"days": days})] if days else []

    def words(self, facts: Facts, person: Person) -> Words:
        days = ", ".join(day_words(day) for day in facts.get("days", []))
        return Words(
            title=_("The sums of a day were changed: %(days)s.") % {"days": days},
            facts=_("The pages show these days from their orders. Somebody changed rows in the database itself."),
            next_step=_("Have the person who runs the server look into it, then have these days summed again."),
            url=reverse("earnings"),
        )
