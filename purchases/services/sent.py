"""The journal of what is sent: before a request that spends goes out, a line has all facts of its order.

So a shop that is restored from a backup finds the orders that the backup does not know (`purchases.services.lost`).
The lines are in `SENT_FOLDER`, and the launcher copies them to where the backups go.
"""

import datetime as dt
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import DatabaseError, connection

from core.disk_lines import DiskLines
from gateway.services import note_unwritten, note_written
from purchases.models import Order

log = structlog.get_logger()

# Our account, the seller, the payment and the approval of the order, as the line has them. The claim reads this value
# together with the order's lock, because each sending needs it. Migration 0010_sent_paid_at_once makes the function.
BESIDE = "purchases_sent_beside(payment_id)"
# The bill as the customer confirmed it.
_BILL = (
    *("customer_name", "period", "details", "months", "amount", "admin_fee", "penalty", "total"),
    *("expires_at", "answered_at", "created_at"),
)
_ORDER = (
    *("ref_id", "kind", "product_code", "product_name", "destination", "max_price", "selling_price", "fee"),
    *("idempotency_key", "attempt", "created_at"),
)


@cache
def _journal(folder: Path) -> DiskLines:
    return DiskLines(folder)


def begin_line(order: Order, beside: Mapping[str, Any]) -> Future[bool]:
    """Start to write the line of this sending, at the same time as the commit of its claim; `end_line` waits for it.

    `beside`: the value of `BESIDE` for this order.
    """
    text = json.dumps(line_of(order, beside), cls=DjangoJSONEncoder, ensure_ascii=False, separators=(",", ":"))
    return _journal(settings.SENT_FOLDER).begin(text)


@cache
def _late() -> ThreadPoolExecutor:
    """A thread that notes which lines came late, so that the thread that writes them never waits for the database."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="late-lines")


def end_line(line: Future[bool], order: Order) -> None:
    """Wait a moment until the line is on the disk.

    A line that is not there is noted for an alert until it comes, and does not stop the sale.
    """
    ref_id = order.ref_id
    if not _journal(settings.SENT_FOLDER).is_written(line):
        note_unwritten(ref_id)
        log.error("sent_without_its_line", ref_id=ref_id)
        # Only now, so that it runs after the note; if the line has come meanwhile, it runs at once.
        line.add_done_callback(partial(_note_if_written, ref_id))


def _note_if_written(ref_id: str, line: Future[bool]) -> None:
    if line.result():
        _late().submit(_note_late, ref_id)


def _note_late(ref_id: str) -> None:
    """Note that the line has come. Without the database the alert stays until its time is over."""
    try:
        note_written(ref_id)
        log.info("line_came_late", ref_id=ref_id)
    except DatabaseError as error:
        log.warning("late_line_not_noted", ref_id=ref_id, fault=type(error).__name__)
    finally:
        connection.close()


def line_of(order: Order, beside: Mapping[str, Any]) -> dict[str, Any]:
    """Everything from which the order can be made again: rupiah, keys of our rows, times of the database's clock."""
    bill = getattr(order, "bill_check", None) if order.kind == Order.Kind.BILL else None
    return {
        "time": order.sent_at,
        **{name: getattr(order, name) for name in _ORDER},
        "seller": order.placed_by_id,
        **beside,
        "bill": {name: getattr(bill, name) for name in _BILL} if bill else None,
    }


def uncopied_since(*, before: dt.datetime) -> dt.datetime | None:
    """The time of the first line that is not copied yet to where the backups go, if it is from before this time.

    None if it is newer, or if no lines are copied at all.
    """
    if not settings.BACKUP_TO:
        return None
    copied = _written_at(settings.SENT_FOLDER / "copied")
    if copied >= before:  # the lines are read only if the copy is late
        return None
    days = [day for day in sorted(settings.SENT_FOLDER.glob("????????.jsonl")) if _written_at(day) > copied]
    times = (dt.datetime.fromisoformat(line["time"]) for day in days for line in _lines_of(day))
    # A line may be written later than its time says: without a newer one the time of the file counts.
    first = next((time for time in times if time > copied), _written_at(days[-1]) if days else before)
    return first if first < before else None


def _written_at(path: Path) -> dt.datetime:
    """The time of the last change of this file; 1970 without one."""
    return dt.datetime.fromtimestamp(path.stat().st_mtime if path.exists() else 0, dt.UTC)


def read_lines(folder: Path, *, account: str) -> dict[str, dict[str, Any]]:
    """The last line of each ref_id in the files of this folder.

    `account`: the hash of our account at the upstream. Lines of another account, and a line that was cut off, are left
    out.
    """
    lines: dict[str, dict[str, Any]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        for line in _lines_of(path):
            before = lines.get(line["ref_id"])
            if line["account"] == account and (before is None or before["time"] <= line["time"]):
                lines[line["ref_id"]] = line
    return lines


def _lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of this file, but those that were cut off."""
    with path.open("rb") as texts:
        for text in texts:
            with suppress(ValueError):
                yield json.loads(text)
