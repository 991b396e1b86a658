"""Copies the journal of sent orders to the folder of backups every few seconds, and deletes its old days.

The app appends to `sent/20261126.jsonl` in the data folder (purchases/services/sent.py). In the folder of backups the
file's name also has a name of the data folder, so that machines and restored shops never write to each other's files.
"""

import datetime as dt
import os
import secrets
import threading
from pathlib import Path

from launcher.backups import delete_days_before, flush, refuse_another_shops
from launcher.output import LaunchError, Say
from launcher.project import Project

EVERY_SECONDS = 2.0
DAY = "????????.jsonl"


class SentCopies:
    """Copies in a thread of its own: a folder that does not answer, such as a network disk, delays nothing else."""

    def __init__(self, project: Project, folder: Path | None, *, days: int, say: Say, identifier: str = "") -> None:
        self._sent = project.data / "sent"
        self._folder = folder
        self._days = days
        self._say = say
        self._identifier = identifier  # the database's identifier; "" for a database of DATABASE_URL
        self._is_ours = not identifier  # whether copies may go there: the folder is this database's, or any will do
        self._fault = ""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sent-copies", daemon=True)

    def begin(self) -> None:
        self._thread.start()

    def end(self) -> None:
        """Copy a last time, for a second at most; the next start copies the rest."""
        self._stop.set()
        if self._thread.ident:
            self._thread.join(1.0)

    def _run(self) -> None:
        is_last = False
        while not is_last:
            is_last = self._stop.wait(EVERY_SECONDS)
            try:
                if self._folder:
                    self._refuse_another_shops(self._folder)
                    copy_lines(self._sent, self._folder)
                delete_days_before(self._sent, dt.datetime.now(dt.UTC) - dt.timedelta(days=self._days))
                fault = ""
            except LaunchError as error:
                fault = str(error)
            except OSError as error:
                fault = f"{error.filename or self._folder}: {error.strerror}"
            if fault and fault != self._fault:
                self._say(f"The journal of what is sent is not copied ({fault}); it is tried again.")
            self._fault = fault

    def _refuse_another_shops(self, folder: Path) -> None:
        if not self._is_ours:
            refuse_another_shops(folder, self._identifier)
            self._is_ours = True


def copy_lines(sent: Path, folder: Path) -> None:
    """Copy the lines appended to the files in `sent` since the last copy.

    `sent/copied` has the sizes of the copied files, because their times say nothing new while the machine's clock is
    set back, and the time of the last line, which the app reads.
    """
    days = {day: day.stat() for day in sorted(sent.glob(DAY))}
    copied, sizes = sent / "copied", "\n".join(f"{day.name} {facts.st_size}" for day, facts in days.items())
    if not days or (copied.exists() and copied.read_text() == sizes):
        return
    copies = folder / "sent"
    if not copies.is_dir():
        copies.mkdir(mode=0o700)  # not its parents: without its disk the folder must stay missing
        flush(folder)
    for day in days:
        _append_rest(day, copies / f"{day.stem}-{_name_of(sent)}.jsonl")
    with os.fdopen(os.open(copied, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:  # a full disk has its old block
        file.write(sizes)
        file.truncate()
    written = max(facts.st_mtime_ns for facts in days.values())
    os.utime(copied, ns=(written, written))


def _name_of(sent: Path) -> str:
    """A random name of this data folder for the folder of backups, made the first time."""
    path = sent / "name"
    if not path.exists() or not path.read_text():  # a full disk has left it empty
        path.write_text(secrets.token_hex(4))
    return path.read_text()


def _append_rest(day: Path, copy: Path) -> None:
    is_new = not copy.exists()
    done = 0 if is_new else copy.stat().st_size
    if day.stat().st_size <= done:
        return
    with day.open("rb") as lines, open(os.open(copy, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab") as file:  # noqa: PTH123 (the mode)
        lines.seek(done)
        while part := lines.read(1 << 20):
            file.write(part)
        file.flush()
        os.fsync(file.fileno())
    if is_new:
        flush(copy.parent)
