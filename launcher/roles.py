"""The app's roles and the processes of each: their names, their number, and how to start one."""

import os
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from launcher.output import LaunchError
from launcher.processes import Child
from launcher.stack import Stack

QUEUES = {"worker": "interactive,callbacks", "background": "background"}
CELERY = ("-m", "celery", "--quiet", "-A", "backoffice")
WORKER = (*CELERY, "worker", "-P", "threads", "-c", "8", "--without-gossip", "--without-mingle")
# Each web process has four threads, and each thread a connection to PostgreSQL, which has few (`max_connections`).
MOST_WEB_BY_DEFAULT = 4
MOST_PROCESSES = 64


def numbers(given: Mapping[str, str]) -> dict[str, int]:
    """Role → how many processes of it run. LaunchError when a setting is not a number of processes."""
    cores = len(os.sched_getaffinity(0))
    return {
        "web": count(given, "WEB_PROCESSES", min(cores, MOST_WEB_BY_DEFAULT)),
        "worker": count(given, "WORKER_PROCESSES", 1),
        "background": 1,
        "beat": 1,
    }


def count(given: Mapping[str, str], name: str, default: int) -> int:
    """The number that a setting gives; LaunchError unless it is from 1 to `MOST_PROCESSES`."""
    text = given.get(name, str(default))
    if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= MOST_PROCESSES):
        raise LaunchError(f"{name} must be a number from 1 to {MOST_PROCESSES}, not {text!r}: correct or remove it.")
    return int(text)


class Roles:
    """Starts the processes of the roles, on a stack whose stores answer.

    `listener`: the socket of the pages, which every web process serves.
    """

    def __init__(self, stack: Stack, listener: socket.socket | None) -> None:
        self._stack = stack
        self._listener = listener
        self._installation = stack.project.given.get("INSTALLATION", socket.gethostname())
        self._log_level = stack.project.given.get("LOG_LEVEL", "INFO")

    def processes(self, role: str) -> Iterator[tuple[str, Callable[[], Child]]]:
        """The name of each process of this role ("worker", "worker-2"), and the function that starts it."""
        begin = {"web": self._web, "beat": self._beat}.get(role, self._worker)
        for number in range(1, numbers(self._stack.project.given)[role] + 1):
            name = role if number == 1 else f"{role}-{number}"
            yield name, lambda name=name: begin(name)  # type: ignore[misc]

    def _web(self, name: str) -> Child:
        if self._listener is None:
            raise LaunchError("Nobody listens for the pages.")
        fd = self._listener.fileno()
        return self._start(name, "-m", "backoffice.web", "--fd", str(fd), pass_fds=[fd])

    def _worker(self, name: str) -> Child:
        queues = QUEUES[name.partition("-")[0]]
        return self._start(name, *WORKER, "-Q", queues, "-n", f"{name}@{self._installation}", "-l", self._log_level)

    def _beat(self, name: str) -> Child:
        schedule = self._stack.project.data / "beat" / "schedule"
        schedule.parent.mkdir(mode=0o700, exist_ok=True)
        return self._start(name, *CELERY, "beat", "-s", schedule, "--pidfile=", "-l", self._log_level)

    def _start(self, name: str, *words: str | Path, pass_fds: list[int] | None = None) -> Child:
        environment = {**self._stack.environment, "PROCESS_NAME": name}
        in_files = not self._stack.project.logs_as_json
        return self._stack.python(name, *words, environment=environment, pass_fds=pass_fds or [], in_files=in_files)


def take_address(host: str, port: int) -> socket.socket:
    """A socket bound to this address, on which the first web process begins to listen; LaunchError when that fails.

    Before that nobody can connect, and a proxy asks another installation. From then on the socket stays open: a client
    that connects while web processes are started again waits in its queue.
    """
    taken = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind((host, port))
    except OSError as error:
        taken.close()
        advice = "name others with --host and --port"
        raise LaunchError(f"Cannot listen on {host} port {port} ({error.strerror}): {advice}.") from error
    return taken
