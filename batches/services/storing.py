"""Stores a checked table as a batch. The ref_id of each row is made here, once."""

from collections.abc import Collection, Sequence

from django.db import connection, transaction
from django.db.models import Q
from django.utils.translation import gettext

from audit.services import record
from batches.errors import BatchRefused
from batches.events import BATCH_CHECKED
from batches.models import DROPPED, GROUPS, Batch, BatchRow, BatchRowQuerySet
from batches.services.checking import ask_when_due, check_rows
from batches.services.reading import Written, digest_of, read_rows
from batches.services.releasing import end, lock_batch
from batches.states import BatchState, RowState
from branches.services import first_open, keep_open
from dues.models import OWES, DueBill
from purchases.services.placing import new_ref_id
from staff.models import User

# An advisory lock: without it, the same table twice at the same moment would become two batches.
_LOCK = 0x62617463686573
# Rows without the sale that they asked for.
NOT_SERVED = GROUPS["failed"] | GROUPS["wrong"] | Q(state=RowState.CANCELLED)


def check_table(text: str, *, name: str, actor: User | None, meant_again: bool = False) -> tuple[Batch, bool]:
    """The batch of this table, checked, and whether it is a new one.

    The same table again, in any format, gives the earlier batch in any state, and sells nothing. `meant_again`: a
    person wants to sell all of it again, under new ref_ids; while nobody has released the last batch, that batch is
    returned. A batch that was cancelled before anybody released it does not count. Raises `SheetRefused`.
    """
    rows = read_rows(text)
    return _store(rows, sha256=digest_of(rows), name=name, actor=actor, meant_again=meant_again)


def again(batch: Batch, *, actor: User | None) -> tuple[Batch, bool]:
    """A new batch of the rows that have failed, were cancelled or never corrected, under new ref_ids.

    Each row is tried again once: a second call returns the batch that has it. Raises `BatchRefused` without such rows,
    before the release, and when the texts of the rows are gone.
    """
    with transaction.atomic():
        current = lock_batch(batch.pk)
        if current.texts_gone_at:
            raise BatchRefused("texts_gone")
        failed = list(not_served(current).order_by("line")) if current.is_released else []
        if not failed:
            before = current.again.filter(~DROPPED).order_by("-pk").first()
            if before is None:
                raise BatchRefused("no_failed")
            return before, False
        rows = [Written(row.line, row.typed, row.what, row.name, row.note, row.reference) for row in failed]
        digest = digest_of([Written(current.pk, row.ref_id, "") for row in failed])
        other = _store(rows, sha256=digest, name=current.name, actor=actor, again_of=current)
        if current.state == BatchState.PAUSED:
            end(current)  # none of it waits for a person any more
    return other


def not_served(batch: Batch) -> BatchRowQuerySet:
    """The rows of a batch without the sale that they asked for, except those that a later batch tries again."""
    return batch.rows.filter(NOT_SERVED).not_tried_again()


def batch_of_due(numbers: Collection[int], *, actor: User) -> tuple[Batch, bool]:
    """The batch of the bills due of these saved numbers (keys), and whether it is new. Only a release pays them.

    Only bills that are owed now are taken. The same bills again give the same batch; those of the next month, or of a
    number that was corrected meanwhile, give another. Raises `BatchRefused` when none is owed.
    """
    owed = DueBill.objects.open().standing_at(*OWES).filter(number__in=numbers, number__product__isnull=False)
    bills = list(owed.select_related("number__customer", "number__product").order_by("due_on", "pk"))
    if not bills:
        raise BatchRefused("none_due")
    rows = [
        Written(line, bill.number.destination, bill.number.product.code, bill.number.customer.name)  # type: ignore[union-attr] # filtered
        for line, bill in enumerate(bills, 1)
    ]
    digest = digest_of(
        [Written(0, f"due {bill.pk}", row.number, row.what) for bill, row in zip(bills, rows, strict=True)]
    )
    return _store(rows, sha256=digest, name=gettext("Bills due"), actor=actor)


def _store(
    rows: Sequence[Written],
    *,
    sha256: str,
    name: str,
    actor: User | None,
    meant_again: bool = False,
    again_of: Batch | None = None,
) -> tuple[Batch, bool]:
    branch = actor.sells_in if actor else first_open()
    if again_of and again_of.branch.closed_at is None:
        branch = again_of.branch_id
    with transaction.atomic():
        keep_open(branch)
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        before = Batch.objects.filter(branch=branch, sha256=sha256).order_by("-nth").first()
        is_dropped = before is not None and before.state == BatchState.CANCELLED and not before.is_released
        is_once_more = meant_again and before is not None and before.state != BatchState.CHECKED
        if before and not (is_dropped or is_once_more):
            return before, False
        batch = Batch.objects.create(
            name=name.strip()[:100],
            branch_id=branch,
            sha256=sha256,
            nth=before.nth + 1 if before else 1,
            again_of=again_of,
            created_by=actor,
        )
        kept = [_row(batch, written, meant_again=meant_again) for written in rows]
        check_rows(kept, batch)
        BatchRow.objects.bulk_create(kept, batch_size=1000)
        ask_when_due(batch)
        batch.save(update_fields=["next_at"])
        record(BATCH_CHECKED, actor=actor, subject=str(batch.pk), facts={"rows": len(kept)})
    return batch, True


def _row(batch: Batch, written: Written, *, meant_again: bool) -> BatchRow:
    return BatchRow(
        batch=batch,
        line=written.line,
        typed=written.number,
        what=written.what,
        name=written.name,
        note=written.note,
        reference=written.reference,
        is_repeat_meant=meant_again,
        state=RowState.WRONG,
        fault="unread",
        ref_id=new_ref_id(),
    )
