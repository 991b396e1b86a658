"""Whether the tables fit this code: a start, a process and a command check it before they use them."""

from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder


class WrongSchema(Exception):
    """The tables do not fit this code: one sentence with the next step."""


def refuse_newer_schema() -> None:
    """Raise WrongSchema when a newer version has changed the tables.

    A database that cannot be reached is not judged: the next user of it reports the fault.
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

    Libraries are left out, because they may drop old ones; an app that is not in this code is not.
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
