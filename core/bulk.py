"""Write many rows in one statement, at a fraction of the ORM's CPU time."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import cache
from typing import Any

from django.db import connection
from django.db.models import Field, Model


def update_rows(rows: Sequence[Model], fields: tuple[str, ...]) -> None:
    """Write these fields of all rows, which are of one model and stored already, in one UPDATE.

    What `bulk_update` does, at a fraction of its CPU time. Lock the rows before, in a fixed order.
    """
    if rows:
        statement, columns = _update(type(rows[0]), fields)
        with connection.cursor() as cursor:
            cursor.execute(statement, [[_prepared(column, row) for row in rows] for column in columns])


def insert_rows(rows: Sequence[Model]) -> None:
    """Insert new rows of one model in one INSERT. `bulk_create` gives them their keys, too, at twice the CPU time."""
    if rows:
        statement, columns = _insert(type(rows[0]))
        places = ", ".join([f"({', '.join(['%s'] * len(columns))})"] * len(rows))
        with connection.cursor() as cursor:
            cursor.execute(statement + places, [_prepared(column, row) for row in rows for column in columns])


@cache
def _insert(model: type[Model]) -> tuple[str, list[Field[Any, Any]]]:
    """The statement before its values, and the columns that it wants: all but the key, which the database makes."""
    meta, quote = model._meta, connection.ops.quote_name
    columns = [column for column in meta.concrete_fields if not column.primary_key]
    names = ", ".join(quote(str(column.column)) for column in columns)
    return f"INSERT INTO {quote(meta.db_table)} ({names}) VALUES ", columns  # noqa: S608 - our names


@cache
def _update(model: type[Model], fields: tuple[str, ...]) -> tuple[str, list[Field[Any, Any]]]:
    """The statement, and the columns whose values it wants, each as an array."""
    meta, quote = model._meta, connection.ops.quote_name
    columns = [column for column in meta.concrete_fields if column.primary_key or column.name in fields]
    names = {column: quote(str(column.column)) for column in columns}
    table, key = quote(meta.db_table), next(names[column] for column in columns if column.primary_key)
    changes = ", ".join(f"{name} = new.{name}" for name in names.values() if name != key)
    arrays = ", ".join(f"%s::{_type_of(column)}[]" for column in columns)
    statement = (
        f"UPDATE {table} SET {changes} FROM unnest({arrays}) AS new ({', '.join(names.values())})"  # noqa: S608 - our names
        f" WHERE {table}.{key} = new.{key}"
    )
    return statement, columns


def _type_of(column: Field[Any, Any]) -> str:
    """Its type without a length: a cast to varchar(10) would cut a text, an assignment refuses one that is too long."""
    return str(column.cast_db_type(connection)).partition("(")[0]


def _prepared(column: Field[Any, Any], row: Model) -> Any:
    value = column.get_db_prep_save(getattr(row, column.attname), connection)
    return value.value if isinstance(value, Enum) else value
