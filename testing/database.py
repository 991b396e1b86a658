"""The tests' database: emptied after each test that commits, and filled again with a catalogue fetched earlier."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from backoffice.database_rights import grant_rights
from branches.models import FIRST
from branches.services import all_branches
from policies.services import policies

# The role of the tests' real processes. It has the rights of the shop's own role, so that a missing right shows.
APP_ROLE, _APP_PASSWORD = "tests_app", "only-for-tests"
_MAKE_APP_ROLE = f"""
DO $$ BEGIN
    CREATE ROLE {APP_ROLE} LOGIN PASSWORD '{_APP_PASSWORD}';
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$
"""

# The migrations' rows stay, and the first branch.
KEPT = {model._meta.db_table for model in (ContentType, Permission, Group, Group.permissions.through)} | {
    "staff_rolegrouphistory",
    "staff_rolepermissionhistory",
    "branches_branch",
    "branches_branchhistory",
}

Rows = dict[str, bytes]


def make_app_role() -> None:
    """Make that role if it does not exist, and give it its rights in the tests' database."""
    with connection.cursor() as cursor:
        cursor.execute(_MAKE_APP_ROLE)
    grant_rights(APP_ROLE)


def app_url() -> str:
    """The address of the tests' database for that role."""
    server = urlsplit(os.environ["DATABASE_URL"])
    place = server.netloc.rpartition("@")[2]
    return urlunsplit(
        server._replace(netloc=f"{APP_ROLE}:{_APP_PASSWORD}@{place}", path=f"/{connection.settings_dict['NAME']}")
    )


def has_locks_of_the_app() -> bool:
    """Whether a process of the app is in a transaction in the tests' database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()"
            " AND usename = %s AND xact_start IS NOT NULL)",
            [APP_ROLE],
        )
        return bool(cursor.fetchone()[0])


def empty_tables() -> None:
    """Delete all rows, past triggers and foreign keys: ten times as fast as Django's flush. Takes a superuser."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(";".join(f"DELETE FROM {table}" for table in _tables()))  # noqa: S608
        cursor.execute("DELETE FROM branches_branch WHERE id > %(first)s", {"first": FIRST})
        cursor.execute("DELETE FROM branches_branchhistory WHERE id > %(first)s", {"first": FIRST})


def copy_rows() -> Rows:
    """All rows of the tables that have any."""
    copied = {}
    with connection.cursor() as cursor:
        for table in _tables():
            with cursor.copy(f"COPY {table} TO STDOUT") as copy:
                if rows := b"".join(copy):
                    copied[table] = rows
    return copied


def put_back(rows: Rows) -> None:
    """Insert rows that `copy_rows` returned into the empty tables."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        for table, lines in rows.items():
            with cursor.copy(f"COPY {table} FROM STDIN") as copy:
                copy.write(lines)


@cache
def _tables() -> list[str]:
    return [table for table in connection.introspection.django_table_names() if table not in KEPT]


@contextmanager
def past_triggers() -> Iterator[CursorWrapper]:
    """A cursor without triggers and foreign keys, like the database server's owner."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        yield cursor
        cursor.execute("SET LOCAL session_replication_role = origin")


def tamper(statement: str, *values: object) -> int:
    """Run one statement without triggers and foreign keys; returns the number of rows."""
    with past_triggers() as cursor:
        cursor.execute(statement, values or None)
        return int(cursor.rowcount)


@contextmanager
def undone() -> Iterator[None]:
    """Roll back what happens inside, after its deferred checks, so that the next case begins with the same rows."""
    with transaction.atomic():
        yield
        connection.check_constraints()
        transaction.set_rollback(True)


@contextmanager
def statements() -> Iterator[list[str]]:
    """The SQL statements that are sent inside; BEGIN and COMMIT are the driver's and not among them.

    Policies and branches are read before, because a process reads them once in five seconds.
    """
    policies()
    all_branches()
    sent: list[str] = []

    def note(execute: Callable[..., Any], sql: str, *arguments: Any) -> Any:
        sent.append(sql)
        return execute(sql, *arguments)

    with connection.execute_wrapper(note):
        yield sent


@contextmanager
def away_for_the_app() -> Iterator[None]:
    """The tests' database ends the connections of the app's processes, and takes no new ones meanwhile."""
    name = connection.ops.quote_name(connection.settings_dict["NAME"])
    with connection.cursor() as cursor:
        cursor.execute(f"REVOKE CONNECT ON DATABASE {name} FROM PUBLIC")
        try:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                " AND usename = %s",
                [APP_ROLE],
            )
            yield
        finally:
            cursor.execute(f"GRANT CONNECT ON DATABASE {name} TO PUBLIC")
