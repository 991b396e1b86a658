"""Compares live rows with their newest copy, and the triggers with those that we declare."""

from collections.abc import Iterator
from typing import Any

import pgtrigger
from django.apps import apps
from django.conf import settings
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from audit.flaws import Flaw
from audit.history import History
from audit.models import Sealing
from audit.services.guarding import is_way_past_triggers_closed
from audit.services.sources import audited_tables

# The most flaws that are named for each table and kind
NAMED = 5
_COMPARED = """
    SELECT live.{key}, newest.pgh_id IS NULL, {columns}
      FROM {live} live LEFT JOIN LATERAL (
        SELECT * FROM {copies} copy WHERE copy.pgh_obj_id = live.{key} ORDER BY copy.pgh_id DESC LIMIT 1
      ) newest ON true
     WHERE ({where}) AND {recorded} (newest.pgh_id IS NULL OR newest.pgh_label = 'delete' OR ({differs})) LIMIT {limit}
"""
_GONE = """
    SELECT copy.pgh_obj_id FROM {copies} copy
     WHERE copy.txid >= {since} AND copy.pgh_label <> 'delete'
       AND NOT EXISTS (SELECT FROM {live} live WHERE live.{key} = copy.pgh_obj_id)
       AND NOT EXISTS (SELECT FROM {copies} later WHERE later.pgh_obj_id = copy.pgh_obj_id
                        AND later.pgh_id > copy.pgh_id) LIMIT {limit}
"""
_NUMBERS = """
    (SELECT {key} FROM {table} WHERE txid {past} 0 LIMIT 1)
    UNION ALL
    (SELECT {key} FROM {table} WHERE txid IS NULL LIMIT 1)
    UNION ALL
    (SELECT {key} FROM {table} WHERE txid >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint
        + (SELECT transaction_number() - pg_current_xact_id()::text::bigint) LIMIT 1)
"""
_TRIGGERS = """
    SELECT tgrelid::regclass::text, tgname, tgenabled = 'O', tgqual IS NOT NULL, prosrc
      FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid WHERE tgname LIKE 'pgtrigger_%'
"""


def live_flaws(*, since: int | None = None) -> list[Flaw]:
    """Rows that differ from their newest copy. `since`: only rows that this transaction or a later one has written.

    Each table is read at one moment, so that a write meanwhile raises no alarm.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        made_up = settings.SANDBOX and Sealing.objects.filter(made_up=True).exists()
        return [flaw for model in histories() for flaw in _of_table(cursor, model, since or 0, made_up=made_up)]


def number_flaws() -> list[Flaw]:
    """Rows of no transaction, or of one that has not begun: they would never be sealed."""
    flaws = []
    made_up = settings.SANDBOX and Sealing.objects.filter(made_up=True).exists()
    for table in audited_tables():
        with connection.cursor() as cursor:
            cursor.execute(_NUMBERS.format(table=table.name, key=table.key, past="<" if made_up else "<="))
            flaws += [Flaw("not_sealed", table.name, number, "of no transaction") for (number,) in cursor.fetchall()]
    return flaws


def histories() -> list[Any]:
    """The models of all histories."""
    return [model for model in apps.get_models() if issubclass(model, History)]


def _of_table(cursor: CursorWrapper, model: Any, since: int, *, made_up: bool) -> Iterator[Flaw]:
    live = model.pgh_tracked_model
    stored = {field.name for field in live._meta.concrete_fields}
    columns = [field.column for field in model._meta.concrete_fields if field.name in stored]
    key, table = live._meta.pk.column, live._meta.db_table
    differs = [f'live."{column}" IS DISTINCT FROM newest."{column}"' for column in columns]
    names = {"live": table, "copies": model._meta.db_table, "key": key, "since": since, "limit": NAMED}
    lately = f"live.{key} IN (SELECT pgh_obj_id FROM {model._meta.db_table} WHERE txid >= {since})"  # noqa: S608
    cursor.execute(
        _COMPARED.format(
            **names,
            columns=", ".join(differs),
            differs=" OR ".join(differs),
            recorded="newest.pgh_id IS NOT NULL AND" if made_up else "",
            where=lately if since else "true",
        )
    )
    for number, is_unrecorded, *different in cursor.fetchall():
        wrong = ", ".join(column for column, is_wrong in zip(columns, different, strict=True) if is_wrong)
        yield Flaw("live_unrecorded", table, number) if is_unrecorded else Flaw("live_changed", table, number, wrong)
    cursor.execute(_GONE.format(**names))
    for (number,) in cursor.fetchall():
        yield Flaw("live_deleted", table, number)


def trigger_flaws() -> list[Flaw]:
    """Our triggers that are off, gone, or do something else, and the function that would let somebody pass them."""
    with connection.cursor() as cursor:
        cursor.execute(_TRIGGERS)
        there = {(table.strip('"'), name): facts for table, name, *facts in cursor.fetchall()}
    wanted = {
        (model._meta.db_table, trigger.get_pgid(model)): _facts(trigger, model)
        for model, trigger in pgtrigger.registered()
        if model._meta.managed
    }
    flaws = [] if is_way_past_triggers_closed() else [Flaw("triggers_ignorable")]
    for (table, name), facts in sorted(wanted.items()):
        is_on, has_condition, source = there.get((table, name), (None, False, ""))
        if is_on is None:
            flaws.append(Flaw("trigger_gone", table, name))
        elif not is_on:
            flaws.append(Flaw("trigger_off", table, name))
        elif facts != (has_condition, source.split()):
            flaws.append(Flaw("trigger_changed", table, name))
    return flaws


def _facts(trigger: pgtrigger.Trigger, model: Any) -> tuple[bool, list[str]]:
    """Whether the trigger has a condition, and the words of its function."""
    statement = trigger.compile(model).install_sql
    source = statement.split(f"FUNCTION {trigger.get_pgid(model)}()")[1].split("$$")[1]
    return bool(trigger.render_condition(model)), source.split()
