"""`./run backup FOLDER`: a copy of the whole database while the shop sells, with the secrets that a restore needs."""

import argparse
import contextlib
import datetime as dt
import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from launcher import version
from launcher.backups import KEPT, alone_in, delete_old, flush, log_of, new_name, refuse_another_shops, size_of
from launcher.data_folder import DataFolderInUseError, held, serving_state, write_json
from launcher.embedded import Stores
from launcher.encrypting import make_key, seal_secrets
from launcher.output import LaunchError, Say
from launcher.postgresql import MOST_READ, PostgreSQL
from launcher.processes import ProcessGroup, let_step_back, step_back
from launcher.project import Project, read_project
from launcher.stack import APP_DATABASE
from launcher.upgrading import commit

# In the data folder: the manifest of the newest backup, wherever it was written. The pages read it.
LAST_BACKUP = "last-backup.json"
FACTS = """
    SELECT (SELECT count(*) FROM purchases_order), (SELECT count(*) FROM ledger_entry),
           (SELECT note FROM audit_checkpoint ORDER BY size DESC LIMIT 1)
"""
NO_KEY = (
    "The secrets are not in it (secrets.json, audit.key, .env), because no BACKUP_RECIPIENT is set: keep copies of "
    "them elsewhere, or make a key with `./run backup --new-key FILE`."
)


def run(group: ProcessGroup, say: Say, options: argparse.Namespace) -> int:
    """Make one backup and say where it is, or make a new key."""
    if options.new_key:
        public = make_key(options.new_key)
        say(f"{options.new_key} opens the secrets of backups: keep it away from this machine. For .env:")
        print(f"BACKUP_RECIPIENT={public}")
        return 0
    project = read_project()
    refuse_foreign_database(project)
    folder = options.folder.resolve() if options.folder else backup_folder(project)
    if folder is None:
        raise LaunchError("Name a folder: ./run backup FOLDER, or set BACKUP_TO in .env.", exit_code=2)
    keep = kept(project)
    step_back()
    try:
        with alone_in(folder), answering(project, group) as postgres:
            manifest = make_backup(project, postgres, folder)
            try:
                delete_old(folder, keep)
            except LaunchError as fault:
                say(f"The copied log and the journal keep their oldest days this time: {fault}")
    except OSError as error:
        raise LaunchError(f"The backup failed: {error}.") from error
    if not manifest["secrets"]:
        say(NO_KEY)
    if options.as_json:
        print(json.dumps(manifest, indent=1))
    else:
        print(f"{manifest['folder']}: {manifest['size'] / 1_000_000:.0f} MB in {manifest['seconds']} s, verified")
    return 0


def backup_folder(project: Project) -> Path | None:
    """The folder of BACKUP_TO, for backups and the log; None when it is not set."""
    return Path(project.given["BACKUP_TO"]).resolve() if "BACKUP_TO" in project.given else None


def about_foreign_database(project: Project) -> str:
    """A warning that BACKUP_TO gets no backups, when the database is not the data folder's; else ""."""
    if "BACKUP_TO" not in project.given or "DATABASE_URL" not in project.given:
        return ""
    return (
        "BACKUP_TO gets the journal of what is sent and no backup: DATABASE_URL names a PostgreSQL of your own. Back "
        "it up with its own tools, and let BACKUP_STAMP name a file that they touch (docs/backup.md)."
    )


def refuse_foreign_database(project: Project) -> None:
    """LaunchError when the database is not that of the data folder."""
    if "DATABASE_URL" in project.given:
        raise LaunchError(
            "DATABASE_URL names a PostgreSQL of your own: back it up and restore it with its own tools, and let "
            "BACKUP_STAMP name a file that they touch. docs/backup.md has the steps with pgBackRest."
        )


def kept(project: Project) -> tuple[int, int, int]:
    """The numbers of days, weeks and months to keep, from BACKUP_KEEP."""
    words = project.given.get("BACKUP_KEEP", ",".join(map(str, KEPT))).split(",")
    if len(words) != len(KEPT) or not all(word.strip().isdecimal() for word in words) or int(words[0]) < 1:
        raise LaunchError("BACKUP_KEEP says how many days, weeks and months are kept, such as 7,4,12: correct it.")
    days, weeks, months = map(int, words)
    return days, weeks, months


@contextlib.contextmanager
def answering(project: Project, group: ProcessGroup) -> Iterator[PostgreSQL]:
    """The data folder's database: the running shop's, or one started for this; LaunchError without one."""
    if not (project.data / "postgres").exists():
        raise LaunchError(f"There is no database in the data folder {project.data}: nothing to back up.")
    if state := serving_state(project.data):
        postgres = PostgreSQL(project.data, group)
        postgres.port = next(row["port"] for row in state["processes"] if row["name"] == "postgres")
        yield postgres
        return
    try:
        with held(project.data):
            stores = Stores(project.data, group, valkey=False)
            assert stores.postgres is not None  # noqa: S101 - for types
            try:
                stores.start()
                yield stores.postgres
            finally:
                stores.stop()
    except DataFolderInUseError:
        raise LaunchError(f"The data folder {project.data} is in use by another ./run: try again later.") from None


def make_backup(project: Project, postgres: PostgreSQL, folder: Path) -> dict[str, Any]:
    """Copy the database under a hidden name, verify it, give it its final name; returns its manifest.

    A backup that is cut off keeps its hidden name, and the next one deletes it.
    """
    recipient = project.given.get("BACKUP_RECIPIENT", "")
    sealed = seal_secrets(project.data, recipient) if recipient else b""
    for cut_off in folder.glob(".*.new"):
        shutil.rmtree(cut_off)
    started, name = time.monotonic(), new_name()
    refuse_another_shops(folder, postgres.identifier())
    require_room(folder, postgres)
    draft = folder / f".{name}.new"
    draft.mkdir(mode=0o700)
    facts = facts_of(postgres.url(APP_DATABASE))
    log = project.logs / "backup.log"
    postgres.copy_to(draft / "database", log=log)
    ended = dt.datetime.now(dt.UTC)
    postgres.verify_copy(draft / "database", log=log, most=MOST_READ)
    manifest = {
        "version": version(),
        "commit": commit() or None,
        "folder": str(folder / name),
        "ended_at": ended.isoformat(timespec="seconds"),
        "database": postgres.identifier(),
        "secrets": bool(sealed),
        "log": log_of(draft / "database"),
        "size": size_of(draft),
        "seconds": round(time.monotonic() - started, 1),
        **facts,
    }
    if sealed:
        (draft / "secrets.age").write_bytes(sealed)
    write_json(draft / "manifest.json", manifest)
    draft.rename(folder / name)
    flush(folder)
    write_json(project.data / LAST_BACKUP, manifest)
    return manifest


def facts_of(address: str) -> dict[str, Any]:
    """The numbers of orders and entries, and the audit's last checkpoint; empty in a database without tables."""
    try:
        # by one process at a low priority: counting millions of rows takes seconds
        with psycopg.connect(address, options="-c max_parallel_workers_per_gather=0") as connection:
            let_step_back(connection.info.backend_pid)
            row = connection.execute(FACTS).fetchone() or (0, 0, "")
    except (psycopg.errors.UndefinedTable, psycopg.OperationalError):
        return {}
    return dict(zip(("orders", "entries", "checkpoint"), row, strict=True))


def require_room(folder: Path, postgres: PostgreSQL) -> None:
    """LaunchError when there may be no room for another copy of the database."""
    needed, free = postgres.size(), shutil.disk_usage(folder).free
    if free < 1.1 * needed:
        raise LaunchError(
            f"A backup needs about {needed // 1_000_000} MB, and only {free // 1_000_000} MB are free in {folder}: "
            "make room, or keep fewer (BACKUP_KEEP)."
        )
