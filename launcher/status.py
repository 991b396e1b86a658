"""`./run status`: the processes of a data folder."""

import argparse
import json
import socket
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import redis

from launcher.data_folder import is_held, read_environment, read_state
from launcher.output import Say
from launcher.process_table import alive, memory_kib, with_descendants
from launcher.processes import ProcessGroup
from launcher.project import read_project, roles_folder

NOT_RUNNING, NOT_WELL = 3, 1
# A process whose last heartbeat is this old (seconds) is not well.
_SILENCE_SECONDS = 15


@dataclass(frozen=True)
class Row:
    """One process with all that it started. `pid`: None while it waits. Memory in KiB, None when the process has gone.

    `heartbeat_seconds`: since the last heartbeat; None for a process without heartbeats.
    """

    name: str
    state: str
    pid: int | None
    port: int | None
    memory_kib: int | None
    running_seconds: int
    heartbeat_seconds: int | None

    @property
    def is_late(self) -> bool:
        """Whether the last heartbeat, if there was one, is too old."""
        return (self.heartbeat_seconds or 0) >= _SILENCE_SECONDS

    @property
    def is_well(self) -> bool:
        """Whether the process runs and is not late."""
        return self.state == "running" and not self.is_late


def run(_group: ProcessGroup, _say: Say, options: argparse.Namespace) -> int:
    """Print a row for each process; returns 3 when nothing runs on this data folder, 1 when a process is not well."""
    data = read_project().data
    states = running_launchers(data)
    if not states:
        if options.as_json:
            print(json.dumps({"running": False, "data_folder": str(data), "processes": []}))
        else:
            print(f"Not running (data folder {data}).")
        return NOT_RUNNING
    pulse = Pulse.read(read_environment(states[0]))
    rows = measure([process for state in states for process in state["processes"]], pulse)
    code = 0 if all(row.is_well for row in rows) else NOT_WELL
    total = sum(row.memory_kib or 0 for row in rows)
    address = next((state["address"] for state in states if state["address"]), "")
    if options.as_json:
        answer = {
            "running": True,
            "doing": states[0]["doing"],
            "address": address,
            "data_folder": str(data),
            "memory_kib": total,
            "processes": [asdict(row) for row in rows],
            "elsewhere": pulse.elsewhere,
        }
        print(json.dumps(answer, indent=1))
        return code
    print(f"{address or 'no pages'}  ({states[0]['doing']}, data folder {data})\n")
    print(f"{'process':<14}{'state':<10}{'pid':>8}{'port':>8}{'memory':>12}{'up':>10}{'heartbeat':>12}")
    for row in rows:
        up = f"{row.running_seconds // 3600}:{row.running_seconds // 60 % 60:02}:{row.running_seconds % 60:02}"
        numbers = f"{row.pid or '-':>8}{row.port or '-':>8}{mebibytes(row.memory_kib):>12}{up:>10}"
        print(f"{row.name:<14}{row.state:<10}{numbers}{age(row.heartbeat_seconds):>12}{'  late' * row.is_late}")
    print(f"{'together':<40}{mebibytes(total):>12}")
    for name, seconds in pulse.elsewhere.items():
        print(f"{name:<64}{age(seconds):>10}")
    if any(row.is_late for row in rows):
        print(f"\nlate: no heartbeat for {_SILENCE_SECONDS} s or more; its log says why, and `./run doctor` more.")
    return code


def running_launchers(data: Path) -> list[dict[str, Any]]:
    """The states of the launchers on this data folder, and on the folders of roles in it."""
    folders = [data, *sorted(roles_folder(data).glob("*"))]
    states = [read_state(folder) for folder in folders if is_held(folder)]
    return [state for state in states if "processes" in state]


@dataclass(frozen=True)
class Pulse:
    """The seconds since each process's last heartbeat, from Redis: ours by name, others by name and place."""

    ours: dict[str, int]
    elsewhere: dict[str, int]

    @classmethod
    def read(cls, environment: dict[str, str]) -> Self:
        """Ask the Redis of this environment; empty when it does not answer."""
        place = environment.get("INSTALLATION") or socket.gethostname()
        ages: dict[str, int] = {}
        try:
            with redis.Redis.from_url(environment["REDIS_URL"], socket_timeout=2, socket_connect_timeout=2) as client:
                now = int(client.time()[0])
                for field, value in client.hgetall("heartbeats").items():
                    ages[field.decode()] = max(0, now - int(value.split()[0]))
        except (redis.RedisError, KeyError):
            return cls({}, {})
        mine = f"@{place}"
        return cls(
            {name.removesuffix(mine): seconds for name, seconds in ages.items() if name.endswith(mine)},
            {name: seconds for name, seconds in sorted(ages.items()) if not name.endswith(mine)},
        )


def age(seconds: int | None) -> str:
    """12 → "12 s ago"."""
    return "-" if seconds is None else f"{seconds} s ago"


def mebibytes(kib: int | None) -> str:
    """12345 → "12.1 MiB"."""
    return "-" if kib is None else f"{kib / 1024:.1f} MiB"


def measure(processes: list[dict[str, Any]], pulse: Pulse) -> list[Row]:
    """The rows of the listed processes; the memory of a listed child does not count for its parent."""
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
                heartbeat_seconds=pulse.ours.get(str(process["name"])),
            )
        )
    return rows


def state_of(pid: int) -> str:
    """ "running", "ended", or "waiting" to be started again."""
    if not pid:
        return "waiting"
    return "running" if alive(pid) else "ended"
