"""Examines what the shop needs to run, for `./run doctor` and the page "Health": one finding for each subject."""

import datetime as dt
import math
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import django
import redis
from django.conf import settings
from django.core import checks
from django.db import DatabaseError, connection
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _, ngettext

from alerts.kinds import KINDS
from alerts.kinds.kind import Now
from alerts.kinds.standstill import AFTER, standing_still
from alerts.services.ways import ways
from audit.services.publishing import unwritten_since
from backoffice.backup_findings import backups, restored
from backoffice.database_rights import excess, lacking
from backoffice.findings import Finding, Verdict, sealed_secrets
from callbacks.models import Callback
from core import health, heartbeats
from core.money import rupiah
from core.stores import new_client
from core.times import clock, time_of_day
from gateway.services import (
    denied_balance,
    first_request_at,
    latest_reading,
    limit_use,
    read_balance,
    upstream_account,
)
from ledger.presenting import Funds
from purchases.models import Order
from purchases.states import FINAL
from reconciliation.models import Difference, ReconciliationRun
from reconciliation.presenting import said_of_books
from reconciliation.services import compared_at, last_proof, position
from upstream.errors import Unavailable, UpstreamError

_GB, _MB = 1_000_000_000, 1_000_000
_LEAST_FREE = 1 * _GB
_LARGEST_CLOCK_ERROR = 5.0
_SLOW_SECONDS = 5.0
_SLOW_SO_FAR_SECONDS = 0.5
_CHECKPOINTS_LATE = dt.timedelta(hours=1)  # of one a minute
_NAMED = 5  # open differences that are named one by one


def examine(*, is_page: bool = False) -> Iterator[Finding]:
    """The findings, one after the other; a subject that cannot be examined is a finding, too. Makes one upstream call.

    An unreachable store is named once; subjects that need it are "not checked". `is_page`: makes no call, uses what the
    background has seen, and leaves out the subjects that only the server's operator can use.
    """
    away: set[str] = set()
    for subject, look in (_ON_PAGE if is_page else _SUBJECTS).items():
        try:
            yield from look(subject)
        except (DatabaseError, redis.RedisError, OSError) as fault:
            store = "database" if isinstance(fault, DatabaseError) else "redis"
            if not isinstance(fault, OSError) and store in away:
                yield Finding(subject, Verdict.LOOK, _("not checked: see %(store)s") % {"store": store})
                continue
            if subject == store:
                away.add(store)
            reason = str(fault).strip().splitlines()[0] if str(fault).strip() else type(fault).__name__
            advice = {
                "database": _("Start PostgreSQL, or correct DATABASE_URL."),
                "redis": _("Start Redis or Valkey, or correct REDIS_URL. Orders wait meanwhile; none is lost."),
            }
            yield Finding(subject, Verdict.BAD, reason, advice.get(subject, _("Mend what is named above first.")))


def _settings(subject: str) -> Iterator[Finding]:
    faults = [fault for fault in checks.run_checks() if fault.level >= checks.WARNING]
    for fault in faults:
        yield Finding(subject, Verdict.BAD if fault.is_serious() else Verdict.LOOK, fault.msg, fault.hint or "")
    if not faults:
        kind = _("the sandbox, no real money") if settings.SANDBOX else settings.UPSTREAM_BASE_URL
        yield Finding(subject, Verdict.OK, _("complete; provider: %(kind)s") % {"kind": kind})


def _database(subject: str) -> Iterator[Finding]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version'), pg_database_size(current_database())")
        version, size = cursor.fetchone()
    yield Finding(subject, Verdict.OK, f"PostgreSQL {version}, {_size(size)}")


def _size(of: int) -> str:
    """A number of bytes in words, in GB or MB."""
    return f"{number_format(of / _GB, 1)} GB" if of >= _GB else f"{round(of / _MB)} MB"


def _largest_tables(subject: str) -> Iterator[Finding]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class"
            " WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace ORDER BY 2 DESC LIMIT 5"
        )
        largest = ", ".join(f"{name} {_size(size)}" for name, size in cursor.fetchall())
    yield Finding(subject, Verdict.OK, largest)


def _slow_statements(subject: str) -> Iterator[Finding]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid, extract(epoch FROM now() - query_start), left(query, 60) FROM pg_stat_activity"
            " WHERE datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()"
            " AND now() - query_start > %s * interval '1 second' ORDER BY 2 DESC LIMIT 5",
            [_SLOW_SECONDS],
        )
        slow = cursor.fetchall()
    for pid, seconds, query in slow:
        advice = "Wait, or end it: SELECT pg_cancel_backend(pid)."
        yield Finding(subject, Verdict.LOOK, f"pid {pid}, {seconds:.0f} s: {' '.join(query.split())}", advice)
    if not slow:
        yield Finding(subject, Verdict.OK, f"none runs for more than {_SLOW_SECONDS:.0f} s")


def _slow_so_far(subject: str) -> Iterator[Finding]:
    """The statements that have been slow since PostgreSQL began to count them, if it counts them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('pg_stat_statements') IS NOT NULL")
        if not cursor.fetchone()[0]:
            advice = "Set shared_preload_libraries = 'pg_stat_statements'; CREATE EXTENSION pg_stat_statements."
            yield Finding(subject, Verdict.OK, "PostgreSQL does not count statements", advice)
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
        yield Finding(subject, Verdict.LOOK, seen, "Report it with the whole query of pg_stat_statements.")
    if not slow:
        yield Finding(subject, Verdict.OK, f"none takes more than {_SLOW_SO_FAR_SECONDS} s on average")


def _database_role(subject: str) -> Iterator[Finding]:
    """The finding about this process's role, which all our processes share."""
    role = connection.settings_dict["USER"]
    if beyond := list(excess(role)):
        seen = _("%(role)s can do more than it should: it %(more)s") % {"role": role, "more": "; ".join(beyond)}
        advice = _("Give our processes a role of their own, and set DATABASE_OWNER_URL (docs/deployment.md).")
        yield Finding(subject, Verdict.LOOK, seen, advice)
    if missing := list(lacking(role)):
        seen, advice = f"{role} {'; '.join(missing)}", _("Run `./run manage grant_app_role`.")
        yield Finding(subject, Verdict.BAD, seen, advice)
    if not beyond and not missing:
        yield Finding(subject, Verdict.OK, _("%(role)s can do what it has to, and no more") % {"role": role})


def _redis(subject: str) -> Iterator[Finding]:
    info = cast("dict[str, Any]", new_client().info())
    policy = str(info.get("maxmemory_policy", ""))
    # Valkey calls itself Redis 7.2 to clients that know no Valkey
    version = info.get("valkey_version") or info["redis_version"]
    seen = f"{info.get('server_name', 'redis')} {version}, {info['used_memory_human']}"
    if policy not in {"", "noeviction"}:
        advice = _("Set maxmemory-policy to noeviction.")
        yield Finding(subject, Verdict.BAD, f"{seen}; maxmemory-policy {policy}", advice)
        return
    yield Finding(subject, Verdict.OK, seen)


def _processes(subject: str) -> Iterator[Finding]:
    no_heartbeat = _("no heartbeat: %(names)s")
    alive = heartbeats.read().alive()
    if silent := health.silent_processes():
        advice = _("Start them; `./run status` shows each.")
        yield Finding(subject, Verdict.BAD, no_heartbeat % {"names": ", ".join(silent)}, advice)
    elif awaited := [role for role in heartbeats.ROLES if role not in alive]:  # just after a start
        advice = _("Look again in %(seconds)s s.") % {"seconds": heartbeats.START_SECONDS}
        yield Finding(subject, Verdict.LOOK, no_heartbeat % {"names": ", ".join(awaited)}, advice)
    else:
        yield Finding(subject, Verdict.OK, _("worker, background and beat have a heartbeat"))


def _background(subject: str) -> Iterator[Finding]:
    """Whether due work goes on, by the rule of the alert about it."""
    for reason in standing_still(Now()):
        words = KINDS["standstill"].words(reason.facts, None)
        load = _("load %(load)s on %(cores)s cores") % {
            "load": number_format(os.getloadavg()[0], 1),
            "cores": len(os.sched_getaffinity(0)),
        }
        advice = _("Take load off the machine, look at logs/background.log, and start the shop again if it stays so.")
        yield Finding(subject, Verdict.BAD, f"{words.facts} ({load})", advice)
        return
    seen = _("nothing that is due has stood still for %(minutes)s minutes") % {"minutes": AFTER.seconds // 60}
    yield Finding(subject, Verdict.OK, seen)


def _upstream_asked(subject: str) -> Iterator[Finding]:
    try:
        balance = read_balance().data.balance
    except UpstreamError as fault:
        yield _unanswered(subject, fault)
        return
    seen = _("answers and accepts our credentials; balance %(sum)s") % {"sum": rupiah(balance)}
    yield Finding(subject, Verdict.OK, seen)


def _unanswered(subject: str, fault: UpstreamError) -> Finding:
    """The finding after a call without an answer. A full rate limit, or a new shop's first minute, is not a fault."""
    if isinstance(fault, Unavailable) and fault.reason == "budget":
        if opens_at := first_request_at():
            return _first_minute(subject, opens_at)
        advice = _("Look again in %(seconds)s s.") % {"seconds": math.ceil(fault.retry_after or 0)}
        return Finding(subject, Verdict.LOOK, _("not asked: the rate limits leave no room now"), advice)
    if isinstance(fault, Unavailable) and fault.reason == "budget_unreachable":
        return Finding(subject, Verdict.LOOK, _("not checked: see %(store)s") % {"store": "redis"})
    advice = _("Is it reachable from here?")
    if upstream_account().refused_code:
        advice = _advice_refused()
    elif denied_balance():
        advice = _advice_denied()
    return Finding(subject, Verdict.BAD, f"{type(fault).__name__}: {fault}", advice)


def _first_minute(subject: str, opens_at: dt.datetime) -> Finding:
    seen = _("the first minute: the first request goes from %(time)s on") % {"time": time_of_day(opens_at)}
    return Finding(subject, Verdict.LOOK, seen, _("Wait: nobody knows what was sent for this account before."))


def _advice_refused() -> str:
    return _("Correct the credentials, or ask the provider to accept this server's address.")


def _advice_denied() -> str:
    return _("Ask the provider to let this account read its balance.")


def _upstream_known(subject: str) -> Iterator[Finding]:
    """The finding from the balance request of every minute."""
    account, reading = upstream_account(), latest_reading()
    if account.refused_code:
        seen = _("refuses our account: %(code)s") % {"code": account.refused_code}
        yield Finding(subject, Verdict.BAD, seen, _advice_refused())
    elif account.unreachable_since:
        seen = _("not reachable since %(time)s") % {"time": clock(account.unreachable_since)}
        yield Finding(subject, Verdict.BAD, seen, _("Is it reachable from here?"))
    elif code := denied_balance():
        seen = _("denies us the balance: %(code)s") % {"code": code}
        yield Finding(subject, Verdict.BAD, seen, _advice_denied())
    elif reading:
        facts = {"sum": rupiah(reading.balance), "time": clock(reading.answered_at)}
        yield Finding(subject, Verdict.OK, _("answered at %(time)s; balance %(sum)s") % facts)
    elif opens_at := first_request_at():
        yield _first_minute(subject, opens_at)
    else:
        yield Finding(subject, Verdict.LOOK, _("has never answered"), _("Wait for the first balance reading."))


def _rate_limit(subject: str) -> Iterator[Finding]:
    if use := limit_use():
        facts = {"used": use.used, "calls": use.calls, "seconds": round(use.window)}
        yield Finding(subject, Verdict.OK, _("%(used)s of %(calls)s requests in the last %(seconds)s s") % facts)
    else:
        advice = _("Start Redis or Valkey: nothing is sent without it.")
        yield Finding(subject, Verdict.BAD, _("nobody knows how much of it is used"), advice)


def _clock(subject: str) -> Iterator[Finding]:
    """Compare this machine's clock with those of the two stores, which may be other machines."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        apart = {"PostgreSQL": (timezone.now() - cursor.fetchone()[0]).total_seconds()}
    seconds, microseconds = cast("tuple[int, int]", new_client().time())
    apart["Redis"] = time.time() - seconds - microseconds / 1_000_000
    wrong = {name: seconds for name, seconds in apart.items() if abs(seconds) > _LARGEST_CLOCK_ERROR}
    for name, error in wrong.items():
        seen = _("%(error)s s apart from %(name)s") % {"error": f"{error:+.0f}", "name": name}
        yield Finding(subject, Verdict.LOOK, seen, _("Run a time service (chrony or timesyncd)."))
    if not wrong:
        yield Finding(subject, Verdict.OK, _("agrees with PostgreSQL and Redis"))


def _disk(subject: str) -> Iterator[Finding]:
    folder = Path(settings.DATA_DIR)
    free = shutil.disk_usage(folder if folder.exists() else Path.cwd()).free
    seen = _("%(size)s GB free") % {"size": number_format(free / _GB, 1)}
    if free < _LEAST_FREE:
        yield Finding(subject, Verdict.BAD, seen, _("Make room: below that the stores stop writing."))
    else:
        yield Finding(subject, Verdict.OK, seen)


def _callbacks(subject: str) -> Iterator[Finding]:
    newest = Callback.objects.order_by("-pk").values_list("received_at", flat=True).first()
    ended = Order.objects.filter(status__in=FINAL, created_at__gte=timezone.now() - dt.timedelta(days=1)).exists()
    if newest is None:
        advice = _("Give the provider the address https://…/callbacks/upstream/; orders are polled meanwhile.")
        verdict = Verdict.LOOK if ended else Verdict.OK
        yield Finding(subject, verdict, _("none ever came"), advice if ended else "")
        return
    is_late = ended and timezone.now() - newest > dt.timedelta(days=1)
    advice = _("Does the provider still know the address, and does the proxy let it through?") if is_late else ""
    seen = _("the last one that verified came %(time)s") % {"time": clock(newest)}
    yield Finding(subject, Verdict.LOOK if is_late else Verdict.OK, seen, advice)


def _books(subject: str) -> Iterator[Finding]:
    proof, compared = last_proof(), compared_at()
    if proof.flaw:
        advice = _("Stop selling and compare the entry with a backup.")
        yield Finding(subject, Verdict.BAD, f"{proof}: {rupiah(proof.flaw_amount)}", advice)
    elif open_rows := list(Difference.objects.open().order_by("pk")):
        named = ", ".join(f"{rupiah(row.amount)} ({row.get_label_display()})" for row in open_rows[:_NAMED])
        seen = _("open differences: %(named)s") % {"named": named}
        if len(open_rows) > _NAMED:
            seen += _(" and %(n)s more") % {"n": len(open_rows) - _NAMED}
        is_bad = any(row.label != Difference.Label.TOPUP for row in open_rows)
        advice = _("Decide about each on the page Balance.")
        yield Finding(subject, Verdict.BAD if is_bad else Verdict.LOOK, seen, advice)
    elif compared is None:
        advice = _("Wait for the first balance reading.")
        yield Finding(subject, Verdict.LOOK, _("never compared with the provider"), advice)
    else:
        yield _compared(subject, compared)


def _compared(subject: str, compared: dt.datetime) -> Finding:
    """The finding about the last comparison, in the words of the page Balance: open orders make it provisional."""
    now = position()
    if now.state == ReconciliationRun.Result.BALANCED:
        return Finding(subject, Verdict.OK, _("proved; last compared %(time)s") % {"time": clock(compared)})
    said = said_of_books(now, Funds.now())
    if said.strong:
        return Finding(subject, Verdict.LOOK, f"{said.strong} {said.text}")
    if not now.blocking:
        return Finding(subject, Verdict.PROVISIONAL, said.text)
    words = ngettext(
        "No difference so far; %(n)s order is still open.",
        "No difference so far; %(n)s orders are still open.",
        len(now.blocking),
    )
    return Finding(subject, Verdict.PROVISIONAL, words % {"n": len(now.blocking)})


def _checkpoints(subject: str) -> Iterator[Finding]:
    """The finding about the file of checkpoints of the audit; nothing without such a file."""
    if not (path := settings.AUDIT_CHECKPOINT_FILE):
        return
    since = unwritten_since()
    if since is None or timezone.now() - since < _CHECKPOINTS_LATE:
        yield Finding(subject, Verdict.OK, _("written to %(path)s") % {"path": path})
        return
    seen = _("not written to %(path)s since %(time)s") % {"path": path, "time": clock(since)}
    yield Finding(subject, Verdict.BAD, seen, _("Look at the disk of AUDIT_CHECKPOINT_FILE; what waits follows then."))


def _alert_ways(subject: str) -> Iterator[Finding]:
    if names := ", ".join(way.name for way in ways()):
        yield Finding(subject, Verdict.OK, names)
    else:
        advice = _("Add a way, such as Telegram or mail: Balance → Alerts → Ways of alerts, or ALERT_URLS.")
        yield Finding(subject, Verdict.LOOK, _("alerts are shown on the pages only"), advice)


def _versions(subject: str) -> Iterator[Finding]:
    seen = f"backoffice {settings.VERSION}, Python {platform.python_version()}, Django {django.__version__}"
    yield Finding(subject, Verdict.OK, seen)


_SUBJECTS: dict[str, Callable[[str], Iterator[Finding]]] = {
    "settings": _settings,
    "database": _database,
    "largest tables": _largest_tables,
    "slow statements": _slow_statements,
    "slow so far": _slow_so_far,
    "database role": _database_role,
    "redis": _redis,
    "processes": _processes,
    "background": _background,
    "upstream": _upstream_asked,
    "rate limit": _rate_limit,
    "clock": _clock,
    "disk": _disk,
    "callbacks": _callbacks,
    "books": _books,
    "checkpoints": _checkpoints,
    "backups": backups,
    "restored": restored,
    "sealed secrets": sealed_secrets,
    "alert ways": _alert_ways,
    "versions": _versions,
}
_OF_THE_OPERATOR = ("largest tables", "slow statements", "slow so far")
_ON_PAGE = {name: look for name, look in _SUBJECTS.items() if name not in _OF_THE_OPERATOR} | {
    "upstream": _upstream_known
}
