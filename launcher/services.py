"""Processes that have to run all the time: each is started again when it ends, after longer pauses while it fails."""

import contextlib
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass

from launcher.output import LaunchError, Say, last_lines
from launcher.processes import Child, ProcessGroup

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
# After a service has run for this long (seconds), the next pause is short again.
STEADY_SECONDS = 60.0
# With less free space than this, a log may lack a process's last lines.
FULL_BYTES = 1_000_000


@dataclass
class Service:
    """One such process; `begin` starts it. If `begin` raises LaunchError or OSError, the start has failed."""

    name: str
    begin: Callable[[], Child]
    port: int | None = None
    child: Child | None = None
    failures: int = 0
    due: float = 0.0

    def keep_up(self, group: ProcessGroup, say: Say) -> bool:
        """Note the process's end, or start it again after its pause; returns whether either happened."""
        if self.child is not None:
            if self.child.running():
                return False
            self._note_end(self.child, group, say)
            return True
        if time.monotonic() < self.due:
            return False
        try:
            self.child = self.begin()
        except (LaunchError, OSError) as error:
            say(f"{self.name} cannot be started, the next try is in {self._put_off():g} s: {error}")
        return True

    def _note_end(self, child: Child, group: ProcessGroup, say: Say) -> None:
        group.forget(child)
        self.child = None
        if time.time() - child.started > STEADY_SECONDS:
            self.failures = 0
        how = f"{self.name} {how_it_ended(child)} and is started again in {self._put_off():g} s"
        if child.log and shutil.disk_usage(child.log.parent).free < FULL_BYTES:  # the log ends with an earlier run
            say(f"{how}; the disk of {child.log.parent} is full: make room.")
            return
        lines = last_lines(child.log, 5) if child.log else ""
        say(f"{how}; its last lines:\n{lines}" if lines else how)

    def _put_off(self) -> float:
        pause: float = min(FIRST_PAUSE * 2**self.failures, LONGEST_PAUSE)
        self.due = time.monotonic() + pause
        self.failures += 1
        return pause


def how_it_ended(child: Child) -> str:
    """ "was ended by SIGKILL" or "ended with exit code 1"."""
    code = child.process.returncode
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
