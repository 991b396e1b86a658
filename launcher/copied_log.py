"""Until when each commit is in the copy of the log, measured every few seconds: what is later is lost with the disk.

It is noted in the data folder for the page Backups and its alert. No process of the app may ask for the positions of
those who copy; the launcher may. Nothing is noted while PostgreSQL or the folder is away, so the time stands still.
"""

import contextlib
import datetime as dt
import threading
from pathlib import Path

import psycopg

from launcher.archiving import times_of_copies
from launcher.backups import backups_in
from launcher.data_folder import write_json
from launcher.failures import LaunchError
from launcher.postgresql import PostgreSQL
from launcher.project import Project

EVERY_SECONDS = 5.0
NOTE = "log-copied.json"


class CopiedLog:
    """A thread of the launcher: a folder that does not answer, such as a network disk, holds up nothing else."""

    def __init__(self, project: Project, postgres: PostgreSQL, folder: Path) -> None:
        self._note = project.data / NOTE
        self._postgres = postgres
        self._folder = folder
        self._marks: list[tuple[dt.datetime, int]] = []  # where the log ended at a time, the oldest first
        self._usable: dt.datetime | None = None  # the copies that a backup was found for
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="copied-log", daemon=True)

    def begin(self) -> None:
        """Measure from now on."""
        self._thread.start()

    def end(self) -> None:
        """Measure no more."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            with contextlib.suppress(psycopg.Error, OSError, LaunchError):  # the time that stands still says it
                self.measure()

    def measure(self) -> dt.datetime | None:
        """Note until when each commit can be restored from the folder, and return it; None while that is not known.

        A mark is the end of the log at a time. Once the copy has passed it, all that was committed before is there.
        """
        at = dt.datetime.now(dt.UTC)
        end, copied = self._postgres.ends_of_log()
        self._marks = thinned([*self._marks, (at, end)])
        passed = [mark for mark in self._marks if copied is not None and mark[1] <= copied]
        if not passed or not self._has_backup():
            return None
        self._marks = self._marks[len(passed) - 1 :]
        until = passed[-1][0]
        write_json(self._note, {"until": until.isoformat()})
        return until

    def _has_backup(self) -> bool:
        """Whether there is a backup that the present copies go on from: without one they restore nothing."""
        begun = max(times_of_copies(self._folder), default=None)
        if begun is None or begun != self._usable:
            ready = begun is not None and any(backup.began >= begun for backup in backups_in(self._folder))
            self._usable = begun if ready else None
        return self._usable is not None


def thinned(marks: list[tuple[dt.datetime, int]], most: int = 1000) -> list[tuple[dt.datetime, int]]:
    """Every other mark when there are too many, with the last one: copies that stand still for days."""
    return marks if len(marks) < most else [*marks[:-1:2], marks[-1]]
