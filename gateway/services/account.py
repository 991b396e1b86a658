"""Records the upstream's answers about our account. Nothing here moves money."""

import datetime as dt
import hashlib

import structlog
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from audit.events import RESTORED
from audit.services import record
from core import clock
from gateway.events import OPENED_AFTER_RESTORE
from gateway.models import Exchange, UpstreamAccount
from staff.models import User
from upstream.endpoints import Endpoint

log = structlog.get_logger()

# The time for which a missing line is reported: if no other line is missing by then, the disk works again.
UNWRITTEN_FOR = dt.timedelta(minutes=10)
# HTTP statuses that deny a request.
DENIED = {401, 403}
# "Last answered" is written again only when it is this old, so that not every call needs a write.
_NOTE_EVERY = dt.timedelta(seconds=10)


def latest_reading() -> Exchange | None:
    """The answer with the newest balance that the upstream reported, or None before the first."""
    return Exchange.objects.readings().first()


def denied_balance() -> str:
    """The code with which the upstream denied the newest balance request; "" if it did not deny it."""
    newest = Exchange.objects.filter(endpoint=Endpoint.BALANCE).order_by("-sent_at").first()
    if newest is None or newest.http_status not in DENIED or not isinstance(newest.raw, dict):
        return ""
    return str(newest.raw.get("error_code", ""))


def upstream_account() -> UpstreamAccount:
    """The one row about our account at the upstream."""
    return UpstreamAccount.objects.get_or_create(only=True)[0]


def sending_is_stopped() -> bool:
    """Whether nothing may be sent: the upstream refuses our account, or this database belongs to another account.

    The balance request of every minute goes on as a probe; its first success lifts the stop.
    """
    return UpstreamAccount.objects.filter(refused_since__isnull=False).exists() or not _is_bound_to_us()


def hold_restored(*, to: dt.datetime) -> None:
    """Keep this restored database from spending until a person opens it; it knows all commits up to `to`."""
    upstream_account()
    UpstreamAccount.objects.update(restored_at=clock.now(), restored_to=to, is_held=True)
    record(RESTORED, facts={"until": to.isoformat()})


def open_restored(*, actor: User) -> None:
    """Let a restored database spend again; nothing happens if it is open already."""
    with transaction.atomic():
        if UpstreamAccount.objects.filter(is_held=True).update(is_held=False):
            record(OPENED_AFTER_RESTORE, actor=actor)


def may_be_lost(since: dt.datetime) -> bool:
    """Whether events after this moment may be missing, because the database was restored after it."""
    return UpstreamAccount.objects.filter(restored_at__gt=since).exists()


NOTE_ANSWER = """
    UPDATE gateway_upstreamaccount
    SET last_answer_at = %(now)s, unreachable_since = NULL, refused_since = NULL, refused_code = ''
    WHERE unreachable_since IS NOT NULL OR refused_since IS NOT NULL
        OR last_answer_at IS NULL OR last_answer_at < %(long_ago)s
"""


def note_answer() -> None:
    """Note that the upstream has answered: it can be reached, and accepts our account."""
    with connection.cursor() as cursor:
        cursor.execute(NOTE_ANSWER, values_of_note())


def values_of_note() -> dict[str, dt.datetime]:
    """The values of `NOTE_ANSWER`, also for a statement that contains it."""
    now = timezone.now()
    return {"now": now, "long_ago": now - _NOTE_EVERY}


def note_busy() -> None:
    """Note that the upstream can be reached and accepts no more requests: that says nothing about our account."""
    UpstreamAccount.objects.update(last_answer_at=timezone.now(), unreachable_since=None)


def note_unreachable() -> None:
    """Note that the upstream gives no answer since this moment."""
    upstream_account()
    UpstreamAccount.objects.filter(unreachable_since__isnull=True).update(unreachable_since=timezone.now())


def note_unwritten(ref_id: str) -> None:
    """Note an order that is sent although its line in the journal is not on the disk yet."""
    _note_line(ref_id, at=clock.now())


def note_written(ref_id: str) -> None:
    """Note that the line of such an order is on the disk now."""
    _note_line(ref_id, at=None)


def _note_line(ref_id: str, *, at: dt.datetime | None) -> None:
    """Note since when this order lacks its line (`at`; None: it has the line); forget orders noted too long ago."""
    upstream_account()
    since = clock.now() - UNWRITTEN_FOR
    with transaction.atomic():
        account = UpstreamAccount.objects.select_for_update().get()
        times = {other: dt.datetime.fromisoformat(time) for other, time in account.unwritten.items()}
        times = {other: time for other, time in times.items() if time > since and other != ref_id}
        if at is not None:
            times[ref_id] = at
        account.unwritten = {other: time.isoformat() for other, time in times.items()}
        account.unwritten_at = max(times.values(), default=None)
        account.save(update_fields=["unwritten", "unwritten_at"])


def note_refusal(code: str) -> None:
    """Note that the upstream refuses our account, the time and the code; nothing is sent then."""
    upstream_account()
    stopped = UpstreamAccount.objects.filter(refused_since__isnull=True).update(
        refused_since=timezone.now(), refused_code=code[:40], unreachable_since=None
    )
    if stopped:
        log.error("upstream_refuses_our_account", error_code=code)


class WrongUpstream(Exception):
    """The database belongs to another account at the upstream than the configured one."""


def bind_to_upstream(*, has_orders: bool) -> None:
    """Tie this database to the configured account, or raise `WrongUpstream` with what to do.

    Orders of one account must never be polled at another, where "not found" would mean nothing. And books that were
    opened with one account's balance belong to that account, and cannot be emptied. So the tie may change only before
    the first order and the first balance.
    """
    sandbox, fingerprint = _fingerprint("sandbox"), configured_fingerprint()
    row = upstream_account()
    has_books = has_orders or Exchange.objects.readings().exists()
    if row.fingerprint not in {"", fingerprint} and has_books:
        if row.fingerprint == sandbox:
            raise WrongUpstream(
                "This database holds the demo's books, with the sandbox's money: delete the demo with `./run reset`, "
                "or keep it and name a new folder in BACKOFFICE_DATA (with a DATABASE_URL: name an empty "
                "database there)."
            )
        raise WrongUpstream(
            "This database holds the books of another upstream account: restore the former UPSTREAM_BASE_URL and "
            "UPSTREAM_SECRET_ID, or name a new folder in BACKOFFICE_DATA (with a DATABASE_URL: name an empty database "
            "there)."
        )
    if row.fingerprint != fingerprint:
        row.fingerprint = fingerprint
        row.save(update_fields=["fingerprint"])


def _is_bound_to_us() -> bool:
    """Whether this database is tied to the configured account, or to none yet."""
    tied_to = UpstreamAccount.objects.values_list("fingerprint", flat=True).first()
    return not tied_to or tied_to == configured_fingerprint()


def configured_fingerprint() -> str:
    """The hash of the account that the settings name."""
    account = f"{settings.UPSTREAM_BASE_URL.rstrip('/')}|{settings.UPSTREAM_SECRET_ID}"
    return _fingerprint("sandbox" if settings.SANDBOX else account)


def _fingerprint(account: str) -> str:
    return hashlib.sha256(account.encode()).hexdigest()
