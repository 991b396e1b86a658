"""`./run` as a person uses it: the whole application starts, serves, survives a dead process, and stops.

All tests use one data folder and share one start, until a `kill -9` ends it: the last test starts on the files that are
left. A test must end the faults that it makes.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
import redis

from core.priority import NICENESS
from launcher.data_folder import read_environment, read_state
from launcher.process_table import with_descendants
from launcher.stack import MEMORY
from testing.sandbox_process import free_port
from tests.launcher.conftest import all_gone, clean_environment, new_folder, wait_until
from tests.launcher.helpers import ROOT, run

STORES = {"postgres", "valkey", "sandbox"}
OURS = {"web", "web-2", "worker", "background", "beat"}
CANARY = "only-of-the-shell-that-started-it"
EVERYTHING = {"launcher", "watchdog"} | STORES | OURS


@dataclass
class Running:
    """A `./run up` and the folder it works in."""

    process: "subprocess.Popen[str]"
    folder: Path

    @property
    def address(self) -> str:
        return str(read_state(self.folder)["address"]).replace("localhost", "127.0.0.1")

    def processes(self) -> dict[str, dict[str, Any]]:
        """The rows of `./run status`, by name."""
        answer = json.loads(run("status", "--json", data=self.folder).stdout)
        return {row["name"]: row for row in answer["processes"]}

    def everyone(self) -> list[int]:
        """Every process that `./run` started, directly or not."""
        return with_descendants(self.process.pid)

    def get(self, path: str) -> int:
        """The status of a GET; 0 when no server answers."""
        with contextlib.suppress(OSError):
            return int(urllib.request.urlopen(f"{self.address}{path}", timeout=5).status)
        return 0


@pytest.fixture(scope="module")
def shared_folder() -> Iterator[Path]:
    """The data folder of all tests here."""
    with new_folder() as data:
        yield data


@pytest.fixture(scope="module")
def started(shared_folder: Path) -> Iterator[Callable[[], Running]]:
    """A function that starts `./run`, if none runs, and returns when it is ready; at the end it leaves no orphans."""
    everything: list[Running] = []
    with contextlib.ExitStack() as stack:

        def start() -> Running:
            if not everything or everything[-1].process.poll() is not None:
                everything.append(Running(stack.enter_context(launcher(shared_folder)), shared_folder))
            return everything[-1]

        yield start
        if not everything:
            return
        last = everything[-1]
        everyone = last.everyone()
        last.process.send_signal(signal.SIGINT)
        last.process.wait(30)
        assert wait_until(lambda: all_gone(everyone)), "orphans"


@contextlib.contextmanager
def launcher(folder: Path) -> "Iterator[subprocess.Popen[str]]":
    """`./run`, ready, with a shop without a demo's month, because the month takes longer than all the rest."""
    with subprocess.Popen(
        [sys.executable, str(ROOT / "run"), "--empty", "--port", str(free_port())],
        env=clean_environment(BACKOFFICE_DATA=str(folder), WEB_PROCESSES="2", NOT_OURS=CANARY),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        heard = []
        for line in process.stdout:
            heard.append(line)
            if "stop: Ctrl-C" in line:
                break
        else:
            pytest.fail("".join(heard))
        # later lines must not fill the pipe: `./run` would wait for a reader
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield process


@pytest.fixture
def running(started: Callable[[], Running]) -> Running:
    """`./run`, ready: it still runs from the test before, since each start loads the app ten times."""
    return started()


def with_heartbeat(running: Running) -> set[str]:
    """The processes whose last heartbeat is young."""
    rows = running.processes().values()
    return {row["name"] for row in rows if row["heartbeat_seconds"] is not None and row["heartbeat_seconds"] < 15}


def rights_of_processes(running: Running) -> dict[str, tuple[bool, bool]]:
    """By name: whether its database role may manage databases or roles, and whether it knows the owner's address."""
    rights = {}
    for name, row in running.processes().items():
        if name.partition("-")[0] not in {"web", "worker", "background", "beat", "sandbox"}:
            continue
        environment = psutil.Process(row["pid"]).environ()
        address = environment["SANDBOX_DATABASE_URL" if name == "sandbox" else "DATABASE_URL"]
        with psycopg.connect(address) as connection:
            role = connection.execute(
                "SELECT rolsuper OR rolcreaterole OR rolcreatedb FROM pg_roles WHERE rolname = current_user"
            ).fetchone()
        rights[name] = (bool(role and role[0]), "DATABASE_OWNER_URL" in environment)
    return rights


def weight_of_session(pid: int) -> int | None:
    """The niceness that the kernel gives the process's session; None if it does not weigh sessions."""
    with contextlib.suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/autogroup").read_text().split()[-1])
    return None


def test_it_serves_lists_and_calls_manage(running: Running) -> None:
    # it serves
    assert running.get("/healthz") == 200
    assert wait_until(lambda: running.get("/readyz") == 200, seconds=60)

    # status lists every process
    processes = running.processes()
    assert set(processes) == EVERYTHING
    assert {row["state"] for row in processes.values()} == {"running"}
    assert sum(row["memory_kib"] for row in processes.values()) < 1000 * 1024

    # each of our processes gives a heartbeat
    assert wait_until(lambda: with_heartbeat(running) >= OURS, seconds=20, every=1)

    # no process has more rights than its work needs
    assert rights_of_processes(running) == dict.fromkeys(OURS | {"sandbox"}, (False, False))

    # the workers and beat let the pages go first
    behind = {name: processes[name]["pid"] for name in OURS - {"web", "web-2"}}
    assert {psutil.Process(processes[name]["pid"]).nice() for name in ("web", "web-2")} == {os.nice(0)}
    assert {psutil.Process(pid).nice() for pid in behind.values()} == {min(os.nice(0) + NICENESS, 19)}
    assert {weight_of_session(pid) for pid in behind.values()} <= {NICENESS, None}

    # no file of the data folder has our environment
    assert read_environment(read_state(running.folder))["NOT_OURS"] == CANARY
    written = [path for path in running.folder.rglob("*") if path.is_file() and path.stat().st_size < 10_000_000]
    assert not [path for path in written if CANARY.encode() in path.read_bytes()]

    # the processes' measures are in memory: a full disk ends none of them
    measured = (running.folder / "metrics").resolve()
    assert measured.parent == MEMORY
    assert list(measured.glob("*.db"))

    # manage runs in the same services, and passes its output and exit code on
    count = "from staff.models import User; print(User.objects.count())"
    shown = run("manage", "shell", "-c", count, data=running.folder)
    assert shown.returncode == 0, shown.stderr
    assert int(shown.stdout.splitlines()[-1]) >= 3  # the demo staff
    unknown = run("manage", "no_such_command", data=running.folder)
    assert (unknown.returncode, unknown.stdout) == (2, "")


def test_dead_stores_restart_without_loss_while_web_stays(running: Running) -> None:
    # given: a row in each store
    environment = read_environment(read_state(running.folder))
    with psycopg.connect(environment["DATABASE_OWNER_URL"]) as connection:
        connection.execute("CREATE TABLE kept (text text)")
    with redis.Redis.from_url(environment["REDIS_URL"]) as client:
        client.set("kept", "in valkey")
        client.execute_command("WAITAOF", 1, 0, 5000)
    before = running.processes()

    # when: both die at once, and the launcher cannot even write its own status file
    (running.folder / "state.json.new").mkdir()
    for name in ("postgres", "valkey"):
        os.kill(before[name]["pid"], signal.SIGKILL)
    assert wait_until(lambda: running.get("/accounts/login/") == 200, seconds=40)
    (running.folder / "state.json.new").rmdir()

    # then: one server on each folder again, at the same address, with the same rows; web was not restarted
    assert wait_until(lambda: running.get("/readyz") == 200, seconds=40)
    assert wait_until(lambda: running.processes()["valkey"]["pid"] != before["valkey"]["pid"], every=0.5)
    after = running.processes()
    restarted = {name for name in EVERYTHING if after[name]["pid"] != before[name]["pid"]}
    # a worker that loses the broker during a command may end: it is started again, too
    assert {"postgres", "valkey"} <= restarted <= {"postgres", "valkey", "worker", "background", "beat"}
    assert running.process.poll() is None
    with psycopg.connect(environment["DATABASE_OWNER_URL"]) as connection:
        connection.execute("SELECT * FROM kept")
    with redis.Redis.from_url(environment["REDIS_URL"]) as client:
        assert client.get("kept") == b"in valkey"


def test_workers_come_back_when_valkey_takes_writes_again(running: Running) -> None:
    # given: Valkey refuses every write, as with a full disk
    with redis.Redis.from_url(read_environment(read_state(running.folder))["REDIS_URL"]) as client:
        client.config_set("min-replicas-to-write", 1)
        assert wait_until(lambda: running.get("/readyz") != 200, seconds=60)
        pages = running.get("/accounts/login/")

        # when
        client.config_set("min-replicas-to-write", 0)

    # then
    assert pages == 200
    assert wait_until(lambda: running.get("/readyz") == 200, seconds=90)
    assert running.process.poll() is None


def test_a_dead_web_restarts_and_a_dead_launcher_has_no_orphan(running: Running) -> None:
    before = running.processes()["web"]["pid"]

    os.kill(before, signal.SIGKILL)

    # the other installation serves meanwhile
    assert [running.get("/healthz") for _ in range(5)] == [200] * 5
    assert wait_until(lambda: running.processes()["web"]["pid"] not in {before, None}, seconds=20, every=0.5)
    assert wait_until(lambda: running.get("/healthz") == 200, seconds=20)
    everyone = running.everyone()
    running.process.kill()
    running.process.wait()
    assert wait_until(lambda: all_gone(everyone)), "orphans"


def test_it_starts_after_a_kill_and_stops_at_ctrl_c(running: Running) -> None:
    assert running.get("/healthz") == 200
    everyone = running.everyone()
    measured = (running.folder / "metrics").resolve()
    assert measured.exists()

    running.process.send_signal(signal.SIGINT)
    running.process.wait(30)

    assert running.process.returncode == 0
    assert all_gone(everyone)
    assert wait_until(lambda: not measured.exists())
    assert run("status", data=running.folder).returncode == 3

    # a command without `./run` starts what it needs
    alone = run("manage", "list_tills", "--json", data=running.folder)
    assert alone.returncode == 0, alone.stderr
