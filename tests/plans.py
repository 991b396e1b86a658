"""The plans of a page's statements in PostgreSQL, with many rows."""

import json

from django.db import connection

from drawers.models import Payment
from testing.database import past_triggers

# A few thousand rows are often cheapest to read whole and then to join: the plan depends on the present statistics.
# Without these ways, PostgreSQL shows whether an index leads to the rows.
WAYS_FOR_FEW_ROWS = ("seqscan", "hashjoin", "mergejoin")


def plan_of(question):
    """Run this statement; returns its plan."""
    with connection.cursor() as cursor:
        cursor.execute(";".join(f"SET enable_{way} = off" for way in WAYS_FOR_FEW_ROWS))
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {question}")
        plan = cursor.fetchone()[0]
        cursor.execute(";".join(f"RESET enable_{way}" for way in WAYS_FOR_FEW_ROWS))
    return (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]


def scans(node):
    """The steps of a plan that read a table: (table, kind of step, rows that it read)."""
    if not node["Actual Loops"]:
        return  # another way that was not taken
    if table := node.get("Relation Name"):
        removed = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
        yield table, node["Node Type"], (node["Actual Rows"] + removed) * node["Actual Loops"]
    for part in node.get("Plans", []):
        yield from scans(part)


def asked(queries):
    return {query["sql"] for query in queries if query["sql"].lstrip().startswith(("SELECT", "(SELECT", "WITH"))}


MANY, MOST = 3_000, 400


GROWING = {"purchases_order", "drawers_payment", "drawers_drawerentry", "drawers_shift", "credit_creditentry"}


def copy_many(table, model_row, **others):
    """MANY copies of a row of this table, with other values in some columns (SQL; `n` counts)."""
    if table == "purchases_order" and "payment_id" not in others:
        newest = Payment.objects.latest("pk").pk + 4_000_000
        copy_many("drawers_payment", model_row.payment, id=f"{newest} + n", ref_id=others["ref_id"])
        others["payment_id"] = f"{newest} + n"
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {table} LIMIT 0")  # noqa: S608 - our own names
        columns = [column.name for column in cursor.description]
    values = ", ".join(others.get(name, f"o.{name}") for name in columns)
    with past_triggers() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values}"  # noqa: S608 - our own names
            f" FROM {table} o, generate_series(1, {MANY}) n WHERE o.id = %s",
            [model_row.pk],
        )


def weigh(*others):
    """Update the statistics of the growing tables and of others, and shorten their indexes as in a new shop.

    Tests delete their rows, but an index keeps its length, and a way by a longer index looks dearer. Do not call it
    inside a transaction.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM (FULL, ANALYZE) {', '.join(sorted(GROWING | {*others}))}")


def too_wide(questions, growing=frozenset(GROWING)):
    """The steps of the plans that read more rows than a shift has."""
    for question in questions:
        for table, kind, rows in scans(plan_of(question)):
            if table in growing and (kind == "Seq Scan" or rows > MOST):
                yield f"{kind} of {rows} rows of {table}: {question[:300]}"
