"""Hands work to the workers without ever depending on the broker: PostgreSQL already holds the work."""

import threading
import time
from functools import cache
from typing import Any

from celery import current_app
from kombu import Connection
from kombu.exceptions import OperationalError
from kombu.pools import producers

from core.stores import PATIENCE_SECONDS, Breaker

breaker = Breaker("broker_unreachable")


def publish(task: str, *args: Any, queue: str = "") -> bool:
    """Queue the task of this name (e.g. "purchases.tasks.submit_order") now; False when the broker cannot be reached.

    A room names the tasks of the rooms above it without importing them. `queue`: another queue than the task's own. The
    sweep does the work when the broker is down. Tried once, without Celery's retries: a person may be waiting.
    """
    if breaker.is_open:
        return False
    route: dict[str, Any] = {"queue": queue} if queue else {}
    try:
        with producers[_broker()].acquire(block=True, timeout=PATIENCE_SECONDS) as producer:
            current_app.send_task(task, args=args, retry=False, producer=producer, **route)
    except OperationalError as error:
        breaker.note(error, task=task)
        return False
    return True


@cache
def _broker() -> Connection:
    """The broker for publishing, with little patience; workers, which wait for messages, have more."""
    patience = {"socket_timeout": PATIENCE_SECONDS, "socket_connect_timeout": PATIENCE_SECONDS, "max_retries": 0}
    return current_app.connection_for_write(transport_options=patience)


class WakeUp:
    """Publishes a task without arguments: at once, then at most once in a pause, for any number of calls.

    A call during the pause is served at its end. The pause (seconds) doubles up to `longest` while
    each pause has a call: a message and a worker's task for it cost more than many rows. For all threads of a process.
    """

    def __init__(self, task: str, *, pause: float = 0.1, longest: float = 0.0) -> None:
        self._task = task
        self._shortest, self._longest = pause, max(pause, longest)
        self._pause = pause
        self._lock = threading.Lock()
        self._rests_until = 0.0
        self._is_asked = False

    def ask(self) -> None:
        """Publish the task now, or at the end of the pause."""
        with self._lock:
            wait = self._rests_until - time.monotonic()
            if self._is_asked:
                return
            if wait > 0:
                self._is_asked = True
                timer = threading.Timer(wait, self._at_the_end)
                timer.daemon = True
                timer.start()
                return
            self._rest(self._shortest)
        publish(self._task)

    def _at_the_end(self) -> None:
        with self._lock:
            self._is_asked = False
            self._rest(min(2 * self._pause, self._longest))
        publish(self._task)

    def _rest(self, pause: float) -> None:
        self._pause = pause
        self._rests_until = time.monotonic() + pause
