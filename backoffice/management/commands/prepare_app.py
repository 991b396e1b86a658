"""`manage.py prepare_app`: everything between an empty or older database and one that can serve."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.migrations.exceptions import InconsistentMigrationHistory
from django.db.migrations.recorder import MigrationRecorder

from audit.services import close_way_past_triggers, is_restored
from audit.services.publishing import public_key
from backoffice.database_rights import grant_rights
from catalogue.models import Product
from core import heartbeats
from core.commands import PlainCommand
from core.schema import may_change_tables, refuse_newer_schema, refuse_older_schema
from gateway.services import WrongUpstream, bind_to_upstream, upstream_account
from purchases.models import Order
from shop.services import adopt_name
from staff.roles import create_demo_staff
from staff.services import has_owner

# Any number that only this transaction lock uses.
_PREPARE_LOCK = 7_310_002
_RESTORED = (
    "This database was restored from a dump: what is written now could not be sealed. Run ./run manage restart_audit "
    "first, then start again (docs/audit.md)."
)
_UNRELEASED = (
    "A version from before 0.1.0 has made this database, and it cannot be upgraded; nothing is changed. Start that "
    "version again, or begin with an empty database: another folder in BACKOFFICE_DATA, or another DATABASE_URL."
)


@contextmanager
def _alone() -> Iterator[None]:
    """Hold a lock in a transaction on a separate connection: a pooler in between keeps no session for us."""
    other = connections.create_connection(DEFAULT_DB_ALIAS)
    try:
        other.set_autocommit(False)
        with other.cursor() as cursor:
            for limit in ("idle_in_transaction_session_timeout", "statement_timeout", "lock_timeout"):
                cursor.execute(f"SET LOCAL {limit} = 0")
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_PREPARE_LOCK])
            yield
    finally:
        other.close()


def _migrations() -> int:
    recorder = MigrationRecorder(connection)
    return recorder.migration_qs.count() if recorder.has_table() else 0


class Command(PlainCommand):
    """Safe to run at every start; each step says what it did and how long it took."""

    help = (
        "Compile translations, collect the pages' files, migrate, make the cache table and (sandbox only) demo staff."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the steps in order; the first that fails stops with one sentence.

        A role that may not change the tables checks that they belong to this code, and prepares the rest. Installations
        that start together take turns.
        """
        with _alone():
            self._prepare()

    def _prepare(self) -> None:
        refuse_newer_schema()  # again: while this installation waited for its turn, a newer version may have migrated
        if is_restored():  # before anything is written
            raise CommandError(_RESTORED)
        self._step("translations", lambda: call_command("compile_po", verbosity=0))
        self._step("files of the pages", lambda: call_command("collect_files"))
        if may_change_tables():
            self._prepare_tables()
        else:
            self._step("database", refuse_older_schema)
        self._step("upstream account", self._bind)
        self._step("shop", adopt_name)
        self._step("audit key", public_key)  # before the first backup, which holds it
        self._step("heartbeats", heartbeats.record_start)
        self._step("demo staff" if settings.SANDBOX else "no demo staff", create_demo_staff)
        if settings.SANDBOX:
            # Play money, and the sandbox answers 429 as the service does: the first call need not wait a rate window.
            self._step("rate budget", lambda: call_command("declare_fresh_budget", verbosity=0))
        if not has_owner():
            self.stdout.write("  no owner yet")  # read by the launcher
        if upstream_account().is_held:
            self.stdout.write("  restored, not open yet")  # read by the launcher
        if Product.objects.exists():
            self.stdout.write("  catalogue is there")  # read by the launcher

    def _prepare_tables(self) -> None:
        self._step("database", self._migrate)
        self._step("triggers", close_way_past_triggers)
        self._step("cache table", lambda: call_command("createcachetable", verbosity=0))
        if connection.settings_dict["USER"] != settings.DATABASE_APP_ROLE:  # else one role is both
            self._step("database rights", lambda: grant_rights(settings.DATABASE_APP_ROLE))

    def _step(self, name: str, work: Callable[[], object]) -> None:
        started = time.monotonic()
        work()
        self.stdout.write(f"  {name} ({time.monotonic() - started:.1f} s)")
        sys.stdout.flush()

    def _migrate(self) -> None:
        known = _migrations()
        try:
            call_command("migrate", interactive=False, verbosity=0)
        except InconsistentMigrationHistory as error:  # initial migrations were rewritten before the first release
            raise CommandError(f"{_UNRELEASED} ({error})") from error
        if _migrations() != known:
            self.stdout.write("  tables changed")  # read by ./run upgrade

    @staticmethod
    def _bind() -> None:
        try:
            bind_to_upstream(has_orders=Order.objects.exists())
        except WrongUpstream as error:
            raise CommandError(str(error)) from error
