"""Several queries (here: questions) in one statement: all answers are of one moment.

For places where plain questions would be too many: more than 15 statements for a page (its head, the counter, a shift,
the balance), more than a few for a poll or at rest (alerts, reconciliation). Elsewhere plain questions are enough:
they take 0.87 to 1.07 times as much of the processor. It uses private parts of Django (`klass_info`,
`get_related_populators`); `tests/core/test_together.py` fails when they change.
"""

import json
import re
from functools import cached_property
from typing import Any

from django.db import connection
from django.db.models import BinaryField, DecimalField, Expression, Model, QuerySet
from django.db.models.functions.datetime import TruncBase
from django.db.models.query import get_related_populators

# The place of a value that is put in later, once all other percent signs are doubled.
_PLACE = re.compile(r"%%\((\w+)\)s")


class Given(Expression):
    """Stands in a question for the value that `Together.read` gets under this name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def as_sql(self, *_compiler: Any, **_more: Any) -> tuple[str, Any]:
        """Its place in the statement, which stays when Django's own values are put in."""
        return f"%%({self.name})s", []


class Together:
    """Questions whose SQL is made once and asked often: Django takes longer to make it than to ask it.

    PostgreSQL plans it once a connection: for the head of a page, planning takes three times as long as running it.
    """

    def __init__(self, *questions: QuerySet[Any, Any]) -> None:
        """Raises `TypeError` for values that JSON does not keep."""
        self._parts = [_Part(question) for question in questions]
        columns = ", ".join(f"(SELECT jsonb_agg(to_jsonb(one)) FROM ({part.sql}) one)" for part in self._parts)  # noqa: S608 - Django's own text
        self._statement = f"SELECT {columns}"
        self._values = [value for part in self._parts for value in part.values]

    def read(self, **given: Any) -> list[list[Any]]:
        """The rows of each question, as it would give them itself; `prefetch_related` is left out.

        Those of a `values_list` are tuples. `given`: the value for each `Given`.
        """
        with connection.cursor_that_keeps_plans() as cursor:  # type: ignore[attr-defined] # of `audit.database`
            return self._ask(cursor, self._kept, given)

    def read_once(self) -> list[list[Any]]:
        """The same without a `Given`, for a statement that is asked once: its plan is not kept."""
        with connection.cursor() as cursor:
            return self._ask(cursor, self._statement, self._values)

    @cached_property
    def _kept(self) -> str:
        """The statement with all values but those of `Given`: then a kept plan can use an index with a condition."""
        text = connection.ops.compose_sql(self._statement, self._values)  # type: ignore[attr-defined] # PostgreSQL's
        return _PLACE.sub(r"%(\1)s", text.replace("%", "%%"))

    def _ask(self, cursor: Any, statement: str, values: Any) -> list[list[Any]]:
        cursor.execute(statement, values)
        answers = cursor.fetchone()
        return [part.rows(json.loads(answer or "[]")) for part, answer in zip(self._parts, answers, strict=True)]


def read_together(*questions: QuerySet[Any, Any]) -> list[list[Any]]:
    """The rows of questions that are asked only once: see `Together`."""
    return Together(*questions).read_once()


class _Part:
    """One of the questions as SQL; it makes the rows from the database's answer."""

    def __init__(self, question: Any) -> None:
        compiler = question.query.get_compiler(connection.alias, elide_empty=False)
        self.sql, self.values = compiler.as_sql(with_col_aliases=True)
        if lost := [column for column, *_ in compiler.select if _is_lost(column)]:
            raise TypeError(f"JSON does not keep {lost}")
        self._columns = [(alias, column.output_field.to_python) for column, _sql, alias in compiler.select]
        self._info = None if question._fields else compiler.klass_info
        self._annotations = compiler.annotation_col_map.items()
        if self._info:
            self._places = self._info["select_fields"]
            self._names = [compiler.select[place][0].target.attname for place in self._places]
            self._others = get_related_populators(self._info, compiler.select, connection.alias)  # type: ignore[call-arg] # newer stubs

    def rows(self, answers: list[dict[str, Any]]) -> list[Any]:
        """The rows of the database's answer."""
        rows = [
            tuple(None if columns[alias] is None else to_python(columns[alias]) for alias, to_python in self._columns)
            for columns in answers
        ]
        return [self._made(row) for row in rows] if self._info else rows

    def _made(self, values: tuple[Any, ...]) -> Model:
        """The row's model with the others that `select_related` names, as Django makes them."""
        assert self._info  # noqa: S101 - of a question for models
        made: Model = self._info["model"].from_db(connection.alias, self._names, [values[at] for at in self._places])
        for other in self._others:
            other.populate(values, made)
        for name, place in self._annotations:
            setattr(made, name, values[place])
        return made


def _is_lost(column: Any) -> bool:
    """Whether JSON would change the column's value: bytes, more digits than a float has, a time in another zone."""
    return isinstance(column.output_field, BinaryField | DecimalField) or isinstance(column, TruncBase)
