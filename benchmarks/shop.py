"""The real processes on PostgreSQL and Valkey of their own, for the benchmarks: everything durable, as in a shop."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import django
import psutil

from launcher.embedded import Stores
from launcher.processes import ProcessGroup
from testing import services

if TYPE_CHECKING:
    from testing.fleet import Fleet

ROOT = Path(__file__).resolve().parent.parent


class Shop:
    """A migrated database with roles. `fleet` starts web, worker, background and beat by name."""

    def __init__(self, stores: Stores, fleet: Fleet) -> None:
        self.fleet = fleet
        self._stores = stores

    def cpu(self, *names: str) -> float:
        """CPU seconds that these processes have used; "postgres" and "valkey" are the servers with their children."""
        return sum(self._cpu(name) for name in names)

    def _cpu(self, name: str) -> float:
        if name in self.fleet.processes:
            return cpu_of(self.fleet.processes[name].pid)
        store = self._stores.postgres if name == "postgres" else self._stores.valkey
        assert store
        assert store.child
        return cpu_of(store.child.pid)


def cpu_of(pid: int) -> float:
    """CPU seconds of a process and its children, also of those that have ended."""
    process = psutil.Process(pid)
    own = process.cpu_times()
    living = [child.cpu_times() for child in process.children(recursive=True)]
    ended = own.children_user + own.children_system
    return float(ended + sum(times.user + times.system for times in (own, *living)))


@contextmanager
def open_shop(*, before_tables: Callable[[], object] = lambda: None, **env: str) -> Iterator[Shop]:
    """Start the servers and migrate; at the end nothing is left. `env`: settings in addition to those of the tests.

    `before_tables` is called with Django set up and an empty database.
    """
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that its end ends all of it
    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    os.environ.update(services.UPSTREAM | services.SETTINGS | {"LOG_LEVEL": "INFO"} | env)
    os.environ["DJANGO_SETTINGS_MODULE"] = "backoffice.settings"
    group = ProcessGroup()
    folder = Path(tempfile.mkdtemp(prefix="backoffice-benchmark-"))
    folder.chmod(0o711)  # as root, PostgreSQL runs as another user
    group.discard_at_end(folder)
    stores = Stores(folder, group)
    try:
        stores.start("backoffice")
        assert stores.postgres
        assert stores.valkey
        os.environ |= {
            "BACKOFFICE_DATA": str(folder),
            "DATABASE_URL": stores.postgres.url("backoffice"),
            "REDIS_URL": stores.valkey.url(),
        }
        django.setup()
        from django.core.management import call_command

        from testing.database import make_app_role
        from testing.fleet import Fleet

        call_command("compile_po", verbosity=0)
        before_tables()
        call_command("migrate", interactive=False, verbosity=0)
        call_command("createcachetable", verbosity=0)
        make_app_role()
        fleet = Fleet()
        try:
            yield Shop(stores, fleet)
        finally:
            fleet.kill_all()
    finally:
        stores.stop()
        group.close()


def print_table(head: list[str], rows: list[list[str]]) -> None:
    """Print as Markdown."""
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)
