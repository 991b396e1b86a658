"""beat's clock. Any number of beats may be started, on any machines; only one of them ticks at a time."""

import datetime as dt
import time
from typing import Any

import redis
import structlog
from celery.beat import PersistentScheduler
from celery.utils.time import maybe_make_aware
from redis.exceptions import LockNotOwnedError

from core import heartbeats
from core.publish import publish
from core.stores import new_client

log = structlog.get_logger()

# Seconds for which the others wait for a beat that was killed. A beat that stops in order is replaced at once.
LEASE_SECONDS = 15.0
_RENEW_SECONDS, _STAND_BY_SECONDS = 3.0, 1.0
# A task that ran this much later than now ran before the machine's clock was set back.
_CLOCK_STEP = dt.timedelta(seconds=5)


class OneOfMany(PersistentScheduler):
    """Ticks while it holds the lease in Redis, stands by otherwise. Two at once would only send messages twice."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.name = heartbeats.process_name("beat")
        self._lease = new_client().lock("beat", timeout=LEASE_SECONDS, thread_local=False)
        self._is_held = False
        self._renewed = 0.0
        super().__init__(*args, **kwargs)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send what is due if this beat holds the lease; return the seconds until the next tick."""
        heartbeats.record(self.name)
        try:
            self._is_held = self._keep() if self._is_held else self._take()
        except redis.RedisError as error:
            log.warning("beat_lease_unknown", fault=type(error).__name__)
            return _STAND_BY_SECONDS  # without Redis nothing could be sent either
        if not self._is_held:
            return _STAND_BY_SECONDS
        self._follow_the_clock()
        return float(super().tick(*args, **kwargs))

    def _follow_the_clock(self) -> None:
        """Count the pauses of tasks from now if the clock was set back, also while no beat ran.

        Celery would send none of them until the clock shows the former time again, which may take hours.
        """
        now = self.app.now()
        latest = now + _CLOCK_STEP
        ahead = [entry for entry in self.schedule.values() if maybe_make_aware(entry.last_run_at or now) > latest]
        for entry in ahead:
            entry.last_run_at = now
        if ahead:
            self._heap = None  # it has the former times: Celery makes it again
            log.warning("clock_was_set_back", tasks=len(ahead))

    def close(self) -> None:
        """Let another one take over at once."""
        heartbeats.end(self.name)
        # In a planned restart beat ends first: the workers, which go on for a moment, raise no alert about it.
        heartbeats.record_start()
        if self._is_held:
            try:
                self._lease.release()
            except redis.RedisError as error:
                log.warning("beat_lease_not_released", fault=type(error).__name__)
        super().close()

    def _keep(self) -> bool:
        if time.monotonic() - self._renewed < _RENEW_SECONDS:
            return True
        try:
            self._lease.reacquire()
        except LockNotOwnedError:  # this process, or Redis, was frozen for too long
            log.warning("beat_lease_lost", process=self.name)
            return False
        self._renewed = time.monotonic()
        return True

    def _take(self) -> bool:
        if not self._lease.acquire(blocking=False):
            return False
        self._renewed = time.monotonic()
        log.info("beat_lease_taken", process=self.name)
        # The schedule's first minute would pass without a known balance, and a new shop's without asking for products.
        publish("reconciliation.tasks.read_balance")
        publish("catalogue.tasks.fetch_missing_catalogue")
        return True
