"""Batches that go no further: stopped, paused, forgotten after their check, or with waiting rows or queued orders."""

import datetime as dt
from collections.abc import Collection
from typing import Any, NamedTuple

from django.db.models import (
    CharField,
    Count,
    DateTimeField,
    Exists,
    ExpressionWrapper,
    F,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Sum,
    Value,
)
from django.db.models.functions import Cast, Coalesce
from django.utils.formats import number_format
from django.utils.translation import gettext, gettext_lazy as _, ngettext, npgettext_lazy, pgettext, pgettext_lazy

from approvals.models import Approval
from batches.models import NEVER_ORDERED, Batch, BatchRow
from batches.presenting import why_stopped
from batches.services.releasing import BATCH
from batches.states import BatchState, RowState
from core.money import rupiah
from core.rights import Right
from core.times import short_time
from purchases.models import Order, late_since
from purchases.states import Status
from staff.models import User
from work.kinds.kind import Line, Moment, Scope, WorkKind

# A batch is usually released, or its release asked for, on the day of its check.
_FORGOTTEN = ExpressionWrapper(F("created_at") + Value(dt.timedelta(days=1)), output_field=DateTimeField())


class Batches(WorkKind):
    """One row for each batch, for any number of waiting orders."""

    code = "batch"
    words = _("Batches that wait")
    counted = npgettext_lazy("work", "%(n)s batch", "%(n)s batches", "n")
    step = pgettext_lazy("work", "Open it")
    look = ("table-import", "held")
    sees = (Right.VIEW_PRODUCT, Right.BUY, Right.RELEASE_BATCHES)
    does = (Right.RELEASE_BATCHES,)
    within = dt.timedelta(hours=1)
    branch = "branch"

    def rows(self, moment: Moment, scope: Scope) -> QuerySet[Any]:
        """Batches that are paused, owe money, say which rows wait, or have orders that several tries have not sent; and
        batches that were checked more than a day ago, and neither released, cancelled nor asked for.
        """
        paused = Batch.objects.filter(state=BatchState.PAUSED)
        rows_wait = Batch.objects.filter(state=BatchState.RUNNING, stopped_by__gt="")
        unsent = Order.objects.unsent(lately=moment.lately).filter(batch_row__isnull=False)
        owing = Batch.objects.filter(owes_back=True)
        subject = Cast(OuterRef("pk"), CharField())
        checked = Batch.objects.filter(
            ~Exists(Approval.objects.open().filter(act=BATCH, subject=subject)), state=BatchState.CHECKED
        )
        forgotten = checked.alias(forgotten=_FORGOTTEN).filter(forgotten__lt=moment.lately)
        # Each part uses its own index: joined by OR, PostgreSQL would read every batch.
        others = (rows_wait.values("pk"), unsent.values("batch_row__batch"), owing.values("pk"), forgotten.values("pk"))
        keys = paused.values("pk").union(*others, all=True)
        return Batch.objects.filter(pk__in=keys).annotate(since=Coalesce("released_at", _FORGOTTEN))

    def lines(self, keys: Collection[int], person: User) -> dict[int, Line]:
        """The batch, the reason why it goes no further, the number of waiting orders, and the money that it owes."""
        waiting, owed = _waiting(keys), _owed(keys)
        return {
            batch.pk: Line(
                subject=" · ".join(filter(None, (f"{gettext('Batch')} {batch.pk}", batch.name))),
                url=batch.get_absolute_url(),
                about=" · ".join(
                    filter(None, (_why(batch), _waiting_words(waiting.get(batch.pk)), owed.get(batch.pk)))
                ),
                step=pgettext("work", "Resume") if batch.state == BatchState.PAUSED and batch.stopped_by else "",
            )
            for batch in Batch.objects.filter(pk__in=keys)
        }


class _Waiting(NamedTuple):
    """The number of unsent rows of a batch.

    `since`: the time of the first queued order that several tries have not sent; None without such an order.
    """

    unsent: int
    since: dt.datetime | None


def _waiting(keys: Collection[int]) -> dict[int, _Waiting]:
    queued = Q(order__status=Status.QUEUED)
    rows = BatchRow.objects.filter(queued | Q(state=RowState.READY), batch__in=keys)
    unsent = Q(order__in=Order.objects.unsent(lately=late_since()["lately"]))
    since = Min("order__created_at", filter=unsent)
    counts = rows.order_by().values_list("batch").annotate(unsent=Count("pk"), since=since)
    return {batch: _Waiting(count, at) for batch, count, at in counts}


def _owed(keys: Collection[int]) -> dict[int, str]:
    """For each batch that owes money, the words that say how much."""
    rows = BatchRow.objects.filter(NEVER_ORDERED, batch__in=keys, batch__owes_back=True)
    sums = rows.order_by().values_list("batch").annotate(pays=Sum("selling_price"))
    return {batch: gettext("Give back %(sum)s: paid, and never sold") % {"sum": rupiah(pays)} for batch, pays in sums}


def _why(batch: Batch) -> str:
    if batch.state == BatchState.PAUSED and not batch.stopped_by:
        return gettext("A person has paused it")
    if batch.state == BatchState.CHECKED:
        return gettext("Checked on %(at)s, and neither released nor cancelled") % {"at": short_time(batch.created_at)}
    return why_stopped(batch) if batch.stopped_by else ""


def _waiting_words(waiting: _Waiting | None) -> str:
    if waiting is None:
        return ""
    count = number_format(waiting.unsent, force_grouping=True)
    if waiting.since is None:
        words = ngettext("%(n)s order is not sent", "%(n)s orders are not sent", waiting.unsent)
        return words % {"n": count}
    words = ngettext("%(n)s order waits since %(at)s", "%(n)s orders wait since %(at)s", waiting.unsent)
    return words % {"n": count, "at": short_time(waiting.since)}
