"""Several questions in one statement: one way to the database, and all answers are of one moment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.db import connection
from django.db.models import Field, Model, QuerySet
from django.db.models.query import get_related_populators


def read_together(*questions: QuerySet[Any]) -> list[list[Any]]:
    """The rows of each question, as it would give them itself; `prefetch_related` is left out."""
    compilers = [question.query.get_compiler(connection=connection, elide_empty=False) for question in questions]
    asked = [compiler.as_sql(with_col_aliases=True) for compiler in compilers]
    columns = ", ".join(
        f"(SELECT jsonb_agg(to_jsonb(one)) FROM ({sql}) one)"  # noqa: S608 - Django's own text
        for sql, _values in asked
    )
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {columns}", [value for _sql, values in asked for value in values])
        answers = cursor.fetchone()
    return [list(_rows(*pair)) for pair in zip(compilers, answers, strict=True)]


def keep_prefetched(row: Model, name: str, others: list[Any]) -> None:
    """From now on `row.NAME.all()` is `others`, as if `prefetch_related` had read them."""
    found = getattr(row, name).all()
    found._result_cache = others
    vars(row).setdefault("_prefetched_objects_cache", {})[name] = found


def _rows(compiler: Any, answer: str | None) -> Iterator[Any]:
    """The rows of a question, made of what the database said: a list of {column: value}."""
    columns, info = compiler.select, compiler.klass_info
    others = get_related_populators(info, columns, connection.alias)  # type: ignore[call-arg] # newer stubs
    own = info["select_fields"]
    names = [columns[place][0].target.attname for place in own]
    for said in json.loads(answer or "[]"):
        values = [_value(column.output_field, said[alias]) for column, _sql, alias in columns]
        row = info["model"].from_db(connection.alias, names, [values[place] for place in own])
        for other in others:
            other.populate(values, row)
        for name, place in compiler.annotation_col_map.items():
            setattr(row, name, values[place])
        yield row


def _value(field: Field[Any, Any], said: Any) -> Any:
    return None if said is None else field.to_python(said)
