"""The disk of one of our installations is nearly full. On a full disk nothing can be stored, orders included."""

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words
from alerts.models import Severity
from core import heartbeats
from core.rights import Right

_LEAST_FREE_BYTES = 1_000_000_000


class DiskLow(AlertKind, permission=Right.VIEW_ORDERS):
    """One for each installation. Each process reports the free space of its disk with its heartbeat."""

    def reasons(self, now: Now) -> list[Reason]:
        free = {beat.place: beat.free for beat in heartbeats.read().beats if beat.is_alive}
        return [
            Reason(key=place[:100], severity=Severity.CRITICAL, facts={"place": place, "free": free[place]})
            for place in sorted(free)
            if free[place] < _LEAST_FREE_BYTES
        ]

    def words(self, facts: Facts, person: Person) -> Words:
        return Words(
            title=_("The disk of %(place)s is nearly full.") % {"place": facts.get("place", "?")},
            facts=_("%(free)s are free. A full disk stops every sale.")
            % {"free": filesizeformat(facts.get("free", 0))},
            next_step=_("Have the person who runs the server make room."),
        )
