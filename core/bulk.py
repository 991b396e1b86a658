"""Write many changed rows in one statement."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any

from django.db import connection
from django.db.models import Field, Model


def update_rows(rows: Sequence[Model], fields: Sequence[str]) -> None:
    """Write these fields of all rows, which are of one model and stored already, in one UPDATE.

    What `bulk_update` does, at a fraction of its CPU time. Lock the rows before, in a fixed order.
    """
    if not rows:
        return
    meta = rows[0]._meta
    columns = [column for column in meta.concrete_fields if column.primary_key or column.name in fields]
    quote = connection.ops.quote_name
    table, names = quote(meta.db_table), [quote(str(column.column)) for column in columns]
    changes = ", ".join(
        f"{name} = new.{name}" for name, column in zip(names, columns, strict=True) if column.name in fields
    )
    key = next(name for name, column in zip(names, columns, strict=True) if column.primary_key)
    arrays = ", ".join(f"%s::{_type_of(column)}[]" for column in columns)
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET {changes} FROM unnest({arrays}) AS new ({', '.join(names)})"  # noqa: S608 - our own names
            f" WHERE {table}.{key} = new.{key}",
            [[_prepared(column, row) for row in rows] for column in columns],
        )


def _type_of(column: Field[Any, Any]) -> str:
    """Its type without a length: a cast to varchar(10) would cut a text, an assignment refuses one that is too long."""
    return str(column.cast_db_type(connection)).partition("(")[0]


def _prepared(column: Field[Any, Any], row: Model) -> Any:
    value = column.get_db_prep_save(getattr(row, column.attname), connection)
    return value.value if isinstance(value, Enum) else value
