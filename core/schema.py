"""Checks whether the tables fit this code, makes them at once in an empty database, and limits what migrations hold.

A start, a process and a command check that the tables fit before they use them. Running every migration takes a quarter
of a minute of Python. `tables.sql.gz` holds the result of the migrations until the last release: tables, triggers,
functions, and the list of these migrations. `checks/fresh_tables.py` writes it, and proves that it equals the result.
Rows are not in it: the migrations' own functions write them here.
"""

import gzip
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import OperationalError, connection, transaction
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import RunPython
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState
from pgtrigger.migrations import MigrationAutodetectorMixin

FILE = Path(__file__).with_name("tables.sql.gz")
POSTGRESQL = 18_00_00  # the version whose pg_dump wrote the file; an older server may not know its statements
_CAN = """
    SELECT current_setting('server_version_num')::int >= %s AND current_schema() = 'public'
       AND NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace)
"""


class WrongSchema(Exception):
    """The tables do not fit this code: one sentence with the next step."""


def refuse_newer_schema() -> None:
    """Raise WrongSchema when a newer version has changed the tables.

    A database that cannot be reached is not checked: its next user reports the fault.
    """
    try:
        unknown = unknown_migrations()
    except OperationalError:
        return
    if unknown:
        raise WrongSchema(
            f"A newer version has changed this database (this one does not know {unknown[-1]}): start that version "
            "again, or restore a backup from before it."
        )


def has_run_all() -> bool:
    """Whether no migration is left. Raises `InconsistentMigrationHistory` if one has run before one that it needs."""
    executor = MigrationExecutor(connection)
    executor.loader.check_consistent_history(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())


def refuse_older_schema() -> None:
    """Raise WrongSchema when migrations have to run first; for a role that may not run them."""
    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        raise WrongSchema(
            "This database is not ready for this version, and this role may not change its tables: call "
            "`./run manage prepare_app` with DATABASE_OWNER_URL first."
        )


def unknown_migrations() -> list[str]:
    """The migrations that have run and are not in this code, oldest first ("ledger.0007_words").

    Libraries are left out, because they may drop old migrations; apps that this code does not have are not left out.
    """
    recorder = MigrationRecorder(connection)
    if not recorder.has_table():
        return []
    ours, libraries = {}, set()
    for app in apps.get_app_configs():
        folder = Path(app.path).resolve()
        if folder.parent == settings.BASE_DIR:
            ours[app.label] = {file.stem for file in folder.glob("migrations/*.py")}
        else:
            libraries.add(app.label)
    rows = recorder.migration_qs.order_by("pk").values_list("app", "name")
    return [f"{app}.{name}" for app, name in rows if app not in libraries and name not in ours.get(app, ())]


def may_change_tables() -> bool:
    """Whether the role of this connection owns the tables, or may make them in an empty database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT coalesce((SELECT pg_has_role(relowner, 'USAGE') FROM pg_class"
            " WHERE oid = to_regclass('django_migrations')), has_schema_privilege(current_schema(), 'CREATE'))"
        )
        return bool(cursor.fetchone()[0])


def can_make_tables() -> bool:
    """Whether the database of this connection is empty and its server knows the file's statements."""
    with connection.cursor() as cursor:
        cursor.execute(_CAN, [POSTGRESQL])
        return bool(cursor.fetchone()[0])


def make_tables() -> None:
    """Make the tables of the file in an empty database, and the rows with which a shop begins, in one transaction.

    Migrations that are newer than the file are left for `migrate`.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(gzip.decompress(FILE.read_bytes()).decode())
        _write_rows()


def _write_rows() -> None:
    """Call the functions of our migrations that write rows, in their order, with models of the present tables."""
    ours = {app.label for app in apps.get_app_configs() if Path(app.path).resolve().parent == settings.BASE_DIR}
    loader = MigrationLoader(connection)
    done = list(MigrationRecorder(connection).migration_qs.order_by("pk").values_list("app", "name"))
    state = loader.project_state(done)
    with connection.schema_editor() as editor:
        for app, name in done:
            for operation in loader.disk_migrations[app, name].operations if app in ours else ():
                if isinstance(operation, RunPython):
                    operation.code(state.apps, editor)


class WordlessAutodetector(MigrationAutodetectorMixin, MigrationAutodetector):
    """Compares and writes the fields without `choices`, `help_text` and `verbose_name`, and the triggers."""

    def __init__(self, from_state: ProjectState, to_state: ProjectState, *arguments: Any, **options: Any) -> None:
        for state in (from_state, to_state):
            for model in state.models.values():
                for field in model.fields.values():
                    field.choices, field.help_text, field._verbose_name = None, "", None
        super().__init__(from_state, to_state, *arguments, **options)
