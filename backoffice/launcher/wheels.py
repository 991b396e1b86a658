"""What PostgreSQL and Valkey need alike: an installed wheel, and a folder that no left-over process works in."""

import contextlib
import importlib.util
import os
import signal
import time
from pathlib import Path

from backoffice.launcher.failures import LaunchError
from backoffice.launcher.processes import processes_inside


def wheel(package: str) -> Path:
    """The folder of an installed package, without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise LaunchError(
            f"The package {package} is not installed: run `./run` (it installs what requirements.txt names), "
            "or set DATABASE_URL and REDIS_URL to servers of your own."
        )
    return Path(spec.origin).parent


def end_left_over(data: Path, *, name: str) -> None:
    """End processes that still work in `data`: we hold the folder's lock, so a killed launcher left them behind."""
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
    raise LaunchError(f"{name} processes {processes_inside(data)} still work in {data}: end them, then start again.")
