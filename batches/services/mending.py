"""Corrects rows of a batch that nobody has released: one row, or all with the same fault."""

from collections.abc import Collection

from django.db import transaction
from django.db.models import QuerySet

from audit.services import record
from batches.errors import BatchRefused
from batches.events import BATCH_CHANGED
from batches.models import GIVEN_UP, TICKED, UNTICKED, Batch, BatchRow
from batches.services.checking import recheck
from batches.services.reading import split_name
from batches.services.releasing import lock_batch, refuse_unless_open
from batches.states import ASKED_AGAIN, OF_PRODUCT, REPEATS, Fault, RowState
from catalogue.services.index import current_index
from core.bulk import update_rows
from purchases.models import Order
from staff.models import User

#: The steps with rows, besides giving them a product.
LEAVE_OUT, TAKE_IN, MEANT, NAMES, ASK_AGAIN = "leave_out", "take_in", "meant", "names", "ask_again"
STEPS = frozenset({LEAVE_OUT, TAKE_IN, MEANT, NAMES, ASK_AGAIN})
_UNREAD = "unread"


def change_row(row: BatchRow, *, number: str, what: str, actor: User) -> None:
    """Write the number and the product of one row again, and check the whole batch. Raises `BatchRefused`."""
    with transaction.atomic():
        batch = lock_batch(row.batch_id)
        refuse_unless_open(batch)
        written = {"typed": number.strip()[:100], "what": what.strip()[:100]}
        meant = {"is_repeat_meant": False, "is_twice_meant": False}
        batch.rows.filter(pk=row.pk).update(**written, **meant, state=RowState.WRONG, fault=_UNREAD, said="")
        _check_again(batch, actor, rows=1, step="change")


def mend_all(batch: Batch, *, step: str, actor: User, fault: str = "", line: int | None = None, code: str = "") -> int:
    """Take the same step with all rows that have this fault, or with the row of one `line`; return how many.

    `step`: `LEAVE_OUT`, `TAKE_IN` (a row that was left out), `MEANT` (meant a second time), `NAMES` (the words after
    the product are a name), `ASK_AGAIN` (a new check of the bill). With any other step, all rows get the product
    `code`, in the words of a row, each from its number's own operator. Raises `BatchRefused`.
    """
    with transaction.atomic():
        current = lock_batch(batch.pk)
        refuse_unless_open(current)
        given: list[int] = []
        rows = _chosen(current, fault, line, RowState.LEFT_OUT if step == TAKE_IN else None)
        match step:
            case "leave_out":
                count = rows.update(state=RowState.LEFT_OUT)
            case "take_in":
                count = rows.update(state=RowState.WRONG, fault=_UNREAD, said="")
            case "meant":
                twice = rows.filter(fault=Fault.TWICE).exclude(kind=Order.Kind.BILL)
                count = rows.filter(fault__in=[*REPEATS]).update(is_repeat_meant=True)
                count += twice.update(is_twice_meant=True)
                if not count:
                    raise BatchRefused("not_repeatable")
            case "ask_again":
                count = rows.filter(fault__in=[*ASKED_AGAIN]).update(bill_check=None)
                if fault == Fault.ASKING:  # nobody waits for it any more, but the answer may have come meanwhile
                    count = current.rows.filter(GIVEN_UP).update(state=RowState.WRONG, fault=_UNREAD)
            case "names":
                count = _take_names(rows)
            case _:
                given = [*rows.filter(fault__in=[*OF_PRODUCT]).values_list("pk", flat=True)]
                # Nobody has said that the other product is meant a second time.
                meant = {"is_repeat_meant": False, "is_twice_meant": False}
                count = current.rows.filter(pk__in=given).update(what=code[:100], **meant)
        _check_again(current, actor, rows=count, step=step)
        if given and not current.rows.filter(pk__in=given, product__isnull=False).exists():
            raise BatchRefused("no_product")  # the row stays as it was written
    return count


def tick(batch: Batch, *, actor: User, ticked: Collection[int], shown: Collection[int] | None = None) -> int:
    """Tick exactly the `ticked` lines among the `shown` lines, or among all; return how many ticks have changed.

    Only bills that can be paid have a tick. Raises `BatchRefused`.
    """
    with transaction.atomic():
        current = lock_batch(batch.pk)
        refuse_unless_open(current)
        rows = current.rows.filter(TICKED | UNTICKED)
        rows = rows if shown is None else rows.filter(line__in=shown)
        count = rows.filter(TICKED).exclude(line__in=ticked).update(state=RowState.LEFT_OUT)
        count += rows.filter(UNTICKED, line__in=ticked).update(state=RowState.WRONG, fault=_UNREAD)
        if count:
            _check_again(current, actor, rows=count, step="tick")
    return count


def _take_names(rows: QuerySet[BatchRow]) -> int:
    named, index = [*rows.filter(fault=Fault.NAME_BEHIND)], current_index()
    for row in named:
        row.what, name = split_name(row.what, index)
        row.name = ", ".join(filter(None, (name, row.name)))[:120]
    update_rows(named, ("what", "name"))
    return len(named)


def _chosen(batch: Batch, fault: str, line: int | None, state: RowState | None) -> QuerySet[BatchRow]:
    states = [state] if state else [RowState.READY, RowState.WRONG]
    rows = batch.rows.filter(state__in=states)
    if line is not None:
        return rows.filter(line=line)
    return rows.filter(fault=fault) if fault in Fault.values else rows.none()


def _check_again(batch: Batch, actor: User, *, rows: int, step: str) -> None:
    recheck(batch)
    record(BATCH_CHANGED, actor=actor, subject=str(batch.pk), facts={"rows": rows, "step": step})
