"""Whole installations for tests: their roles started by `./run up --only …`, on one database and one Redis."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from launcher.process_table import with_descendants
from testing.sandbox_process import PROJECT, eventually, free_port


class Installation:
    """The launchers of one machine. `env` names the services and settings that installations share."""

    def __init__(self, name: str, env: dict[str, str]) -> None:
        self.port = free_port()
        self.folder = Path(tempfile.mkdtemp(prefix=f"installation-{name}-"))
        self.env = {**env, "INSTALLATION": name, "BACKOFFICE_DATA": str(self.folder)}
        self.launchers: dict[tuple[str, ...], subprocess.Popen[str]] = {}
        self.said: dict[tuple[str, ...], list[str]] = {}

    @property
    def url(self) -> str:
        """The address of the installation's pages."""
        return f"http://127.0.0.1:{self.port}"

    def start(self, *roles: str) -> None:
        """Start one launcher for these roles together; returns at once, see `await_ready`."""
        only = [word for role in roles for word in ("--only", role)]
        process = subprocess.Popen(
            [sys.executable, str(PROJECT / "run"), "up", "--port", str(self.port), *only],
            env=self.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=PROJECT,
        )
        self.launchers[roles] = process
        self.said[roles] = []
        threading.Thread(target=self._listen, args=[process, self.said[roles]], daemon=True).start()

    @staticmethod
    def _listen(process: "subprocess.Popen[str]", said: list[str]) -> None:
        assert process.stdout is not None
        said.extend(process.stdout)

    def await_ready(self, *roles: str, within: float = 120.0) -> None:
        """Wait until the launcher of these roles says that it is ready."""

        def is_ready() -> bool:
            assert self.launchers[roles].poll() is None, "".join(self.said[roles])
            return any("stop: Ctrl-C" in line for line in list(self.said[roles]))

        eventually(is_ready, within=within)

    def stop(self, *roles: str) -> int:
        """Ask the launcher of these roles to end in order; returns its exit code."""
        process = self.launchers.pop(roles)
        process.send_signal(signal.SIGTERM)
        return process.wait(30)

    def kill(self) -> None:
        """`kill -9` for every process of it at once, as when the machine loses its power."""
        everyone = [pid for process in self.launchers.values() for pid in with_descendants(process.pid)]
        for pid in everyone:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in self.launchers.values():
            process.wait(10)
        self.launchers.clear()
