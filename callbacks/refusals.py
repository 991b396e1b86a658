"""Counts rejected callbacks and describes the last ones, at a cost that stays the same for any number.

Each process adds them up and writes at most once a second, in one transaction and with one line in the log. A killed
process loses the counts of its last second.
"""

import atexit
import threading
import time
from collections import Counter, deque
from datetime import date

import structlog
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from callbacks.models import CallbackRefusal, RefusalReason

log = structlog.get_logger()

# The refusals of this many seconds are written together.
SECONDS = 1.0
# At most this many of them are described.
_DESCRIBED = 20
_COUNT = """
    INSERT INTO callbacks_callbackrefusalcount (day, reason, count)
    SELECT day, reason, count FROM unnest(%s::date[], %s::text[], %s::bigint[]) AS new (day, reason, count)
    ON CONFLICT (day, reason) DO UPDATE SET count = callbacks_callbackrefusalcount.count + excluded.count
"""

_lock = threading.Lock()
_counts: Counter[tuple[date, str]] = Counter()
_last: deque[CallbackRefusal] = deque(maxlen=_DESCRIBED)
_due = 0.0
_timer: threading.Timer | None = None


def count_refusal(*, reason: RefusalReason, source_address: str | None, size: int) -> None:
    """Count a rejected callback, and write the counts when that is due. Raises `DatabaseError` when it writes."""
    global _timer  # noqa: PLW0603 (one tally for each process)
    with _lock:
        _counts[timezone.localdate(), reason.value] += 1
        _last.append(CallbackRefusal(reason=reason, source_address=source_address, size=size))
        wait = _due - time.monotonic()
        if wait > 0:
            if _timer is None:
                _timer = threading.Timer(wait, _write_later)
                _timer.daemon = True
                _timer.start()
            return
    write()


def write() -> None:
    """Write the counts since the last time. Raises `DatabaseError`; then the next time writes them."""
    global _due, _timer
    with _lock:
        counts, last = _counts.copy(), list(_last)
        _counts.clear()
        _last.clear()
        _due, _timer = time.monotonic() + SECONDS, None
    if not counts:
        return
    ordered = sorted(counts.items())  # several processes lock the rows in the same order
    log.warning(
        "callbacks_rejected",
        **{f"{reason}_{day}": count for (day, reason), count in ordered},
        source=last[-1].source_address if last else None,
    )
    try:
        with transaction.atomic():
            for newest in CallbackRefusal.objects.bulk_create(last)[-1:]:
                CallbackRefusal.objects.filter(pk__lte=newest.pk - CallbackRefusal.KEPT).delete()
            with connection.cursor() as cursor:
                days, reasons = zip(*(key for key, _count in ordered), strict=True)
                cursor.execute(_COUNT, [list(days), list(reasons), [count for _key, count in ordered]])
    except DatabaseError:
        with _lock:
            _counts.update(counts)
        raise


def _write_later() -> None:
    """Write in a thread of its own, and close the thread's connection."""
    try:
        write()
    except DatabaseError as error:
        log.warning("refusals_not_counted_yet", fault=type(error).__name__)
    finally:
        connection.close()


atexit.register(_write_later)
