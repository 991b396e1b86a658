"""The tables of an empty database in a second: to run every migration takes a quarter of a minute of Python.

`tables.sql.gz` holds what the migrations until the last release leave: tables, triggers, functions, and which
migrations they are. `checks/fresh_tables.py` writes it, and proves that it gives what the migrations give. Rows are
not in it: what migrations write into our tables is written here by the migrations' own functions.
"""

import gzip
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations import RunPython
from django.db.migrations.recorder import MigrationRecorder

FILE = Path(__file__).with_name("tables.sql.gz")
POSTGRESQL = 18_00_00  # the version whose pg_dump wrote the file; an older server need not know its words
_CAN = """
    SELECT current_setting('server_version_num')::int >= %s AND current_schema() = 'public'
       AND NOT EXISTS (SELECT FROM pg_class WHERE relnamespace = 'public'::regnamespace)
"""


def can_make_tables() -> bool:
    """Whether the database of this connection is empty and its server knows the file's words."""
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
    """Call what our migrations write, in their order, on models of the tables that there are now."""
    ours = {app.label for app in apps.get_app_configs() if Path(app.path).resolve().parent == settings.BASE_DIR}
    loader = MigrationLoader(connection)
    done = list(MigrationRecorder(connection).migration_qs.order_by("pk").values_list("app", "name"))
    state = loader.project_state(done)
    with connection.schema_editor() as editor:
        for app, name in done:
            for operation in loader.disk_migrations[app, name].operations if app in ours else ():
                if isinstance(operation, RunPython):
                    operation.code(state.apps, editor)
