"""Logs stay small while their processes run."""

import contextlib
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from launcher import processes
from launcher.output import json_output
from launcher.processes import ProcessGroup, trim_log
from tests.launcher.conftest import wait_until

TALKER = "import sys, time\nfor n in range(10**9):\n print(n, 'x' * 1000, flush=True)\n time.sleep(0.0005)"


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "LOG_KEPT_BYTES", 50_000)


def test_a_process_that_talks_without_end_fills_no_disk(tmp_path: Path) -> None:
    group, log = ProcessGroup(), tmp_path / "logs" / "it.log"
    try:
        child = group.start("it", [sys.executable, "-c", TALKER], env={}, cwd=Path("/"), log=log)
        for _ in range(3):
            assert wait_until(lambda: log.stat().st_size > processes.LOG_KEPT_BYTES)

            group.trim_logs()

            assert log.stat().st_size <= processes.LOG_KEPT_BYTES
            assert log.with_name("it.log.1").stat().st_size > processes.LOG_KEPT_BYTES
        assert child.running()
        # writing goes on at the beginning of the emptied file, without a hole
        assert wait_until(lambda: log.stat().st_size > 2_000)
        assert b"\0" not in log.read_bytes()
        assert len(list(log.parent.iterdir())) == 2
    finally:
        group.close()


def test_without_room_for_a_copy_the_log_is_emptied(tmp_path: Path) -> None:
    log = tmp_path / "it.log"
    log.write_bytes(b"x" * 60_000)
    (tmp_path / "it.log.1").symlink_to("/dev/full")

    trim_log(log)

    assert log.stat().st_size == 0


def test_a_full_disk_that_takes_no_json_line_ends_no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        json_output("worker ended and is started again")
        monkeypatch.undo()
        with contextlib.suppress(OSError):
            full.close()


def test_a_short_log_stays(tmp_path: Path) -> None:
    log = tmp_path / "it.log"
    log.write_text("short")

    trim_log(log)
    trim_log(tmp_path / "none.log")

    assert [path.name for path in tmp_path.iterdir()] == ["it.log"]
    assert log.read_text() == "short"


def test_a_line_of_json_is_written_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces: list[str] = []
    monkeypatch.setattr(sys, "stdout", Mock(write=pieces.append))

    json_output("worker ended and is started again")

    assert [piece[-1] for piece in pieces if piece] == ["\n"]
