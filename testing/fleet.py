"""The real processes for tests: web, the workers and beat on the test database; tests kill and restart them."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import redis
import requests
from django.conf import settings

from testing.database import app_url, has_locks_of_the_app
from testing.sandbox_process import PROJECT, eventually, free_port

_QUEUES = ("interactive", "callbacks", "background")
_WORKER = ["worker", "-P", "threads", "-c", "8", "--without-gossip", "--without-mingle", "-l", "INFO"]


class Fleet:
    """Processes with the same environment as the test that starts them; `env` adds to it or replaces.

    `app`: the Celery app of the workers and beat.
    """

    def __init__(self, app: str = "backoffice", **env: str) -> None:
        self.app = app
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="fleet-"))
        self.env = {
            **os.environ,
            "DATABASE_URL": app_url(),
            "CELERY_SKIP_CHECKS": "1",  # half a second of each process; tests/backoffice/test_checks.py runs them
            "UPSTREAM_BASE_URL": settings.UPSTREAM_BASE_URL,
            "UPSTREAM_SECRET_ID": settings.UPSTREAM_SECRET_ID,
            "UPSTREAM_SECRET_KEY": settings.UPSTREAM_SECRET_KEY,
            "UPSTREAM_CONNECT_TIMEOUT": str(settings.UPSTREAM_CONNECT_TIMEOUT),
            "UPSTREAM_READ_TIMEOUT": str(settings.UPSTREAM_READ_TIMEOUT),
            "ORDER_CHECK_FIRST_SECONDS": str(settings.ORDER_CHECK_FIRST_SECONDS),
            **env,
        }
        self.project = PROJECT  # the folder of their code
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def url(self) -> str:
        """Address of the web process."""
        return f"http://127.0.0.1:{self.port}"

    def start(self, *names: str) -> None:
        """Start processes by name, and wait until web answers: web, worker, background, beat."""
        self.begin(*names)
        if "web" in names:
            eventually(self._serves, within=60)

    def begin(self, *names: str) -> None:
        """Start them without waiting."""
        celery = [sys.executable, "-m", "celery", "-A", self.app]
        commands = {
            "web": [sys.executable, "-m", "backoffice.web", "--port", str(self.port)],
            "worker": [*celery, *_WORKER, "-Q", "interactive,callbacks", "-n", "worker@%h"],
            "background": [*celery, *_WORKER, "-Q", "background", "-n", "background@%h"],
            "beat": [*celery, "beat", "-s", str(self.folder / "schedule"), "--pidfile=", "-l", "INFO"],
        }
        for name in names:
            with (self.folder / f"{name}.log").open("ab") as log:
                self.processes[name] = subprocess.Popen(
                    commands[name],
                    cwd=self.project,
                    env={**self.env, "PROCESS_NAME": name},
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )

    def _serves(self) -> bool:
        try:
            return requests.get(f"{self.url}/healthz", timeout=2).ok
        except (requests.ConnectionError, requests.Timeout):  # nobody listens yet; or the machine is busy
            return False

    def rest(self) -> None:
        """Let beat start nothing more, wait until the workers have finished their tasks, and stop them, too.

        Else this fleet would send the orders that a later test places without a fleet.
        """
        self._signal(signal.SIGSTOP, "beat")
        with redis.Redis.from_url(self.env["REDIS_URL"]) as broker:
            eventually(lambda: self._has_stopped(broker), within=30)

    def _has_stopped(self, broker: redis.Redis) -> bool:
        broker.delete(*_QUEUES)  # no test waits for it any more
        if broker.exists("unacked"):
            return False
        self._signal(signal.SIGSTOP, "worker", "background")
        if has_locks_of_the_app():  # a lock of the dispatcher: the next test could not empty the tables
            self._signal(signal.SIGCONT, "worker", "background")
            return False
        return True

    def resume(self) -> None:
        """Let all processes go on, without the tasks that other tests have queued meanwhile."""
        with redis.Redis.from_url(self.env["REDIS_URL"]) as broker:
            broker.delete(*_QUEUES)
        self._signal(signal.SIGCONT, *self.processes)

    def _signal(self, what: signal.Signals, *names: str) -> None:
        for name in names:
            os.kill(self.processes[name].pid, what)

    def kill(self, *names: str) -> None:
        """`kill -9` these processes and their children."""
        for name in names:
            process = self.processes.pop(name)
            with contextlib.suppress(ProcessLookupError):  # a test may have ended it
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def kill_all(self) -> None:
        """`kill -9` every process that still runs."""
        self.kill(*self.processes)
