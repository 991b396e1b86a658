"""`./run` as a person uses it: the whole application starts, serves, survives a dead process, and stops."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from backoffice.launcher.data_folder import read_state
from backoffice.launcher.processes import alive
from backoffice.launcher.status import children_of_all
from tests.launcher.conftest import all_gone, wait_until
from tests.launcher.test_command_line import ROOT, run

EVERYTHING = {"launcher", "guardian", "postgres", "valkey", "sandbox", "web", "worker", "background", "beat"}


@dataclass
class Running:
    """A `./run up` and the folder it works in."""

    process: "subprocess.Popen[str]"
    folder: Path

    @property
    def address(self) -> str:
        return str(read_state(self.folder)["address"]).replace("localhost", "127.0.0.1")

    def processes(self) -> dict[str, dict[str, Any]]:
        """What `./run status` lists, by name."""
        answer = json.loads(run("status", "--json", data=self.folder).stdout)
        return {row["name"]: row for row in answer["processes"]}

    def everyone(self) -> list[int]:
        """Every process that it started, directly or not."""
        children = children_of_all()
        family = [self.process.pid]
        for member in family:
            family += children.get(member, [])
        return family

    def get(self, path: str) -> int:
        """The status of a GET, 0 when nobody answers."""
        with contextlib.suppress(OSError):
            return int(urllib.request.urlopen(f"{self.address}{path}", timeout=5).status)
        return 0

    def signal_and_wait(self, number: int) -> float:
        """Send it a signal; how many seconds it took to end."""
        began = time.monotonic()
        self.process.send_signal(number)
        self.process.wait(30)
        return time.monotonic() - began


@pytest.fixture
def running(folder: Path) -> Iterator[Running]:
    """`./run` on a new data folder, ready."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("UPSTREAM_", "SANDBOX"))}
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "ALLOWED_HOSTS", "BACKOFFICE_SANDBOX"):
        kept.pop(name, None)
    with subprocess.Popen(
        [sys.executable, str(ROOT / "run"), "--port", "18000"],
        env={**kept, "BACKOFFICE_DATA": str(folder)},
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
        everything = Running(process, folder)
        everyone = everything.everyone()
        try:
            yield everything
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.wait(30)
            assert wait_until(lambda: all_gone(everyone)), "orphans"


def test_it_serves_lists_its_processes_and_stops_at_ctrl_c_without_a_trace(running: Running) -> None:
    assert running.get("/healthz") == 200
    assert wait_until(lambda: running.get("/readyz") == 200, seconds=20)
    processes = running.processes()
    everyone = running.everyone()
    assert set(processes) == EVERYTHING
    assert {row["state"] for row in processes.values()} == {"running"}
    assert sum(row["memory_kib"] for row in processes.values()) < 900 * 1024

    seconds = running.signal_and_wait(signal.SIGINT)

    assert running.process.returncode == 0
    assert seconds < 10
    assert all_gone(everyone)
    assert run("status", data=running.folder).returncode == 3


def test_manage_uses_the_running_services_and_passes_output_and_exit_code_through(running: Running) -> None:
    shown = run(
        "manage", "shell", "-c", "from staff.models import User; print(User.objects.count())", data=running.folder
    )
    refused = run("manage", "no_such_command", data=running.folder)

    assert shown.returncode == 0, shown.stderr
    assert int(shown.stdout.splitlines()[-1]) >= 3  # the demo staff
    assert refused.returncode == 1
    assert refused.stdout == ""


def test_a_process_that_dies_is_started_again_and_killing_the_launcher_leaves_no_orphan(running: Running) -> None:
    before = running.processes()["web"]["pid"]

    os.kill(before, signal.SIGKILL)

    assert wait_until(lambda: running.processes()["web"]["pid"] != before, seconds=20)
    assert wait_until(lambda: running.get("/healthz") == 200, seconds=20)
    everyone = running.everyone()
    running.process.kill()
    running.process.wait()
    assert wait_until(lambda: all_gone(everyone)), "orphans"


def test_without_postgres_everything_stops_with_a_sentence_and_the_next_call_finds_every_row(running: Running) -> None:
    with psycopg.connect(read_state(running.folder)["environment"]["DATABASE_URL"]) as connection:
        connection.execute("CREATE TABLE kept (text text)")
    everyone = running.everyone()

    os.kill(running.processes()["postgres"]["pid"], signal.SIGKILL)
    running.process.wait(30)

    assert running.process.returncode == 1
    assert running.process.stdout is not None
    said = running.process.stdout.read()
    assert "postgres was ended by SIGKILL; without it nothing works, so everything is stopped" in said
    assert wait_until(lambda: all_gone(everyone))
    code = "from django.db import connection; print('kept' in connection.introspection.table_names())"
    again = run("manage", "shell", "-c", code, data=running.folder)
    assert again.stdout.splitlines()[-1] == "True", again.stderr
    assert not [pid for pid in everyone if alive(pid)]
