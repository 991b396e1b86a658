"""Copy many rows into tables at once, in one transaction: all of them are there afterwards, or none."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager

from django.db import connection, transaction
from psycopg import sql

from backoffice.history.rows import Block

# For making indexes and checking foreign keys; given back with the transaction.
_SETTINGS = {"statement_timeout": "0", "lock_timeout": "10s", "maintenance_work_mem": "256MB", "work_mem": "128MB"}
_UNIQUE = """
    SELECT oid, conindid, conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE contype = 'u' AND conrelid = ANY(%s::regclass[])
"""
_FOREIGN_KEYS = """
    SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
    WHERE contype = 'f' AND (conrelid = ANY(%s::regclass[]) OR conindid = ANY(%s))
"""
_INDEXES = """
    SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index
    WHERE indrelid = ANY(%s::regclass[])
        AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))
"""

_COPIES = """
    SELECT tgrelid::regclass::text, tgname FROM pg_trigger
    WHERE tgrelid = ANY(%s::regclass[]) AND tgname ~ '^pgtrigger_(history|own_transaction)_'
"""


# How closely PostgreSQL counts the values of an index on an expression.
_STATISTICS = """
    SELECT attrelid::regclass::text, attnum, attstattarget FROM pg_attribute JOIN pg_index ON indexrelid = attrelid
    WHERE indrelid = ANY(%s::regclass[]) AND attstattarget >= 0
"""


@contextmanager
def bulk_load(tables: Collection[str]) -> Iterator[None]:
    """A transaction in which these tables are ours alone and have no index but their key.

    At its end every index and every foreign key is made again, which checks all rows. Checks and guards are never off;
    only what is made up has no history, and is of no transaction. Raises `django.db.OperationalError` when somebody
    else does not leave the tables in time.
    """
    names = list(tables)
    with transaction.atomic(), connection.cursor() as cursor:
        for name, value in _SETTINGS.items():
            cursor.execute(f"SET LOCAL {name} = '{value}'")
        cursor.execute(f"LOCK TABLE {', '.join(names)} IN ACCESS EXCLUSIVE MODE")
        cursor.execute(_UNIQUE, [names])
        unique = cursor.fetchall()
        cursor.execute(_FOREIGN_KEYS, [names, [row[1] for row in unique]])
        constraints = [row[2:] for row in unique], cursor.fetchall()
        cursor.execute(_INDEXES, [names])
        indexes = cursor.fetchall()
        cursor.execute(_COPIES, [names])
        copies = cursor.fetchall()
        for table, name in copies:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER {name}")
        cursor.execute(_STATISTICS, [names])
        statistics = cursor.fetchall()
        for table, name, _definition in (*constraints[1], *constraints[0]):
            cursor.execute(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"')
        for name, _definition in indexes:
            cursor.execute(f"DROP INDEX {name}")
        yield
        for table, name, definition in constraints[0]:
            cursor.execute(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}')
        for _name, definition in indexes:
            cursor.execute(definition)
        for name, column, target in statistics:
            cursor.execute(f"ALTER INDEX {name} ALTER COLUMN {column} SET STATISTICS {target}")
        for table, name, definition in constraints[1]:
            cursor.execute(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}')
        for table, name in copies:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER {name}")
        cursor.execute(f"ANALYZE {', '.join(names)}")


def copy_blocks(blocks: Iterable[Block]) -> None:
    """Copy rows into their tables."""
    with connection.cursor() as cursor:
        for block in blocks:
            if not block.lines:
                continue
            names = sql.SQL(", ").join(map(sql.Identifier, block.columns))
            with cursor.copy(sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(block.table), names)) as copy:
                copy.write(block.lines)
