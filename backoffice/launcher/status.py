"""`./run status` and `./run reset`: what runs on a data folder, and deleting it."""

import contextlib
import json
import os
import shutil
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from backoffice.launcher.data_folder import DataFolderInUseError, held, is_held, read_state
from backoffice.launcher.failures import LaunchError
from backoffice.launcher.processes import alive
from backoffice.launcher.project import Project

NOT_RUNNING = 3


@dataclass(frozen=True)
class Row:
    """One process with everything it started. Memory in KiB, None where the system does not tell."""

    name: str
    state: str
    pid: int
    port: int | None
    memory_kib: int | None
    running_seconds: int


def status(project: Project, *, as_json: bool) -> int:
    """Print a row for each process; returns 3 when nothing runs on this data folder."""
    state = read_state(project.data)
    if not is_held(project.data) or "processes" not in state:
        if as_json:
            print(json.dumps({"running": False, "data_folder": str(project.data), "processes": []}))
        else:
            print(f"Not running (data folder {project.data}).")
        return NOT_RUNNING
    rows = measure(state["processes"])
    total = sum(row.memory_kib or 0 for row in rows)
    if as_json:
        answer = {
            "running": True,
            "doing": state["doing"],
            "address": state["address"],
            "data_folder": str(project.data),
            "memory_kib": total,
            "processes": [asdict(row) for row in rows],
        }
        print(json.dumps(answer, indent=1))
        return 0
    print(f"{state['address']}  ({state['doing']}, data folder {project.data})\n")
    print(f"{'process':<12}{'state':<10}{'pid':>8}{'port':>8}{'memory':>12}{'up':>10}")
    for row in rows:
        up = f"{row.running_seconds // 3600}:{row.running_seconds // 60 % 60:02}:{row.running_seconds % 60:02}"
        print(f"{row.name:<12}{row.state:<10}{row.pid:>8}{row.port or '-':>8}{mebibytes(row.memory_kib):>12}{up:>10}")
    print(f"{'together':<38}{mebibytes(total):>12}")
    return 0


def mebibytes(kib: int | None) -> str:
    """12345 → "12.1 MiB"."""
    return "-" if kib is None else f"{kib / 1024:.1f} MiB"


def measure(processes: list[dict[str, Any]]) -> list[Row]:
    """The rows of the listed processes; a process that is listed itself is not counted for its parent."""
    children = children_of_all()
    listed = {int(process["pid"]) for process in processes}
    rows = []
    for process in processes:
        pid = int(process["pid"])
        family = [pid]
        for member in family:
            family += [child for child in children.get(member, []) if child not in listed]
        shares = [share for member in family if (share := memory_kib(member)) is not None]
        rows.append(
            Row(
                name=str(process["name"]),
                state="running" if alive(pid) else "ended",
                pid=pid,
                port=process["port"],
                memory_kib=sum(shares) if shares else None,
                running_seconds=max(0, int(time.time() - process["started"])),
            )
        )
    return rows


def children_of_all() -> dict[int, list[int]]:
    """Parent id → ids of its children, for all processes (Linux; elsewhere empty)."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parent = int((entry / "stat").read_text(errors="replace").rsplit(")", 1)[1].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    return children


def memory_kib(pid: int) -> int | None:
    """A process's proportional share of memory; its resident size where that may not be read; None when it is gone."""
    for name, field in (("smaps_rollup", "Pss:"), ("status", "VmRSS:")):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{pid}/{name}").read_text(errors="replace").splitlines():
                if line.startswith(field):
                    return int(line.split()[1])
    return None


def reset(project: Project, *, yes: bool) -> int:
    """Delete the data folder and everything in it, after a question."""
    if not project.data.is_dir():
        print(f"There is no data folder {project.data}: nothing to delete.")
        return 0
    if not (project.data / "secrets.json").exists() and any(project.data.iterdir()):
        raise LaunchError(f"{project.data} holds files, but none that ./run made: it is not deleted.")
    if not yes:
        if not sys.stdin.isatty():
            raise LaunchError(f"./run reset deletes {project.data}: confirm it with --yes.", exit_code=2)
        answer = input(f"Delete {project.data} with every order, login and setting in it? Type yes: ")
        if answer.strip().lower() != "yes":
            print("Nothing was deleted.")
            return 1
    try:
        with held(project.data):
            delete(project.data)
    except DataFolderInUseError:
        raise LaunchError(f"The data folder {project.data} is in use: stop ./run first.") from None
    print(f"Deleted {project.data}. The next ./run starts afresh.")
    return 0


def delete(data: Path) -> None:
    """Delete the folder, and PostgreSQL's files where they had to live elsewhere."""
    elsewhere = data / "postgres"
    try:
        if elsewhere.is_symlink():
            shutil.rmtree(os.path.realpath(elsewhere), ignore_errors=True)
        shutil.rmtree(data)
    except OSError as error:
        raise LaunchError(f"Could not delete all of {data} ({error.strerror}): delete the rest by hand.") from error
