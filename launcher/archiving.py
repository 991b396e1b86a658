"""The backups of `./run up` when BACKUP_TO is set: it copies the log all the time, and makes a backup each night.

The launcher starts the backup by its own clock, not beat: no process of the app may copy PostgreSQL's files.
"""

import contextlib
import datetime as dt
import threading
from pathlib import Path

import psycopg

from launcher.backups import backups_in, named_by_time, new_name, refuse_another_shops, time_of
from launcher.data_folder import write_json
from launcher.output import LaunchError, Say
from launcher.postgresql import PostgreSQL
from launcher.processes import Child, ProcessGroup
from launcher.project import Project
from launcher.recurring import AGAIN_SECONDS, Recurring

NIGHT = dt.time(19, tzinfo=dt.UTC)  # 02:00 in Jakarta
# In the data folder: when a backup last failed, and why. The pages read it.
FAULT = "backup-fault.json"
EVERY_SECONDS = 5.0
# How long the launcher waits for an answer of the folder of backups.
ANSWER_SECONDS = 5.0
NOTE = "log-copied.json"
_MOST_MARKS = 1000


class LogCopies:
    """The write-ahead log's copy in the folder of backups: each commit is there within moments.

    PostgreSQL keeps the log that is not copied yet, up to `max_slot_wal_keep_size`. When that was not enough, or the
    folder of backups is new, copies begin in a new folder, and a backup is due at once. A thread looks into the folder:
    one that does not answer, such as a network disk, must not hold up the shop.
    """

    def __init__(self, project: Project, postgres: PostgreSQL, folder: Path) -> None:
        self._log = project.logs / "log-copies.log"
        self._postgres = postgres
        self._folder = folder
        self._looking: threading.Thread | None = None
        self._answer: Path | Exception = folder

    @property
    def is_waiting(self) -> bool:
        """Whether the folder has not answered yet."""
        return self._looking is not None and self._looking.is_alive()

    def begin(self) -> Child:
        """Start copying; LaunchError when the folder or the database is away, or the folder does not answer."""
        if not self.is_waiting:
            self._looking = threading.Thread(target=self._look, name="log-copies", daemon=True)
            self._looking.start()
            self._looking.join(ANSWER_SECONDS)
        if self.is_waiting:
            raise LaunchError(f"The folder {self._folder} (BACKUP_TO) does not answer: is its disk or network there?")
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._postgres.copy_log_to(self._answer, log=self._log)

    def _look(self) -> None:
        try:
            self._answer = self._folder_for_copies()
        except Exception as error:
            self._answer = error

    def _folder_for_copies(self) -> Path:
        """The folder in which the copies go on, or begin."""
        if not self._folder.is_dir():
            raise LaunchError(f"There is no folder {self._folder} (BACKUP_TO): make it, or mount its disk.")
        try:
            refuse_another_shops(self._folder, self._postgres.identifier())
            kept = named_by_time(self._folder / "wal")
            if not kept or not self._postgres.keeps_log_for_copies():
                self._postgres.keep_log_for_copies()
                kept = [self._folder / "wal" / new_name()]
                kept[0].mkdir(mode=0o700, parents=True)
        except (psycopg.Error, OSError) as error:
            raise LaunchError(f"The log cannot be copied: {error}") from error
        return kept[-1]


class Nights:
    """Makes a backup each night, and at once when the copied log follows no backup."""

    def __init__(self, project: Project, group: ProcessGroup, folder: Path) -> None:
        self._fault = project.data / FAULT
        self._backup = Recurring(
            project, group, "backup", folder, is_due=lambda: is_due(folder, dt.datetime.now(dt.UTC))
        )

    def look(self, say: Say) -> None:
        """Start a backup when one is due, and say how it has ended; a fault is noted, and stops nothing else."""
        try:
            ended = self._backup.look()
        except (LaunchError, OSError) as error:
            say(f"No backup can be made, the next try is in {AGAIN_SECONDS:g} s: {error}")
            self._note_fault(str(error))
            return
        if ended and ended.process.returncode != 0:
            say(f"The backup failed, the next try is in {AGAIN_SECONDS:g} s:\n{self._backup.last_words(5)}")
            self._note_fault(self._backup.fault_of(ended))

    def _note_fault(self, fault: str) -> None:
        """Note the fault for the alert; on a full disk only the log has it."""
        with contextlib.suppress(LaunchError):
            write_json(self._fault, {"at": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"), "fault": fault})


def is_due(folder: Path, now: dt.datetime) -> bool:
    """Whether there is no backup since the last night began, or none since the present copies of the log began.

    What has a later time than now was made while the machine's clock was wrong: it counts for no night.
    """
    night = dt.datetime.combine(now.date(), NIGHT)
    begun = [at for at in times_of_copies(folder) if at <= now]
    since = max([night if night <= now else night - dt.timedelta(days=1), *begun])
    return not any(since <= backup.began <= now for backup in backups_in(folder))


def times_of_copies(folder: Path) -> list[dt.datetime]:
    """The times at which the log's copies began."""
    return [time_of(copies.name) for copies in named_by_time(folder / "wal")]


class CopiedLog:
    """Notes every few seconds up to which time the copied log has all commits: later ones are lost with the disk.

    The note is for the page Backups and its alert: no process of the app may ask PostgreSQL how far copies have come.
    While PostgreSQL or the folder is away, nothing is noted and the time stands still. It has a thread of its own, so
    that a folder that does not answer, such as a network disk, delays nothing else.
    """

    def __init__(self, project: Project, postgres: PostgreSQL, folder: Path) -> None:
        self._note = project.data / NOTE
        self._postgres = postgres
        self._folder = folder
        self._marks: list[tuple[dt.datetime, int]] = []  # the log's end at each time, the oldest first
        self._usable: dt.datetime | None = None  # when the present copies began, if they follow a backup
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="copied-log", daemon=True)

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            with contextlib.suppress(psycopg.Error, OSError, LaunchError):  # the time that stands still shows it
                self.measure()

    def measure(self) -> dt.datetime | None:
        """Note up to which time each commit can be restored from the folder, and return it; None while it is not known.

        A mark is the log's end at a time. Once the copy has passed a mark, it has all commits before that time.
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
        """Whether the present copies follow a backup: without one they restore nothing."""
        begun = max(times_of_copies(self._folder), default=None)
        if begun is None or begun != self._usable:
            ready = begun is not None and any(backup.began >= begun for backup in backups_in(self._folder))
            self._usable = begun if ready else None
        return self._usable is not None


def thinned(marks: list[tuple[dt.datetime, int]]) -> list[tuple[dt.datetime, int]]:
    """Every other mark, and the last one, when there are too many: copies may stand still for days."""
    return marks if len(marks) < _MOST_MARKS else [*marks[:-1:2], marks[-1]]
