"""Record what the upstream tells us about our account. Nothing here sends money."""

from __future__ import annotations

import datetime as dt
import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import structlog
from django.conf import settings
from django.db.models import Max, Q
from django.utils import timezone

from backoffice.publish import publish
from balance.models import Reading, Spending, UpstreamAccount
from upstream.client import Answer, get_client
from upstream.errors import ErrorCode, Misconfigured, OutcomeUnknown, Rejected, Unavailable

log = structlog.get_logger()
T = TypeVar("T")

# A background call waits no longer than this for its turn (seconds); the next one is never far.
_PATIENCE_SECONDS = 5.0

# Moments that lie ahead by less than this were noted before the clock was set back; further ones are not waited for.
_SET_BACK = dt.timedelta(minutes=1)

# How old "last answered" may be before it is written again: not every call needs a write.
_NOTE_EVERY = dt.timedelta(seconds=10)


def latest_reading() -> Reading | None:
    """The newest balance that the upstream told us, or None before the first."""
    return Reading.objects.of_their_time().order_by("-received_at", "-pk").first()


def record_reading(*, balance: int, source: str, answer: Answer[Any], ref_id: str = "") -> Reading:
    """Store `balance` (rupiah) as told by `answer`, with the interval in which it was true.

    When the clock was set, that interval cannot be compared with what we know of our orders: it is stored as one of the
    past, until the clock has passed all that was noted before.
    """
    if answer.clock_was_set or _clock_is_behind():
        source = Reading.Source.PAST
    return Reading.objects.create(
        balance=balance, source=source, ref_id=ref_id, sent_at=answer.sent_at, received_at=answer.received_at
    )


def present_moment() -> dt.datetime:
    """Now, but never before the end of a reading that was made, also when the clock was set back since.

    What is noted of orders is dated so: else a reading would seem to hold what happened after it.
    """
    now = timezone.now()
    ahead = Reading.objects.of_their_time().filter(received_at__range=(now, now + _SET_BACK))
    return ahead.aggregate(newest=Max("received_at"))["newest"] or now


def _clock_is_behind() -> bool:
    """Whether an order was sent, or seen pending, at what is still to come: the clock was set back since."""
    now = timezone.now()
    soon = now + _SET_BACK
    return Spending.objects.filter(
        Q(sent_at__gt=now, sent_at__lte=soon) | Q(pending_seen_at__gt=now, pending_seen_at__lte=soon),
        settled_at__isnull=True,
    ).exists()


def read_balance() -> Reading:
    """Ask the upstream for our balance and store it. Raises an `upstream.errors.UpstreamError` as the client does."""
    answer = in_turn(get_client().balance)
    return record_reading(balance=answer.data.balance, source=Reading.Source.BALANCE, answer=answer)


def request_balance_reading() -> bool:
    """Have a worker read the balance soon; False when the broker is down (beat reads it every minute anyway)."""
    from balance import tasks

    return publish(tasks.read_balance)


def in_turn(call: Callable[[], T]) -> T:
    """Make one background call, waiting a moment for its turn: calls in a row always meet the rate budget's pace.

    Notes what the upstream's answer says of our account. Raises an `upstream.errors.UpstreamError` as the client does.
    """
    until = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            with watching_account():
                return call()
        except Unavailable as error:
            wait = error.retry_after or 0.0
            if error.reason != "budget" or time.monotonic() + wait > until:
                raise
            time.sleep(wait)


def upstream_account() -> UpstreamAccount:
    """The one row about our account at the upstream."""
    return UpstreamAccount.objects.get_or_create(only=True)[0]


def sending_is_stopped() -> bool:
    """Whether nothing may be sent: the upstream refuses our account (credentials, inactive, IP), or it is another's.

    The balance request of every minute goes on as the probe; its first success lifts the stop.
    """
    return UpstreamAccount.objects.filter(refused_since__isnull=False).exists() or not _is_bound_to_us()


@contextmanager
def watching_account() -> Iterator[None]:
    """Wrap one call of the client: note whether the upstream answered, was silent, or refused our account.

    Raises `Misconfigured`, before anything is sent, if this database belongs to another account than the configured.
    """
    if not _is_bound_to_us():
        raise Misconfigured(
            "This database belongs to another upstream account. Start with `./run`, which says what to do."
        )
    try:
        yield
    except Misconfigured as error:
        _note_refusal(error)
        raise
    except Unavailable as error:
        if error.reason == "connect":
            _note_silence()
        raise
    except OutcomeUnknown as error:
        if error.reason in {"timeout", "connection"}:
            _note_silence()
        raise
    except Rejected as error:
        # The limit per IP is answered before anybody looks at the credentials; status 0 means that nothing was sent.
        if error.error_code != ErrorCode.RATE_LIMITED and error.http_status:
            _note_answer()
        raise
    else:
        _note_answer()


def _note_answer() -> None:
    now = timezone.now()
    upstream_account()
    UpstreamAccount.objects.filter(
        Q(unreachable_since__isnull=False)
        | Q(refused_since__isnull=False)
        | Q(last_answer_at__isnull=True)
        | Q(last_answer_at__lt=now - _NOTE_EVERY)
    ).update(last_answer_at=now, unreachable_since=None, refused_since=None, refused_code="")


def _note_silence() -> None:
    upstream_account()
    UpstreamAccount.objects.filter(unreachable_since__isnull=True).update(unreachable_since=timezone.now())


def _note_refusal(error: Misconfigured) -> None:
    upstream_account()
    code = error.error_code or "NOT_CONFIGURED"
    stopped = UpstreamAccount.objects.filter(refused_since__isnull=True).update(
        refused_since=timezone.now(), refused_code=code, unreachable_since=None
    )
    if stopped:
        log.error("upstream_refuses_our_account", error_code=str(code))


class WrongUpstream(Exception):
    """The database belongs to another account at the upstream than the one configured."""


def bind_to_upstream(*, has_orders: bool) -> None:
    """Tie this database to the configured account, or raise `WrongUpstream` with what to do.

    Orders of one account must never be asked about at another: "not found" there would mean nothing. And books that
    were opened with one account's balance are nobody else's, and cannot be emptied. So the tie may only change while
    nothing was ordered and no balance was read.
    """
    sandbox, fingerprint = _fingerprint("sandbox"), _configured()
    row = upstream_account()
    if row.fingerprint not in {"", fingerprint} and (has_orders or Reading.objects.exists()):
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
    return not tied_to or tied_to == _configured()


def _configured() -> str:
    account = f"{settings.UPSTREAM_BASE_URL.rstrip('/')}|{settings.UPSTREAM_SECRET_ID}"
    return _fingerprint("sandbox" if settings.SANDBOX else account)


def _fingerprint(account: str) -> str:
    return hashlib.sha256(account.encode()).hexdigest()
