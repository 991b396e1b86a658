"""Hands out the requests to the upstream: each piece of work with its permit, when it may be sent.

A dispatcher runs as one thread in each worker process. It takes the people's line first; when only batches wait there,
it alternates with due work of the database. It never hands out more than the rate budget has room for, so an order in
the line holds up no thread of a page or a worker.

It sleeps until something falls due or a commit wakes it (`line.ring_when_committed`), at most for
`line.LONGEST_SLEEP_SECONDS`. Several dispatchers do not disturb each other: permits, the line and the leases of rows
are each taken only once.
"""

import datetime as dt
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import redis
import structlog
from django.db import DatabaseError, close_old_connections, connection
from django.db.models import QuerySet, Value

from core import clock
from core.connections import trust_quiet_connection
from core.publish import publish
from core.tracing import begin_trace, end_trace
from gateway import line
from gateway.line import Work
from gateway.services import sending_is_stopped
from gateway.standing import note_handed_out
from upstream.budget import CallClass, Permit
from upstream.client import get_client
from upstream.endpoints import Endpoint
from upstream.errors import Unavailable, UpstreamError

log = structlog.get_logger()

# A permit is booked this long (seconds) before its moment, for the message to the worker and the worker's preparation.
_AHEAD_SECONDS = 0.25
_CLASS = {True: CallClass.INTERACTIVE, False: CallClass.BACKGROUND}
# Rows that cannot be handed out now (sending is stopped, another dispatcher has them) are read again after this.
_AGAIN_SECONDS = 2.0
# The pause after a fault of Redis or PostgreSQL.
_FAULT_SECONDS = 2.0
# Rows are leased a few at a time: if this process is killed, its rows are found again only after their lease.
_IN_HAND, _AT_MOST = 4, 20
# While this many messages wait for the workers, no more due work is taken: its permits would be void before a worker
# had time for them, and beat's tasks would wait behind it until they expire.
MOST_WAITING = 8


@dataclass(frozen=True, kw_only=True)
class Due:
    """Rows of one room that fall due.

    `earliest()`: a query for only their due times (`values_list`), earliest first. `take(limit)` leases up to `limit`
    rows, the oldest due first, and returns their work; lost work is found again after its lease. `tasks`: the names of
    the tasks that do the work. `asks_upstream`: each piece costs one request of the rate budget and is handed out with
    its permit.
    """

    earliest: Callable[[], QuerySet[Any]]
    take: Callable[[int], list[Work]]
    tasks: tuple[str, ...] = ()
    asks_upstream: bool = True


def first_moments(sources: Sequence[Due]) -> list[tuple[Due, dt.datetime]]:
    """Each source that has rows, with the first due time; one statement for all sources."""
    first, *others = [source.earliest().annotate(place=Value(place))[:1] for place, source in enumerate(sources)]
    return [(sources[place], moment) for moment, place in first.union(*others, all=True)]


class Dispatcher:
    """Hands out in one thread of a process. `queue_of_people`, `queue_of_rest`: the workers' queues."""

    def __init__(self, sources: Sequence[Due], *, queue_of_people: str = "", queue_of_rest: str = "") -> None:
        self._sources = sources
        self._queues = {True: queue_of_people, False: queue_of_rest}
        self._in_hand: deque[Work] = deque()
        self._look_at = 0.0  # when to read the database again (monotonic)
        self._batch_went_last = False

    def run(self, stop: threading.Event) -> None:
        """Hand out until `stop` is set; after a fault, log it and go on after a pause."""
        while not stop.is_set():
            try:
                pause = self.hand_out_next()
                if pause > 0 and (moment := line.wait_for_bell(pause)):
                    wait = (moment - clock.now()).total_seconds()
                    self._look_at = min(self._look_at, time.monotonic() + wait)
            except (redis.RedisError, DatabaseError) as error:
                log.warning("dispatcher_paused", fault=type(error).__name__)
                connection.close()
                stop.wait(_FAULT_SECONDS)
            except Exception:
                log.exception("dispatcher_failed")
                stop.wait(_FAULT_SECONDS)
        # It may have taken the bell's last ring: pass it on to another dispatcher.
        with suppress(redis.RedisError):
            line.ring()

    def hand_out_next(self) -> float:
        """Hand out one piece of work if it may be sent now; return the seconds until there is something to do.

        Raises `redis.RedisError` and `DatabaseError`.
        """
        if not self._in_hand and time.monotonic() >= self._look_at:
            self._look()
        turn_in = line.first_turn_in()
        if turn_in is None and not self._in_hand:
            return max(0.0, self._look_at - time.monotonic())
        has_turn = turn_in == 0
        try:
            # All work that is handed out counts against the same limits as this endpoint.
            permit = get_client().budget.book(Endpoint.TRANSACTION_STATUS, _CLASS[has_turn], _AHEAD_SECONDS)
        except UpstreamError as error:
            wait = error.retry_after if isinstance(error, Unavailable) and error.retry_after else _FAULT_SECONDS
            pause = wait - _AHEAD_SECONDS
            if turn_in is not None:  # an answer may free a place sooner, or a batch's first call may get its turn
                pause = min(pause, 1.0 if has_turn else turn_in)
            return max(0.01, pause)  # the bell rings for every call that joins meanwhile
        from_line = line.take_first() if has_turn or not self._in_hand or not self._batch_went_last else None
        self._batch_went_last = from_line is not None and not has_turn
        if from_line is None and not self._in_hand:
            permit.cancel()
            return 0.0
        work, trace = from_line or (self._in_hand.popleft(), "")
        # The worker continues the trace of the click, or begins its own.
        begin_trace(trace)
        try:
            is_published = self._publish(work, permit, is_peoples=from_line is not None)
        finally:
            end_trace()
        return 0.0 if is_published else _FAULT_SECONDS

    def _publish(self, work: Work, permit: Permit, *, is_peoples: bool) -> bool:
        if publish(work.task, work.pk, permit.id, queue=self._queues[is_peoples]):
            permit.hand_over()
            return True
        permit.cancel()
        return False

    def _look(self) -> None:
        """Lease due work, and set the time of the next look."""
        close_old_connections()
        trust_quiet_connection()
        line.stay_awake()
        moments = first_moments(self._sources)
        now = clock.now()
        due = [source for source, earliest in moments if earliest <= now]
        later = [earliest for _, earliest in moments if earliest > now]
        look_at = min([now + dt.timedelta(seconds=line.LONGEST_SLEEP_SECONDS), *later])
        if due:
            self._take(due)
            # Look for the rest as soon as all leased work is handed out.
            look_at = now if self._in_hand else min(look_at, now + dt.timedelta(seconds=_AGAIN_SECONDS))
        self._look_at = time.monotonic() + (look_at - now).total_seconds()
        line.fall_asleep(look_at)

    def _take(self, due: list[Due]) -> None:
        asking = [source for source in due if source.asks_upstream]
        for source in due:
            if not source.asks_upstream:
                works = source.take(_AT_MOST)
                note_handed_out({work.task for work in works})
                for work in works:
                    publish(work.task, work.pk)
        if asking and not sending_is_stopped() and line.backlog(self._queues[False]) < MOST_WAITING:
            # Fair shares: the rooms take turns, in a random order.
            shares = [source.take(_IN_HAND) for source in random.sample(asking, len(asking))]
            while any(shares):
                self._in_hand += [share.pop(0) for share in shares if share]
            line.leave(*self._in_hand)
            note_handed_out({work.task for work in self._in_hand})
