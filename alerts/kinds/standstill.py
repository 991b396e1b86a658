"""Background work waits and does not go on, although the processes live."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.formats import number_format
from django.utils.translation import gettext as _, ngettext_lazy

from alerts.kinds.kind import AlertKind, Facts, Now, Person, Reason, Words, at
from alerts.models import Severity
from batches.models import ASKING, BatchRow
from batches.services import DUE_BATCHES
from batches.states import RowState
from bills.models import BillCheck
from bills.services import DUE_CHECKS
from callbacks.models import Callback
from callbacks.services import DUE_CALLBACKS
from core import heartbeats
from core.rights import Right
from gateway.dispatching import Due, first_moments
from gateway.models import UpstreamAccount
from gateway.standing import standing_of
from purchases.models import Order
from purchases.services import DUE_ORDERS

# Work that was handed out is leased for a minute, so this time allows three tries. Work that was leased or put back
# falls due again within it.
AFTER = dt.timedelta(minutes=3)


@dataclass(frozen=True)
class _Work:
    """One kind of background work. `rows(until)`: what falls due until then; `words`: how many, in words."""

    due: Due
    rows: Callable[[dt.datetime], QuerySet[Any]]
    words: Any


_WORKS = {
    "orders": _Work(
        DUE_ORDERS,
        lambda until: Order.objects.filter(next_poll_at__lte=until),
        ngettext_lazy("%(n)s order", "%(n)s orders", "count"),
    ),
    "checks": _Work(
        DUE_CHECKS,
        lambda until: BillCheck.objects.filter(next_poll_at__lte=until),
        ngettext_lazy("%(n)s bill to be checked", "%(n)s bills to be checked", "count"),
    ),
    "rows": _Work(
        DUE_BATCHES,
        lambda until: BatchRow.objects.filter(Q(state=RowState.READY) | ASKING, batch__next_at__lte=until),
        ngettext_lazy("%(n)s row of a batch", "%(n)s rows of batches", "count"),
    ),
    "callbacks": _Work(
        DUE_CALLBACKS,
        lambda _until: Callback.objects.due(),
        ngettext_lazy("%(n)s callback", "%(n)s callbacks", "count"),
    ),
}


def standing_still(now: Now) -> list[Reason]:
    """The one reason while some due work has not gone on for `AFTER`, else nothing.

    Work that goes on is no reason, however much of it waits. Work that asks the upstream does not count while the
    upstream cannot be asked, or nothing may be spent. Raises `redis.RedisError`.
    """
    account = now.the(UpstreamAccount)
    is_stopped = bool(account.refused_since or account.unreachable_since or account.is_held)
    works = {code: work for code, work in _WORKS.items() if not (is_stopped and work.due.asks_upstream)}
    first_due = dict(first_moments([work.due for work in works.values()]))
    since = {code: _still_since(work.due, first_due.get(work.due), now.time) for code, work in works.items()}
    still = {code: moment for code, moment in since.items() if moment and now.time - moment >= AFTER}
    waiting = {code: count for code in still if (count := works[code].rows(now.time + AFTER).count())}
    if not waiting:
        return []
    facts = {"since": min(still[code] for code in waiting).isoformat(), "waiting": waiting}
    return [Reason(severity=Severity.CRITICAL, facts=facts)]


def _still_since(due: Due, first_due: dt.datetime | None, now: dt.datetime) -> dt.datetime | None:
    """The time since which work has waited and none has gone on; None if none waits."""
    standing = standing_of(due.tasks)
    begins = [moment for moment in (standing.handed_out_at, first_due) if moment and moment <= now]
    return max(min(begins), standing.gone_on_at or min(begins)) if begins else None


class Standstill(AlertKind, permission=Right.VIEW_ORDERS):
    """One alert for all kinds of work. A process without a heartbeat has an alert of its own."""

    def reasons(self, now: Now) -> list[Reason]:
        pulse = heartbeats.read()
        return [] if pulse.is_starting or pulse.silent() else standing_still(now)

    def words(self, facts: Facts, person: Person) -> Words:
        counts = facts.get("waiting", {})
        what = [
            str(work.words % {"count": counts[code], "n": number_format(counts[code], force_grouping=True)})
            for code, work in _WORKS.items()
            if code in counts
        ]
        return Words(
            title=_("Background work stands still."),
            facts=_("Waiting: %(what)s. Nothing has gone on since %(since)s, although the processes live.")
            % {"what": ", ".join(what) or "–", "since": at(facts, "since")},
            next_step=_(
                "Have the person who runs the server call ./run doctor and look at the load of the machine. "
                "Nothing is lost: it goes on by itself as soon as it can."
            ),
        )
