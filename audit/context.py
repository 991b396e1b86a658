"""Tells the database for whom a statement writes; the triggers put it beside each copied row.

It takes the log's own context (`structlog.contextvars`): person, address, request, task. The context goes with the
first statement of a transaction that writes, and again when it has changed or was rolled back. So it costs no extra
statement, and nothing stays on a pooled connection.
"""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from psycopg.pq import TransactionStatus
from structlog.contextvars import get_contextvars

_SAID = {"user_id": "person", "ip": "address", "request_id": "request", "task": "task", "trace_id": "trace"}
_WRITES = ("INSERT", "UPDATE", "DELETE", "WITH")
# Tables without copies: Django's own bookkeeping, and rows that are sealed themselves.
_NOT_COPIED = ('"staff_session"', '"django_cache"', '"purchases_orderevent"', '"gateway_exchange"', '"ledger_entry"')
_SAY = "SET LOCAL pghistory.context_metadata = {}; "


def current() -> str:
    """The person or task that is at work now, as JSON; empty for nobody.

    {"person", "address", "request", "trace"} of a page, {"task", "trace"} of a task.
    """
    context = get_contextvars()
    return _as_json(tuple(map(context.get, _SAID)))


@lru_cache(maxsize=256)
def _as_json(values: tuple[Any, ...]) -> str:
    facts = {name: value for name, value in zip(_SAID.values(), values, strict=True) if value is not None}
    return json.dumps(facts) if facts else ""


def say_who(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Mapping[str, Any]) -> Any:
    """Django's execute wrapper: put the context before a statement that writes, unless its transaction knows it."""
    if many or not isinstance(sql, str) or not _writes(sql):
        return execute(sql, params, many, context)
    connection = context["connection"]
    status = connection.connection.pgconn.transaction_status
    if status == TransactionStatus.INERROR:
        return execute(sql, params, many, context)
    if status == TransactionStatus.IDLE:
        connection.said = ""  # this statement begins a transaction
    context_now = current()
    if context_now == connection.said:
        return execute(sql, params, many, context)
    cursor = execute(*_with(context_now, sql, params), many, context)
    while cursor is not None and cursor.nextset():
        pass
    connection.said = context_now if connection.in_atomic_block else ""
    return cursor


def _with(context_json: str, sql: str, params: Any) -> tuple[str, Any]:
    """The statement and its parameters, with the context before it."""
    if isinstance(params, dict):
        return _SAY.format("%(said_by)s") + sql, {**params, "said_by": context_json}
    if params is None:
        sql = sql.replace("%", "%%")  # without parameters Django sends it as it is
    return _SAY.format("%s") + sql, (context_json, *(params or ()))


def _writes(sql: str) -> bool:
    head = sql.lstrip()[:120]
    return head[:6].upper().startswith(_WRITES) and not any(table in head for table in _NOT_COPIED)
