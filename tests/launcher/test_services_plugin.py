"""The services of the tests themselves (`testing/services.py`)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from launcher.process_table import with_descendants
from tests.launcher.conftest import all_gone, clean_environment, wait_until
from tests.launcher.helpers import ROOT

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


def start_pytest(empty: Path, *, stay: float) -> "subprocess.Popen[bytes]":
    """Run one test in a pytest of its own with services of its own, as if a real upstream were configured."""
    (empty / "test_inner.py").write_text(INNER)
    plugins = ["-p", "testing.services", "-p", "no:django", "-p", "no:cacheprovider"]
    words = ["-c", os.devnull, "--rootdir", str(empty), *plugins]
    environment = {"FOUND": str(empty / "found"), "STAY": str(stay), "UPSTREAM_BASE_URL": "https://real.example.com"}
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", *words, str(empty / "test_inner.py")],
        cwd=ROOT,
        env=clean_environment(**environment),
        stdout=subprocess.DEVNULL,
    )


@pytest.fixture
def found(empty: Path) -> Path:
    """The file into which the inner test writes the folder of its services."""
    return empty / "found"


def test_the_services_answer_and_are_gone_at_the_end(empty: Path, found: Path) -> None:
    with start_pytest(empty, stay=0) as process:
        assert process.wait(60) == 0

    used = Path(found.read_text())
    assert wait_until(lambda: not used.exists())


def test_a_killed_pytest_leaves_neither_process_nor_folder(empty: Path, found: Path) -> None:
    with start_pytest(empty, stay=60) as process:
        assert wait_until(lambda: found.exists() and found.read_text() != "", seconds=60)
        everyone = with_descendants(process.pid)
        assert len(everyone) > 4

        process.kill()

        assert wait_until(lambda: all_gone(everyone[1:])), "orphans"
        assert wait_until(lambda: not Path(found.read_text()).exists())
