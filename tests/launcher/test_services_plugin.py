"""The services of the tests themselves (`tests/services.py`)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from backoffice.launcher.status import children_of_all
from tests.launcher.conftest import all_gone, wait_until
from tests.launcher.test_command_line import ROOT

INNER = """
import os, pathlib, time
import psycopg, redis

def test_services():
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        connection.execute("SELECT 1")
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        client.ping()
    assert os.environ["UPSTREAM_BASE_URL"] == "http://127.0.0.1:9"
    pathlib.Path(os.environ["FOUND"]).write_text(os.environ["BACKOFFICE_DATA"])
    time.sleep(float(os.environ["STAY"]))
"""


def start_pytest(folder: Path, *, stay: float) -> "subprocess.Popen[bytes]":
    """Run one test in a pytest of its own that starts services of its own, as if a real upstream were configured."""
    (folder / "test_inner.py").write_text(INNER)
    kept = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    kept = {name: value for name, value in kept.items() if not name.startswith("PYTEST_")}
    words = [
        "-c",
        os.devnull,
        "--rootdir",
        str(folder),
        "-p",
        "tests.services",
        "-p",
        "no:django",
        "-p",
        "no:cacheprovider",
    ]
    environment = {"FOUND": str(folder / "found"), "STAY": str(stay), "UPSTREAM_BASE_URL": "https://real.example.com"}
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", *words, str(folder / "test_inner.py")],
        cwd=ROOT,
        env={**kept, **environment},
        stdout=subprocess.DEVNULL,
    )


@pytest.fixture
def found(folder: Path) -> Path:
    """Where the inner test says which folder its services use."""
    return folder / "found"


def test_they_answer_are_gone_at_the_end_and_never_reach_the_real_upstream(folder: Path, found: Path) -> None:
    with start_pytest(folder, stay=0) as process:
        assert process.wait(60) == 0

    used = Path(found.read_text())
    assert wait_until(lambda: not used.exists())


def test_a_killed_pytest_leaves_neither_process_nor_folder(folder: Path, found: Path) -> None:
    with start_pytest(folder, stay=60) as process:
        assert wait_until(lambda: found.exists() and found.read_text() != "", seconds=60)
        children = children_of_all()
        family = [process.pid]
        for member in family:
            family += children.get(member, [])
        assert len(family) > 4

        process.kill()

        assert wait_until(lambda: all_gone(family[1:])), "orphans"
        assert wait_until(lambda: not Path(found.read_text()).exists())
