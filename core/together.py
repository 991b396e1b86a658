"""Several questions in one statement: all answers are of one moment.

For places where plain questions would be too many: more than 15 statements for a page (its head, the counter, a shift,
the balance), more than a few for a poll or at rest (alerts, reconciliation). Elsewhere plain ones do: they take 0.87 to
1.07 times as much of the processor. It stands on private parts of Django (`klass_info`, `get_related_populators`);
`tests/core/test_together.py` holds them to what we expect.
"""

from __future__ import annotations

import json
from typing import Any

from django.db import connection
from django.db.models import BinaryField, DecimalField, Field, Model, QuerySet
from django.db.models.functions.datetime import TruncBase
from django.db.models.query import get_related_populators


def read_together(*questions: QuerySet[Any, Any]) -> list[list[Any]]:
    """The rows of each question, as it would give them itself; `prefetch_related` is left out.

    Those of a `values_list` are tuples. Raises `TypeError` for what JSON does not keep.
    """
    compilers = [question.query.get_compiler(connection=connection, elide_empty=False) for question in questions]
    asked = [compiler.as_sql(with_col_aliases=True) for compiler in compilers]
    if lost := [column for compiler in compilers for column, *_ in compiler.select if _is_lost(column)]:
        raise TypeError(f"JSON does not keep {lost}")
    columns = ", ".join(
        f"(SELECT jsonb_agg(to_jsonb(one)) FROM ({sql}) one)"  # noqa: S608 - Django's own text
        for sql, _values in asked
    )
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {columns}", [value for _sql, values in asked for value in values])
        answers = cursor.fetchone()
    return [_rows(*part) for part in zip(questions, compilers, answers, strict=True)]


def _rows(question: Any, compiler: Any, answer: str | None) -> list[Any]:
    """The rows of a question, made of what the database said: a list of {column: value}."""
    answers = json.loads(answer or "[]")
    rows = [
        tuple(_value(column.output_field, columns[alias]) for column, _sql, alias in compiler.select)
        for columns in answers
    ]
    return rows if question._fields else [_made(compiler, row) for row in rows]


def _made(compiler: Any, values: tuple[Any, ...]) -> Model:
    """The row's model with the others that `select_related` names, as Django makes them."""
    columns, info = compiler.select, compiler.klass_info
    places = info["select_fields"]
    names = [columns[place][0].target.attname for place in places]
    made: Model = info["model"].from_db(connection.alias, names, [values[place] for place in places])
    for other in get_related_populators(info, columns, connection.alias):  # type: ignore[call-arg] # newer stubs
        other.populate(values, made)
    for name, place in compiler.annotation_col_map.items():
        setattr(made, name, values[place])
    return made


def _is_lost(column: Any) -> bool:
    """Whether it would come back as another value: bytes, more digits than a float has, a time in another zone."""
    return isinstance(column.output_field, BinaryField | DecimalField) or isinstance(column, TruncBase)


def _value(field: Field[Any, Any], value: Any) -> Any:
    return None if value is None else field.to_python(value)
