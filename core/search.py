"""Search in tables that grow.

Each way of finding is one condition on one indexed column: PostgreSQL reads the whole table for two joined by OR.
"""

import json
import re
from typing import Any

from django.contrib.postgres.search import SearchQuery, SearchVector
from django.db.models import Aggregate, BooleanField, Count, F, Func, Q, QuerySet

# If one way finds more rows than this, the newest count.
MOST_FOUND = 500
# The same for searches that run with each typed letter, and whose page shows only some rows.
MOST_CLOSELY = 100
# Sums of more rows are estimates.
MOST_SUMMED = 10_000


def found_by(*ways: QuerySet[Any], time_field: str = "created_at", most: int = MOST_FOUND) -> Q:
    """The rows that any of these queries finds, as a condition. Each must be answered by an index of its own."""
    first, *others = (way.order_by(f"-{time_field}", "-pk").values("pk")[:most] for way in ways)
    return Q(pk__in=first.union(*others, all=True) if others else first)


def newest_of(way: QuerySet[Any]) -> list[Any]:
    """The keys that one way finds, read now: for a way that decides whether another way runs."""
    return list(way.order_by("-created_at", "-pk").values_list("pk", flat=True)[:MOST_FOUND])


def count_up_to(rows: QuerySet[Any], most: int) -> int:
    """The number of rows; `most + 1` if there are more than `most`: counting stops there."""
    return rows.order_by()[: most + 1].count()


def is_among(field: str, keys: Any) -> Func:
    """The condition that a column is one of an array of keys: PostgreSQL reads the array first, then looks up its keys.

    It would join a subquery, and might read all other rows first.
    """
    return Func(F(field), keys, template="%(expressions)s)", arg_joiner=" = ANY(", output_field=BooleanField())


def sum_up(rows: QuerySet[Any, Any], **sums: Aggregate) -> tuple[dict[str, int], bool]:
    """`count` and `sums` of these rows, and whether they are exact; the first `MOST_SUMMED` are read, in their order.

    Above that they are estimates with three significant digits: those rows stand for as many as PostgreSQL expects.
    """
    read = rows[: MOST_SUMMED + 1].aggregate(count=Count("pk"), **sums)
    facts = {name: int(value) for name, value in read.items()}
    if facts["count"] <= MOST_SUMMED:
        return facts, True
    times = max(expected(rows), facts["count"]) / facts["count"]
    return {name: rounded(value * times) for name, value in facts.items()}, False


def expected(rows: QuerySet[Any, Any]) -> int:
    """The number of rows that PostgreSQL expects; 0, without a query, if the condition allows none."""
    plan = rows.order_by().explain(format="json")
    return int(json.loads(plan)[0]["Plan"]["Plan Rows"]) if plan else 0


def rounded(amount: float) -> int:
    """The number rounded to three significant digits."""
    whole = round(amount)
    return round(whole, 3 - len(str(abs(whole))))


def words_of(*fields: str) -> SearchVector:
    """The words of these columns: for an index, and to be compared with `words_that_begin`."""
    return SearchVector(*fields, config="simple")


def words_that_begin(text: str) -> SearchQuery:
    """Words that begin with the typed words: "sar war" finds "Bu Sari Warung". Nothing without a word."""
    return _query([f"{word}:*" for word in re.findall(r"\w+", text)])


def words_being_typed(text: str) -> SearchQuery | None:
    """The typed words, the last of which may be unfinished; None for fewer than two.

    A common unfinished word costs the index many times as much as a whole one.
    """
    *whole, last = re.findall(r"\w+", text) or [""]
    return _query([*whole, f"{last}:*"]) if whole else None


def _query(words: list[str]) -> SearchQuery:
    return SearchQuery(" & ".join(words), search_type="raw", config="simple")
