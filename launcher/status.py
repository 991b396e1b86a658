"""`./run status`: what runs on a data folder."""

import argparse
import json
import time
from dataclasses import asdict, dataclass
from typing import Any

from launcher.data_folder import is_held, read_state
from launcher.output import Say
from launcher.process_table import alive, memory_kib, with_descendants
from launcher.processes import ProcessGroup
from launcher.project import read_project

NOT_RUNNING = 3


@dataclass(frozen=True)
class Row:
    """One process with everything it started. `pid`: None while it waits. Memory in KiB, None when it has gone."""

    name: str
    state: str
    pid: int | None
    port: int | None
    memory_kib: int | None
    running_seconds: int


def run(_group: ProcessGroup, _say: Say, options: argparse.Namespace) -> int:
    """Print a row for each process; returns 3 when nothing runs on this data folder."""
    data = read_project().data
    state = read_state(data)
    if not is_held(data) or "processes" not in state:
        if options.as_json:
            print(json.dumps({"running": False, "data_folder": str(data), "processes": []}))
        else:
            print(f"Not running (data folder {data}).")
        return NOT_RUNNING
    rows = measure(state["processes"])
    total = sum(row.memory_kib or 0 for row in rows)
    if options.as_json:
        answer = {
            "running": True,
            "doing": state["doing"],
            "address": state["address"],
            "data_folder": str(data),
            "memory_kib": total,
            "processes": [asdict(row) for row in rows],
        }
        print(json.dumps(answer, indent=1))
        return 0
    print(f"{state['address']}  ({state['doing']}, data folder {data})\n")
    print(f"{'process':<12}{'state':<10}{'pid':>8}{'port':>8}{'memory':>12}{'up':>10}")
    for row in rows:
        up = f"{row.running_seconds // 3600}:{row.running_seconds // 60 % 60:02}:{row.running_seconds % 60:02}"
        numbers = f"{row.pid or '-':>8}{row.port or '-':>8}{mebibytes(row.memory_kib):>12}{up:>10}"
        print(f"{row.name:<12}{row.state:<10}{numbers}")
    print(f"{'together':<38}{mebibytes(total):>12}")
    return 0


def mebibytes(kib: int | None) -> str:
    """12345 → "12.1 MiB"."""
    return "-" if kib is None else f"{kib / 1024:.1f} MiB"


def measure(processes: list[dict[str, Any]]) -> list[Row]:
    """The rows of the listed processes; a process that is listed itself is not counted for its parent."""
    pids = [int(process["pid"]) for process in processes if process["pid"]]
    trees = {pid: set(with_descendants(pid)) for pid in pids}
    rows = []
    for process in processes:
        pid = int(process["pid"] or 0)
        tree = trees.get(pid, set())
        others = (other for owner, other in trees.items() if owner in tree and owner != pid)
        rows.append(
            Row(
                name=str(process["name"]),
                state=state_of(pid),
                pid=pid or None,
                port=process["port"],
                memory_kib=memory_kib(tree.difference(*others)),
                running_seconds=max(0, int(time.time() - process["started"])),
            )
        )
    return rows


def state_of(pid: int) -> str:
    """ "running", "ended", or "waiting" to be started again."""
    if not pid:
        return "waiting"
    return "running" if alive(pid) else "ended"
