"""The processes of this machine: whether they are alive, their working folders, descendants and memory."""

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import psutil

from launcher.output import LaunchError


def alive(pid: int) -> bool:
    """Whether a process with this id exists and is not a zombie."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def with_descendants(pid: int) -> list[int]:
    """The process and all its descendants; empty when it has gone."""
    try:
        process = psutil.Process(pid)
        return [pid, *(child.pid for child in process.children(recursive=True))]
    except psutil.NoSuchProcess:
        return []


def memory_kib(pids: Iterable[int]) -> int | None:
    """The memory of these processes together, in KiB, shared memory divided among its users; None if all are gone."""
    sizes = []
    for pid in pids:
        with contextlib.suppress(psutil.NoSuchProcess):
            process = psutil.Process(pid)
            try:
                sizes.append(process.memory_full_info().pss)
            except psutil.AccessDenied:
                sizes.append(process.memory_info().rss)
    return sum(sizes) // 1024 if sizes else None


def processes_inside(folder: Path) -> list[int]:
    """Ids of the living processes whose working directory is `folder`.

    PostgreSQL, all of its children and Valkey each work in their data folder. So a left-over process differs from an
    unrelated process that got the same id.
    """
    path = str(folder.resolve())
    processes = psutil.process_iter(["cwd", "status"])
    return [p.pid for p in processes if p.info["cwd"] == path and p.info["status"] != psutil.STATUS_ZOMBIE]


def end_left_over(data: Path, *, name: str, graces: Sequence[float] = (4.0, 2.0, 2.0)) -> None:
    """End processes that still work in `data`: we hold the folder's lock, so a killed launcher left them behind.

    Its watchdog may be ending them, so this waits first; then come a request, force, and LaunchError, `graces` seconds
    after each other.
    """
    for number, seconds in zip((0, signal.SIGQUIT, signal.SIGKILL), graces, strict=True):  # 0: only wait
        for pid in processes_inside(data):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        deadline = time.monotonic() + seconds
        while processes_inside(data) and time.monotonic() < deadline:
            time.sleep(0.05)
    if left := processes_inside(data):
        raise LaunchError(f"{name} processes {left} still work in {data}: end them, then start again.")
