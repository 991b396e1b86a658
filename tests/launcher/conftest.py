"""Data folders that PostgreSQL's unprivileged user can reach, and keepers that certainly end."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest
from moto.server import ThreadedMotoServer

from launcher.database_roles import OWNER
from launcher.embedded import Stores
from launcher.encrypting import make_key
from launcher.postgresql import PostgreSQL
from launcher.process_table import alive, with_descendants
from launcher.processes import ProcessGroup
from launcher.stack import APP_DATABASE
from testing.released_shop import restore

KEEPER = Path(__file__).with_name("keeper.py")
PASSED_ON = {name for name in os.environ if not name.startswith(("UPSTREAM_", "SANDBOX", "PYTEST_"))}
PASSED_ON -= {"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ALLOWED_HOSTS", "BACKOFFICE_SANDBOX", "BACKOFFICE_DATA"}


def clean_environment(**more: str) -> dict[str, str]:
    """The machine's environment without the tests' settings for the app, and with `more`."""
    return {**{name: os.environ[name] for name in PASSED_ON}, **more}


@contextlib.contextmanager
def new_folder() -> Iterator[Path]:
    """An empty data folder whose path has a space; it is deleted at the end."""
    top = Path(tempfile.mkdtemp(prefix="launcher-test-"))
    top.chmod(0o711)
    data = top / "data folder"
    data.mkdir(mode=0o711)
    yield data
    if (data / "postgres").is_symlink():
        shutil.rmtree((data / "postgres").resolve(), ignore_errors=True)
    shutil.rmtree(top, ignore_errors=True)


@pytest.fixture
def empty() -> Iterator[Path]:
    """An empty data folder."""
    with new_folder() as data:
        yield data


@pytest.fixture(scope="session")
def template() -> Iterator[Path]:
    """A data folder that a keeper has made, once for all tests of this xdist worker."""
    with new_folder() as data:
        start_keeper(data).stop()
        yield data


@pytest.fixture
def folder(template: Path) -> Iterator[Path]:
    """A data folder that was in use before: much faster than a new one, and the usual case."""
    with new_folder() as data:
        subprocess.run(["cp", "-a", f"{template}/.", data], check=True)
        (data / "ports.json").unlink()
        yield data


@pytest.fixture
def released() -> Iterator[Path]:
    """A data folder with the databases of version 0.1.0: a demo's month."""
    group = ProcessGroup()
    with new_folder() as data:
        stores = Stores(data, group, valkey=False)
        stores.start()
        assert stores.postgres
        restore(stores.postgres, "0.1.0")
        url = stores.postgres.url(APP_DATABASE, OWNER)
        count_on = [sys.executable, "manage.py", "restart_audit"]  # as after each restore of a dump
        subprocess.run(count_on, cwd=KEEPER.parents[2], env={**os.environ, "DATABASE_URL": url}, check=True)
        stores.stop()
        group.close()
        (data / "opened").touch()  # the demo has its month
        yield data


@pytest.fixture
def group() -> Iterator[ProcessGroup]:
    """Processes that end with the test."""
    group = ProcessGroup()
    yield group
    group.close()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """An empty folder for backups, whose path has a space."""
    (tmp_path / "to here").mkdir()
    return tmp_path / "to here"


@pytest.fixture
def server(folder: Path, group: ProcessGroup) -> PostgreSQL:
    """A PostgreSQL that runs on a folder that was in use before, with an empty database "rows"."""
    server = PostgreSQL(folder, group)
    server.start()
    server.wait_ready("rows")
    server.set_up_roles({"rows": OWNER}, guests={})
    return server


def wait_for_copy(rows: psycopg.Connection[Any]) -> None:
    """Wait until a copy of the log has everything that was committed."""
    flushed = "SELECT flush_lsn >= pg_current_wal_lsn() FROM pg_stat_replication"
    assert wait_until(lambda: rows.execute(flushed).fetchone() == (True,))


@pytest.fixture(scope="session")
def bucket_server() -> Iterator[str]:
    """The address of a server that speaks S3."""
    moto = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    moto.start()
    host, port = moto.get_host_and_port()
    yield f"http://{host}:{port}"
    moto.stop()


@pytest.fixture
def bucket(bucket_server: str, tmp_path: Path) -> dict[str, str]:
    """The settings of an empty bucket; "KEY" is the file of its private key."""
    for method, path in (("POST", "/moto-api/reset"), ("PUT", "/shop")):
        urllib.request.urlopen(urllib.request.Request(f"{bucket_server}{path}", method=method)).close()
    return {
        "BACKUP_BUCKET": "s3://shop/backups",
        "BACKUP_BUCKET_ENDPOINT": bucket_server,
        "BACKUP_BUCKET_KEY_ID": "id",
        "BACKUP_BUCKET_SECRET": "secret",
        "BACKUP_RECIPIENT": make_key(tmp_path / "shop.key"),
        "KEY": str(tmp_path / "shop.key"),
    }


@dataclass
class Keeper:
    """A running `keeper.py`: its own pid and its facts about its children."""

    process: "subprocess.Popen[str]"
    state: dict[str, Any] = field(default_factory=dict)

    def everyone(self) -> list[int]:
        """The keeper, its watchdog, its children and theirs."""
        return with_descendants(self.process.pid)

    def hear(self) -> dict[str, Any]:
        """The keeper's next line."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the keeper ended without a word"
        return dict(json.loads(line))

    def kill(self) -> None:
        """`kill -9`, without its children."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        """Ask the keeper to end in order, if it still runs."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        if self.process.stdout:
            self.process.stdout.close()


def start_keeper(folder: Path) -> Keeper:
    """Start a keeper on the folder; returns when its stores answer."""
    keeper = Keeper(subprocess.Popen([sys.executable, str(KEEPER), str(folder)], stdout=subprocess.PIPE, text=True))
    keeper.state = keeper.hear()
    return keeper


@contextlib.contextmanager
def keepers(folder: Path) -> Iterator[Callable[[], Keeper]]:
    """A function that starts a keeper on the folder; at the end all keepers stop and leave no process."""
    started: list[Keeper] = []

    def start() -> Keeper:
        started.append(start_keeper(folder))
        return started[-1]

    yield start
    for keeper in started:
        keeper.stop()
    assert wait_until(lambda: all_gone([pid for keeper in started for pid in keeper.state["children"]]))


@pytest.fixture
def keep(folder: Path) -> Iterator[Callable[[], Keeper]]:
    """A function that starts a keeper on a folder that was in use before."""
    with keepers(folder) as start:
        yield start


def wait_until(condition: Callable[[], bool], *, seconds: float = 10.0, every: float = 0.05) -> bool:
    """Whether the condition becomes true in time. `every`: seconds between two looks; more if each takes a process."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(every)
    return True


def all_gone(pids: list[int]) -> bool:
    """Whether all of these processes have ended."""
    return not any(alive(pid) for pid in pids)


@contextlib.contextmanager
def occupied_port() -> Iterator[int]:
    """A port of 127.0.0.1 on which a server listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield int(server.getsockname()[1])
