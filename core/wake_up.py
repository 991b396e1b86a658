"""Wake up a worker that takes all waiting rows of the database: one message for many rows."""

from __future__ import annotations

import threading
import time

from core.publish import publish


class WakeUp:
    """Publishes a task without arguments: at once, then at most once in a pause, for any number of calls.

    A call during the pause is served at its end. The pause (seconds) doubles up to `longest` while each is asked in:
    a message, and what a worker does for each, costs more than many rows do. One for all threads of a process.
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
