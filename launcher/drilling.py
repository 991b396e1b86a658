"""`./run drill`: restores the last backup to a second database while the shop runs, proves it, and deletes it.

It does what `./run restore` does, in the folder `drill` of the data folder, with ports of its own and a low priority.
The launcher starts it once a month; its last result stays in `drill.json` for the page Backups and its alert. A person
with the key drills a bucket; that result is put into the bucket, too, and so reaches the shop's page.
"""

import argparse
import contextlib
import datetime as dt
import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from launcher.backing_up import backup_folder, facts_of, refuse_foreign_database
from launcher.backups import Backup, backups_in
from launcher.bucket import SCHEME, Bucket, BucketError
from launcher.bucket_checks import DRILLED, DRILLED_THERE
from launcher.commands import DEFAULT_PORT
from launcher.data_folder import DataFolderInUseError, held, read_json, write_json
from launcher.encrypting import OF_DATA_FOLDER, open_secrets
from launcher.output import NOT_YET, LaunchError, Say
from launcher.processes import Child, ProcessGroup, step_back
from launcher.project import Project, read_project
from launcher.recurring import AGAIN_SECONDS, Recurring
from launcher.restoring import (
    FOLDER,
    NO_KEY,
    choose,
    fetched,
    passed_over,
    recover,
    size_to_restore,
    without_log,
    write,
)
from launcher.stack import APP_DATABASE, Stack

RESULT = "drill.json"
EVERY, AGAIN = dt.timedelta(days=30), dt.timedelta(days=1)
# The room that a drill needs, as a multiple of backup and log: proving writes, too.
_ROOM = 1.5
# Variables that belong to the running shop, not to a drill.
_NOT_OURS = ("REDIS_URL", "BACKUP_TO", "BACKUP_STAMP", "AUDIT_CHECKPOINT_FILE", "SANDBOX_DATABASE_URL")


def run(group: ProcessGroup, say: Say, options: argparse.Namespace) -> int:
    """Drill, and say how long a restore would take and what it would bring back."""
    project = read_project()
    refuse_foreign_database(project)
    source = options.source or backup_folder(project)
    if source is None:
        words = "Name the folder of backups: ./run drill --from FOLDER, or set BACKUP_TO in .env."
        raise LaunchError(words, exit_code=2)
    in_bucket = str(source).startswith(SCHEME)
    if in_bucket and options.key is None:
        raise LaunchError(NO_KEY, exit_code=2)
    project.make_ready()
    note = project.data / (DRILLED if in_bucket else RESULT)
    step_back()
    say(f"The newest backup in {source} is restored beside the shop")
    at, started = dt.datetime.now(dt.UTC).isoformat(timespec="seconds"), time.monotonic()
    try:
        with fetched(project, options, say) if in_bucket else contextlib.nullcontext(Path(source).resolve()) as folder:
            fetching = time.monotonic() - started
            backup = choose(folder, None)
            for words in (lacks := lacks_of(project, folder, backup)):
                say(f"Warning: {words}")
            result = {"at": at, **drill(project, group, backup, say, key=options.key), "lacks": lacks, "fault": ""}
    except DataFolderInUseError:
        raise LaunchError("Another drill is under way: wait until it has ended.", exit_code=NOT_YET) from None
    except (LaunchError, OSError) as error:
        write_json(note, {"at": at, "fault": str(error)})
        raise LaunchError(f"The drill failed: {error}") from error
    if in_bucket:
        result["seconds"] = round(result["seconds"] + fetching, 1)
        tell_shop(project, options.source, result, say)
    write_json(note, result)
    if options.as_json:
        print(json.dumps(result, indent=1))
    else:
        print(
            f"{result['backup']} was restored in {result['seconds']} s: {result['orders']} orders, {result['entries']} "
            f"entries, known until {result['known_until']}. Entries and audit are proved; the copy is gone again."
        )
    return 0


def lacks_of(project: Project, folder: Path, backup: Backup) -> list[str]:
    """Words for what the backup's folder lacks; LaunchError for BACKUP_TO and a bucket, which must be complete."""
    lacks = [*passed_over(folder, backup), *filter(None, [without_log(backup)])]
    if lacks and folder in {backup_folder(project), project.data / FOLDER}:
        raise LaunchError(" ".join(lacks))
    return lacks


def tell_shop(project: Project, source: str, result: dict[str, Any], say: Say) -> None:
    """Leave the result in the bucket, where the shop looks for it once a day."""
    try:
        Bucket(project, source).put(DRILLED_THERE, json.dumps(result).encode())
    except BucketError as error:  # a key that may only read is enough for a drill
        say(f"The result stays on this machine: {error}")


def drill(
    project: Project, group: ProcessGroup, backup: Backup, say: Say, *, key: Path | None = None
) -> dict[str, Any]:
    """Restore the backup and the log that follows into a scratch folder, prove it there, and delete it.

    With the private key it uses the backup's secrets, else the shop's own. Returns the facts of the result. LaunchError
    when the backup cannot be restored, or has fewer rows than its manifest says.
    """
    started = time.monotonic()
    with scratch(project, backup, key) as copy:
        known_until, fault = recover(copy, group, backup, None, say)
        if fault:
            raise LaunchError(fault)
        seconds = round(time.monotonic() - started, 1)
        proved = prove(copy, group)
    for name in ("orders", "entries"):
        if proved[name] < backup.manifest.get(name, 0):
            raise LaunchError(
                f"{backup.folder} brings back {proved[name]} {name}, and had {backup.manifest[name]}: it is not whole."
            )
    return {
        "backup": backup.folder.name,
        "seconds": seconds,
        "known_until": known_until.isoformat(timespec="seconds"),
        **proved,
    }


@contextlib.contextmanager
def scratch(project: Project, backup: Backup, key: Path | None) -> Iterator[Project]:
    """An empty data folder with secrets, inside the shop's own; deleted at the end. A left-over one is deleted first.

    LaunchError without room for it, DataFolderInUseError while another drill runs.
    """
    data = project.data / "drill"
    given = {name: value for name, value in project.given.items() if name not in _NOT_OURS}
    copy = replace(project, data=data, given={**given, "BACKOFFICE_DATA": str(data)})
    needed, free = int(_ROOM * size_to_restore(backup)), shutil.disk_usage(project.data).free
    if free < needed:
        raise LaunchError(
            f"A drill needs about {needed // 1_000_000} MB beside the shop, and only {free // 1_000_000} MB are free: "
            "make room."
        )
    copy.make_ready()
    with held(data):
        clear(data)
        try:
            bring_secrets(project, backup, data, key)
            yield copy
        finally:
            clear(data)
            shutil.rmtree(data, ignore_errors=True)


def bring_secrets(project: Project, backup: Backup, data: Path, key: Path | None) -> None:
    """Put the backup's secrets, which this key opens, into this folder; without a key, the shop's own secrets."""
    sealed = backup.folder / "secrets.age"
    files = open_secrets(sealed.read_bytes(), key) if key and sealed.exists() else {}
    for name in OF_DATA_FOLDER:
        if name in files:
            write(data / name, files[name])
        elif (project.data / name).exists():  # AUDIT_KEY may be a setting
            shutil.copy2(project.data / name, data / name)


def clear(data: Path) -> None:
    """Delete a scratch database; its folder may be a link to another place."""
    home = data / "postgres"
    shutil.rmtree(home.resolve(), ignore_errors=True)
    if home.is_symlink():
        home.unlink()


def prove(copy: Project, group: ProcessGroup) -> dict[str, Any]:
    """Bring the copy up to this version, prove its entries and audit; returns its numbers of orders and entries.

    LaunchError with the first flaw.
    """
    stack = Stack(copy, group)
    try:
        stack.start_stores(web_port=DEFAULT_PORT)
        stack.finish_preparing(stack.manage("prepare_app"))
        stack.finish(stack.manage("prove_restored"), "What was restored is not whole.")
        assert stack.stores.postgres is not None  # noqa: S101 - for types
        facts = facts_of(stack.stores.postgres.url(APP_DATABASE))
        return {name: facts[name] for name in ("orders", "entries")}
    finally:
        stack.stores.stop()


class Months:
    """Starts a drill once a month, and a day after a failed drill."""

    def __init__(self, project: Project, group: ProcessGroup, folder: Path) -> None:
        self._result = project.data / RESULT
        self._drill = Recurring(
            project,
            group,
            "drill",
            is_due=lambda: is_due(self._result, folder, dt.datetime.now(dt.UTC)),
            first_look=60.0,  # not while the shop starts
        )

    def look(self, say: Say) -> None:
        """Start a drill when one is due; when a drill has failed, say so. A fault stops nothing else."""
        try:
            ended = self._drill.look()
        except (LaunchError, OSError) as error:
            say(f"No drill of a restore can be made, the next try is in {AGAIN_SECONDS:g} s: {error}")
            return
        if ended and ended.process.returncode not in {0, NOT_YET}:
            say(f"The drill of a restore failed, the next try is tomorrow:\n{self._drill.last_words(5)}")
            self._note_fault(ended)

    def _note_fault(self, ended: Child) -> None:
        """Note the fault, unless the drill has noted it itself: it cannot when it was killed."""
        at = dt.datetime.fromtimestamp(ended.started, dt.UTC).isoformat(timespec="seconds")
        if read_json(self._result).get("at", "") < at:
            with contextlib.suppress(LaunchError):  # a full disk: only the log has it
                write_json(self._result, {"at": at, "fault": self._drill.fault_of(ended)})


def is_due(result: Path, folder: Path, now: dt.datetime) -> bool:
    """Whether there is a backup, and the last drill is a month old, or failed a day ago."""
    last = read_json(result)
    pause = AGAIN if last.get("fault") else EVERY
    # a drill of a later time than now was made while the machine's clock was wrong
    if "at" in last and dt.timedelta(0) <= now - dt.datetime.fromisoformat(last["at"]) < pause:
        return False
    return bool(backups_in(folder))
