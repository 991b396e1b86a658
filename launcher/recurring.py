"""The commands that `./run up` starts by its own clock: the backup each night and the drill each month."""

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

from launcher import PYTHON, ROOT
from launcher.output import LaunchError, last_lines
from launcher.processes import NICENESS, Child, ProcessGroup
from launcher.project import Project
from launcher.services import how_it_ended

LOOK_SECONDS, AGAIN_SECONDS = 30.0, 600.0


class Recurring:
    """One command of `./run`, started at a low priority whenever it is due, and not within 10 minutes after a failure.

    A thread asks whether it is due: a folder that does not answer, such as a network disk, must not hold up the shop.
    """

    def __init__(
        self,
        project: Project,
        group: ProcessGroup,
        *words: str | Path,
        is_due: Callable[[], bool],
        first_look: float = 0.0,
    ) -> None:
        self._name = str(words[0])
        self._command = [PYTHON, ROOT / "run", *words]
        self._environment = {**os.environ, "BACKOFFICE_DATA": str(project.data)}
        self._group = group
        self._log = project.logs / f"{self._name}.log"
        self._is_due = is_due
        self._asking: threading.Thread | None = None
        self._answer: bool | Exception = False
        self._child: Child | None = None
        self._look_at = time.monotonic() + first_look

    def look(self) -> Child | None:
        """Start the command when it is due; returns its child once, when it has ended.

        LaunchError or OSError when the folder cannot be read or the command cannot be started.
        """
        if self._child is not None:
            return None if self._child.running() else self._end(self._child)
        if self._asking is None:
            if time.monotonic() >= self._look_at:
                self._asking = threading.Thread(target=self._ask, name=f"{self._name}-due", daemon=True)
                self._asking.start()
        elif not self._asking.is_alive():
            self._asking, answer = None, self._answer
            self._look_at = time.monotonic() + AGAIN_SECONDS
            if isinstance(answer, Exception):
                raise answer
            if answer:
                self._child = self._begin()
            self._look_at = time.monotonic() + LOOK_SECONDS
        return None

    def last_words(self, count: int) -> str:
        """The last lines that the command has written."""
        return last_lines(self._log, count)

    def fault_of(self, child: Child) -> str:
        """Why it failed, in one line."""
        was_killed = child.process.returncode < 0  # then its last line is of something else
        return (not was_killed and self.last_words(1).strip()) or how_it_ended(child)

    def _ask(self) -> None:
        self._answer = False
        try:
            self._answer = self._is_due()
        except (LaunchError, OSError) as error:
            self._answer = error

    def _begin(self) -> Child:
        return self._group.start(
            self._name, self._command, env=self._environment, cwd=ROOT, log=self._log, niceness=NICENESS
        )

    def _end(self, child: Child) -> Child:
        self._group.forget(child)
        self._child = None
        if child.process.returncode != 0:
            self._look_at = time.monotonic() + AGAIN_SECONDS
        return child
