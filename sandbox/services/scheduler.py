"""The thread that does all due work: settling, late arrivals, callbacks. Work is rows, so a restart loses nothing."""

import logging
import threading
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from django.db import connection
from django.utils import timezone

logger = logging.getLogger(__name__)

# Seconds until it looks again if nobody wakes it: another process may have written a row.
LONGEST_SLEEP = 5.0

_awake = threading.Event()


def wake() -> None:
    """Make the scheduler look for due work now."""
    _awake.set()


class Scheduler(threading.Thread):
    """Calls each job; a job does its due work and returns the next due time (aware), or None."""

    def __init__(self, jobs: Sequence[Callable[[], datetime | None]]) -> None:
        super().__init__(name="scheduler", daemon=True)
        self.jobs = jobs
        self.ends = threading.Event()

    def run(self) -> None:
        """Work until `stop`. A job that fails is logged and runs again a second later."""
        while not self.ends.is_set():
            _awake.clear()
            horizon = timezone.now() + timedelta(seconds=LONGEST_SLEEP)
            for job in self.jobs:
                try:
                    due = job()
                except Exception:
                    logger.exception("the scheduler's job %s failed", job.__name__)
                    due = timezone.now() + timedelta(seconds=1)
                if due is not None:
                    horizon = min(horizon, due)
            connection.close()
            _awake.wait(max(0.0, (horizon - timezone.now()).total_seconds()))

    def stop(self, timeout: float) -> None:
        """End the thread after the job in hand; waits at most `timeout` seconds."""
        self.ends.set()
        wake()
        self.join(timeout)
