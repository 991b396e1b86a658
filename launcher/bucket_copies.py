"""The process `bucket-copies` of `./run up`: copies everything in BACKUP_TO to BACKUP_BUCKET as well, all the time.

It is a process of its own, so that a slow or missing bucket delays nothing else, and the shop never waits for it. A
file that is missing here is not deleted there: a new disk is empty, and is filled from the bucket.
"""

import contextlib
import datetime as dt
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from launcher import PYTHON, ROOT
from launcher.archiving import NOTE as LOG_NOTE
from launcher.backing_up import backup_folder, kept
from launcher.backups import (
    PARTIAL,
    Backup,
    backups_in,
    days_before,
    first_of_days,
    is_segment,
    later_than_now,
    named_by_time,
    number_of,
    time_of,
    to_keep,
)
from launcher.bucket import BACKUP, SEALED, Bucket, BucketError, manifests_in, seal_file, seal_folder
from launcher.bucket_checks import Record
from launcher.data_folder import read_json, write_json
from launcher.encrypting import public_key
from launcher.output import LaunchError
from launcher.processes import NICENESS, Child, ProcessGroup
from launcher.project import Project, read_project

EVERY_SECONDS, BACKUPS_EVERY_SECONDS = 10.0, 30.0
# In the data folder: up to which time each commit is in the bucket, and the fault if there is one. The pages read it.
NOTE = "bucket-copied.json"


class BucketCopies:
    """Starts the process; LaunchError when a setting is missing or wrong."""

    def __init__(self, project: Project, group: ProcessGroup) -> None:
        self._project = project
        self._group = group

    def begin(self) -> Child:
        bucket_of(self._project)
        return self._group.start(
            "bucket-copies",
            [PYTHON, "-m", "launcher.bucket_copies"],
            env={**os.environ, "BACKOFFICE_DATA": str(self._project.data)},
            cwd=ROOT,
            log=self._project.logs / "bucket-copies.log",
            niceness=NICENESS,
        )


def bucket_of(project: Project) -> Bucket:
    """The bucket of BACKUP_BUCKET; LaunchError when a setting is missing or wrong."""
    if "BACKUP_RECIPIENT" not in project.given:
        raise LaunchError(
            "BACKUP_BUCKET needs BACKUP_RECIPIENT, for which all is encrypted: `./run backup --new-key FILE` makes one."
        )
    public_key(project.given["BACKUP_RECIPIENT"])
    return Bucket(project, project.given["BACKUP_BUCKET"])


class Copier:
    """Copies new files, in turns. A turn may be cut off at any point; the next turn does the rest."""

    def __init__(self, project: Project, bucket: Bucket, folder: Path) -> None:
        self._project = project
        self._bucket = bucket
        self._folder = folder
        self._recipient = project.given["BACKUP_RECIPIENT"]
        self._there: dict[str, tuple[int, int]] = {}  # size and time of each file that this process has copied
        self._whole: set[str] = set()  # the names of all objects, once they are known
        self._is_known = False
        self._looking = threading.Lock()  # one thread copies the log, another the backups
        self._record = Record(project.data, bucket)
        self._until = read_json(project.data / NOTE).get("until")
        self._newest = ""  # the name of the newest backup here
        self.faults: dict[str, str] = {}

    def _look(self) -> None:
        """List the bucket, once. Nothing is written before the bucket is known to be this shop's."""
        with self._looking:
            if not self._is_known:
                self._refuse_another_shops()
                self._whole = set(self._bucket.sizes())
                self._is_known = True

    def copy_files(self) -> None:
        """Copy the journal and the log, and learn up to which time each commit can be restored from the bucket.

        That time is unknown until the bucket has a backup that this log follows.
        """
        self._look()
        until = read_json(self._project.data / LOG_NOTE).get("until")
        for path in self._files():
            self._copy_file(path)
        begun = max((time_of(path.name) for path in named_by_time(self._folder / "wal")), default=None)
        usable = begun and any(time_of(name) >= begun for name in self._backups_there())
        self._until = until if usable else None

    def _files(self) -> Iterator[Path]:
        """The journal and the segments of the log, the oldest first."""
        yield from sorted((self._folder / "sent").glob("*.jsonl"))
        for folder in named_by_time(self._folder / "wal"):
            yield from sorted(folder.iterdir())

    def _copy_file(self, path: Path) -> None:
        name = f"{path.relative_to(self._folder).as_posix()}{SEALED}"
        grows = path.suffix in {PARTIAL, ".jsonl"}
        if not grows and name in self._whole:
            return
        with contextlib.suppress(FileNotFoundError):  # the segment has become whole meanwhile, under another name
            facts = path.stat()
            if self._there.get(name) == (facts.st_size, facts.st_mtime_ns):
                return
            self._record.add(name, self._bucket.put(name, seal_file(path, self._recipient)))
            self._there[name] = (facts.st_size, facts.st_mtime_ns)
            if not grows:
                self._whole.add(name)
                self._record.keep()
                self._forget(f"{path.relative_to(self._folder).as_posix()}{PARTIAL}{SEALED}")

    def _forget(self, name: str) -> None:
        """Delete the partial copy of a segment that is whole now."""
        if name in self._there or name in self._whole:
            self._record.forget([name])
            self._bucket.delete([name])
            self._there.pop(name, None)
            self._whole.discard(name)

    def _backups_there(self) -> list[str]:
        return [name.removesuffix(".json") for name in list(self._whole) if "/" not in name and name.endswith(".json")]

    def copy_backups(self) -> None:
        """Copy each missing backup, the newest first, and delete the backups there that BACKUP_KEEP does not keep.

        LaunchError for the newest damaged backup, after the others are copied. A fault of the bucket ends the turn.
        """
        self._look()
        faults: list[LaunchError] = []
        backups = backups_in(self._folder)
        self._newest = backups[-1].folder.name if backups else ""
        for backup in reversed(backups):
            if backup.folder.name in self._backups_there():
                continue
            try:
                self._copy_backup(backup)
            except BucketError:  # it would refuse the other backups, too, after the work of encrypting each
                raise
            except LaunchError as fault:
                faults.append(fault)
            else:
                self.delete_old()
        if faults:
            raise faults[0]

    def _copy_backup(self, backup: Backup) -> None:
        name, draft = backup.folder.name, self._project.data / "bucket.new"
        manifest = {**backup.manifest, "first_segment": backup.first_segment}  # a damaged backup is not sent
        try:
            seal_folder(backup.folder, self._recipient, draft)
            self._record.add(f"{name}{BACKUP}", self._bucket.put(f"{name}{BACKUP}", draft))
        finally:
            draft.unlink(missing_ok=True)
        write_json(draft, manifest)
        self._record.add(f"{name}.json", self._bucket.put(f"{name}.json", draft.read_bytes()))
        self._record.keep()
        draft.unlink()
        self._whole.update([f"{name}{BACKUP}", f"{name}.json"])

    def _refuse_another_shops(self) -> None:
        ours = {backup.manifest["database"] for backup in backups_in(self._folder)}
        theirs = {manifest["database"] for manifest in manifests_in(self._bucket).values()}
        if theirs and not ours:
            raise LaunchError(
                f"{self._bucket.address} holds backups, and BACKUP_TO none to compare with: it waits for the first."
            )
        if theirs - ours:
            raise LaunchError(
                f"{self._bucket.address} holds the backups of another database: name a folder in it for this one alone."
            )

    def delete_old(self) -> None:
        """Delete the backups that are not to be kept, and the log and the journal from before the last days."""
        manifests, sizes = manifests_in(self._bucket), self._bucket.sizes()
        times = {time_of(name): name for name in manifests}
        left = to_keep(times, kept(self._project))
        gone = [f"{name}{ending}" for at, name in times.items() if at not in left for ending in (".json", BACKUP)]
        if not later_than_now(times) and (first := first_of_days(times, kept(self._project))):
            segment = manifests[times[first]]["first_segment"]
            log = {name: Path(name.removesuffix(SEALED)) for name in sizes if name.startswith("wal/")}
            gone += [name for name, path in log.items() if is_segment(path.name) and number_of(path) < segment]
            sent = {Path(name).name: name for name in sizes if name.startswith("sent/")}
            gone += [sent[name] for name in days_before(sent, first)]
        self._record.forget(gone)
        self._record.keep()  # before they are deleted, so that they never count as lost
        self._bucket.delete([name for name in gone if name in sizes])
        self._whole.difference_update(gone)

    def compare(self) -> None:
        """Compare once a day; a lost object is noted for the pages, and copied again if it is still here."""
        self._look()
        if self._record.is_due(now := dt.datetime.now(dt.UTC)):
            for name in self._record.compare(now):
                self._there.pop(name, None)
                self._whole -= {name, f"{name.removesuffix(BACKUP)}.json"}

    def note(self) -> None:
        """Note for the pages how far the copies are; after a fault the time stands still."""
        facts = {
            "until": self._until,
            "backup": max(self._backups_there(), default=""),
            "newest": self._newest,
            "compared": self._record.result,
        }
        with contextlib.suppress(LaunchError):  # a full disk
            write_json(self._project.data / NOTE, {**facts, "fault": next(iter(self.faults.values()), "")})


def run() -> None:
    """Copy until somebody ends this process."""
    project = read_project()
    folder = backup_folder(project)
    assert folder is not None  # noqa: S101 - `./run up` checks it
    copier = Copier(project, bucket_of(project), folder)

    def copy_backups() -> None:
        while True:
            take_turn(copier, copier.copy_backups)
            time.sleep(BACKUPS_EVERY_SECONDS)

    threading.Thread(target=copy_backups, daemon=True).start()
    while True:
        take_turn(copier, copier.copy_files)
        take_turn(copier, copier.compare)
        copier.note()
        time.sleep(EVERY_SECONDS)


def take_turn(copier: Copier, turn: Callable[[], None]) -> None:
    """Run one turn; a fault is kept, and printed once."""
    name = turn.__name__
    try:
        turn()
        copier.faults.pop(name, None)
    except Exception as error:  # after any fault the next turn comes
        fault = str(error) if isinstance(error, LaunchError | OSError) else repr(error)
        if copier.faults.get(name) != fault:
            print(f"{dt.datetime.now(dt.UTC):%Y-%m-%d %H:%M:%S} {fault}", flush=True)
        copier.faults[name] = fault


if __name__ == "__main__":
    try:
        run()
    except LaunchError as error:
        sys.exit(str(error))
