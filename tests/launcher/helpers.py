"""Calls `./run` for the tests."""

import subprocess
import sys
from pathlib import Path

from tests.launcher.conftest import clean_environment

ROOT = Path(__file__).resolve().parents[2]


def run(*words: str, data: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Call `./run` on a data folder, with nothing of the test's own environment that names services."""
    return subprocess.run(
        [sys.executable, str(ROOT / "run"), *words],
        env=clean_environment(BACKOFFICE_DATA=str(data), **environment),
        capture_output=True,
        text=True,
        timeout=300,  # a drill has a lower priority than all else on the machine
        check=False,
    )


def git(folder: Path, *words: str) -> str:
    """The output of git in that folder."""
    command = ["git", "-C", str(folder), "-c", "user.name=a", "-c", "user.email=a@b", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
