"""The subjects of `./run doctor`: one finding each, with the next step."""

from __future__ import annotations

import datetime as dt
import math
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import redis
from django.conf import settings
from django.core import checks
from django.db import DatabaseError, connection
from django.utils import timezone

from backoffice.database_rights import excess, lacking
from callbacks.models import Callback
from core import health
from core.money import rupiah
from core.stores import new_client
from core.times import time_of_day
from gateway.services import first_request_at, read_balance, upstream_account
from purchases.models import Order
from purchases.states import FINAL
from reconciliation.models import Difference
from reconciliation.services import compared_at, last_proof
from upstream.errors import Unavailable, UpstreamError

_GB = 1_000_000_000
_LEAST_FREE = 1 * _GB
_LARGEST_CLOCK_ERROR = 5.0
_SLOW_SECONDS = 5.0
_SLOW_SO_FAR_SECONDS = 0.5
_BACKUP_HOURS = 26
_NAMED = 5  # of the open differences


@dataclass(frozen=True)
class Finding:
    """How one subject stands ("ok", "look" or "bad"), what was seen, and what to do about it."""

    subject: str
    verdict: str
    seen: str
    advice: str = ""


def examine() -> Iterator[Finding]:
    """One finding after the other; a subject that cannot be looked at is a finding, too. Makes one upstream call."""
    for subject, look in _SUBJECTS.items():
        try:
            yield from look(subject)
        except (DatabaseError, redis.RedisError, OSError) as fault:
            reason = str(fault).strip().splitlines()[0] if str(fault).strip() else type(fault).__name__
            yield Finding(subject, "bad", reason, _ADVICE_DOWN.get(subject, "Mend what is named above first."))


def _settings(subject: str) -> Iterator[Finding]:
    faults = [fault for fault in checks.run_checks() if fault.level >= checks.WARNING]
    for fault in faults:
        yield Finding(subject, "bad" if fault.is_serious() else "look", fault.msg, fault.hint or "")
    if not faults:
        kind = "the sandbox, no real money" if settings.SANDBOX else settings.UPSTREAM_BASE_URL
        yield Finding(subject, "ok", f"complete; upstream: {kind}")


def _database(subject: str) -> Iterator[Finding]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version'), pg_database_size(current_database())")
        version, size = cursor.fetchone()
        yield Finding(subject, "ok", f"PostgreSQL {version}, {size / _GB:.1f} GB")
        cursor.execute(
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace ORDER BY 2 DESC LIMIT 5"
        )
        largest = ", ".join(f"{name} {size / _GB:.2f} GB" for name, size in cursor.fetchall())
        yield Finding("largest tables", "ok", largest)
        cursor.execute(
            "SELECT pid, extract(epoch FROM now() - query_start), left(query, 60) FROM pg_stat_activity"
            " WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()"
            " AND now() - query_start > %s * interval '1 second' ORDER BY 2 DESC LIMIT 5",
            [_SLOW_SECONDS],
        )
        slow = cursor.fetchall()
        for pid, seconds, query in slow:
            advice = "Wait, or end it: SELECT pg_cancel_backend(pid)."
            yield Finding("slow statements", "look", f"pid {pid}, {seconds:.0f} s: {' '.join(query.split())}", advice)
        if not slow:
            yield Finding("slow statements", "ok", f"none runs for more than {_SLOW_SECONDS:.0f} s")
    yield from _slow_so_far("slow so far")


def _slow_so_far(subject: str) -> Iterator[Finding]:
    """The statements that have been slow since PostgreSQL began to count them, if it does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('pg_stat_statements') IS NOT NULL")
        if not cursor.fetchone()[0]:
            advice = "Set shared_preload_libraries = 'pg_stat_statements'; CREATE EXTENSION pg_stat_statements."
            yield Finding(subject, "ok", "PostgreSQL does not count statements", advice)
            return
        cursor.execute(
            "SELECT calls, mean_exec_time / 1000, left(query, 60) FROM pg_stat_statements"
            " WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())"
            " AND mean_exec_time > %s ORDER BY total_exec_time DESC LIMIT 3",
            [_SLOW_SO_FAR_SECONDS * 1000],
        )
        slow = cursor.fetchall()
    for calls, seconds, query in slow:
        seen = f"{calls} times, {seconds:.1f} s on average: {' '.join(query.split())}"
        yield Finding(subject, "look", seen, "Report it with the whole query of pg_stat_statements.")
    if not slow:
        yield Finding(subject, "ok", f"none takes more than {_SLOW_SO_FAR_SECONDS} s on average")


def _database_role(subject: str) -> Iterator[Finding]:
    """The finding about this command's own role, which is that of our processes."""
    role = connection.settings_dict["USER"]
    if beyond := list(excess(role)):
        advice = "Give our processes a role of their own, and set DATABASE_OWNER_URL (docs/deployment.md)."
        yield Finding(subject, "look", f"{role} can do more than it should: it {'; '.join(beyond)}", advice)
    if missing := list(lacking(role)):
        seen, advice = f"{role} {'; '.join(missing)}", "Run `./run manage grant_app_role`."
        yield Finding(subject, "bad", seen, advice)
    if not beyond and not missing:
        yield Finding(subject, "ok", f"{role} can do what it has to, and no more")


def _redis(subject: str) -> Iterator[Finding]:
    info = cast("dict[str, Any]", new_client().info())
    policy = str(info.get("maxmemory_policy", ""))
    seen = f"{info.get('server_name', 'redis')} {info['redis_version']}, {info['used_memory_human']} used"
    if policy not in {"", "noeviction"}:
        yield Finding(subject, "bad", f"{seen}; maxmemory-policy {policy}", "Set maxmemory-policy to noeviction.")
        return
    yield Finding(subject, "ok", seen)


def _processes(subject: str) -> Iterator[Finding]:
    silent = health.silent_processes()
    if silent:
        yield Finding(subject, "bad", f"no heartbeat: {', '.join(silent)}", "Start them; `./run status` shows each.")
    else:
        yield Finding(subject, "ok", "worker, background and beat have a heartbeat")


def _upstream(subject: str) -> Iterator[Finding]:
    try:
        balance = read_balance().data.balance
    except UpstreamError as fault:
        yield _unanswered(subject, fault)
        return
    yield Finding(subject, "ok", f"answers and accepts our credentials; balance {balance}")


def _unanswered(subject: str, fault: UpstreamError) -> Finding:
    """A full limit, or the first minute of a new shop, is no fault."""
    if isinstance(fault, Unavailable) and fault.reason == "budget":
        if opens_at := first_request_at():
            seen = f"the first minute: the first request goes from {time_of_day(opens_at)} on"
            return Finding(subject, "look", seen, "Wait: nobody knows what was sent for this account before.")
        advice = f"Look again in {math.ceil(fault.retry_after or 0)} s."
        return Finding(subject, "look", "not asked: the rate limits leave no room now", advice)
    is_refused = bool(upstream_account().refused_code)
    advice = "Correct the credentials, or ask the upstream to accept this address." if is_refused else _ADVICE_AWAY
    return Finding(subject, "bad", f"{type(fault).__name__}: {fault}", advice)


def _clock(subject: str) -> Iterator[Finding]:
    """Compare this machine's clock with those of the two stores, which may be other machines."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        apart = {"the database": (timezone.now() - cursor.fetchone()[0]).total_seconds()}
    seconds, microseconds = cast("tuple[int, int]", new_client().time())
    apart["redis"] = time.time() - seconds - microseconds / 1_000_000
    wrong = {name: seconds for name, seconds in apart.items() if abs(seconds) > _LARGEST_CLOCK_ERROR}
    for name, error in wrong.items():
        yield Finding(subject, "look", f"{error:+.0f} s apart from {name}", "Run a time service (chrony or timesyncd).")
    if not wrong:
        yield Finding(subject, "ok", f"agrees with {' and '.join(apart)}")


def _disk(subject: str) -> Iterator[Finding]:
    folder = Path(settings.DATA_DIR)
    free = shutil.disk_usage(folder if folder.exists() else Path.cwd()).free
    if free < _LEAST_FREE:
        yield Finding(subject, "bad", f"{free / _GB:.1f} GB free", "Make room: below that the stores stop writing.")
    else:
        yield Finding(subject, "ok", f"{free / _GB:.1f} GB free")


def _callbacks(subject: str) -> Iterator[Finding]:
    newest = Callback.objects.order_by("-pk").values_list("received_at", flat=True).first()
    ended = Order.objects.filter(status__in=FINAL, created_at__gte=timezone.now() - dt.timedelta(days=1)).exists()
    if newest is None:
        verdict = "look" if ended else "ok"
        advice = (
            "Give the upstream the address https://…/callbacks/upstream/; orders are polled meanwhile." if ended else ""
        )
        yield Finding(subject, verdict, "none ever came", advice)
        return
    age = timezone.now() - newest
    is_late = ended and age > dt.timedelta(days=1)
    advice = "Is the address still known to the upstream, and does the proxy let it through?" if is_late else ""
    yield Finding(subject, "look" if is_late else "ok", f"the newest came {newest:%Y-%m-%d %H:%M} UTC", advice)


def _books(subject: str) -> Iterator[Finding]:
    proof, compared = last_proof(), compared_at()
    if proof.flaw:
        seen = f"{proof}: {rupiah(proof.flaw_amount)}"
        yield Finding(subject, "bad", seen, "Stop selling and compare the entry with a backup.")
    elif open_rows := list(Difference.objects.open().order_by("pk")):
        seen = f"open: {', '.join(f'{rupiah(row.amount)} ({row.get_label_display()})' for row in open_rows[:_NAMED])}"
        if len(open_rows) > _NAMED:
            seen += f" and {len(open_rows) - _NAMED} more"
        is_bad = any(row.label != Difference.Label.TOPUP for row in open_rows)
        yield Finding(
            subject,
            "bad" if is_bad else "look",
            seen,
            'Decide about each on the page "Balance" (docs/reconciliation.md).',
        )
    elif compared is None:
        yield Finding(subject, "look", "never compared with the upstream", "Wait for the first balance reading.")
    else:
        yield Finding(subject, "ok", f"proved; last compared {compared:%Y-%m-%d %H:%M} UTC")


def _backup(subject: str) -> Iterator[Finding]:
    if not settings.BACKUP_STAMP:
        advice = "Set BACKUP_STAMP to a file that your backup touches when it has succeeded."
        yield Finding(subject, "look", "nothing says when the last one was made", advice)
        return
    stamp = Path(settings.BACKUP_STAMP)
    hours = (time.time() - stamp.stat().st_mtime) / 3600 if stamp.exists() else None
    if hours is None or hours > _BACKUP_HOURS:
        seen = f"{stamp} is missing" if hours is None else f"the last one is {hours:.0f} hours old"
        yield Finding(subject, "bad", seen, "Make one now, and look at why it failed.")
    else:
        yield Finding(subject, "ok", f"{hours:.0f} hours old")


_SUBJECTS: dict[str, Callable[[str], Iterator[Finding]]] = {
    "settings": _settings,
    "database": _database,
    "database role": _database_role,
    "redis": _redis,
    "processes": _processes,
    "upstream": _upstream,
    "clock": _clock,
    "disk": _disk,
    "callbacks": _callbacks,
    "books": _books,
    "backups": _backup,
}
_ADVICE_AWAY = "Is it reachable from here?"
_ADVICE_DOWN = {
    "database": "Start PostgreSQL, or correct DATABASE_URL.",
    "redis": "Start Redis or Valkey, or correct REDIS_URL. Orders wait meanwhile; none is lost.",
}
