"""Checks by the rules of the triggers whether a trigger was off at a change: compares each copy with the one before."""

import re
from collections.abc import Iterator
from typing import Any

import pgtrigger
from django.db import connection, transaction

from audit.flaws import Flaw
from audit.services.live import NAMED, histories

# `old` and `new`: the names in the condition of a trigger
_CHANGED = """
    SELECT new.pgh_obj_id FROM {copies} new JOIN LATERAL (
        SELECT * FROM {copies} one WHERE one.pgh_obj_id = new.pgh_obj_id AND one.pgh_id < new.pgh_id
         ORDER BY one.pgh_id DESC LIMIT 1
      ) old ON true
     WHERE new.txid >= {since} AND new.pgh_label = 'update' AND ({condition}) LIMIT {limit}
"""
# Each copy, and the one before it
_BETWEEN = """
    SELECT new.pgh_obj_id FROM {copies} new LEFT JOIN LATERAL (
        SELECT * FROM {copies} one WHERE one.pgh_obj_id = new.pgh_obj_id AND one.pgh_id < new.pgh_id
         ORDER BY one.pgh_id DESC LIMIT 1
      ) old ON true
     WHERE new.txid >= {since} AND new.pgh_label <> 'delete' AND ({condition}) LIMIT {limit}
"""
_DELETED = "SELECT pgh_obj_id FROM {copies} WHERE txid >= {since} AND pgh_label = 'delete' LIMIT {limit}"
_OTHER_BYTES = """
    SELECT {key} FROM {live} live
     WHERE {column} <> encode(sha256({of}), 'hex') AND NOT (length({of}) = 0 AND {gone} IS NOT NULL)
       AND ({since} = 0 OR {key} IN (SELECT pgh_obj_id FROM {copies} WHERE txid >= {since})) LIMIT {limit}
"""

# The columns that a trigger's condition names
_COLUMNS = re.compile(r'\b(?:OLD|NEW)\."?(\w+)"?', re.IGNORECASE)


def rule_flaws(*, since: int | None = None) -> list[Flaw]:
    """Changes among the copies that a trigger would have refused, and bytes that differ from their digest.

    `since`: only those of this transaction and later ones.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
        flaws = []
        for model in histories():
            for detail, statement in _questions(model, since or 0):
                cursor.execute(statement)
                table = model.pgh_tracked_model._meta.db_table
                flaws += [Flaw("rule_broken", table, number, detail) for (number,) in cursor.fetchall()]
        return flaws


def _questions(model: Any, since: int) -> Iterator[tuple[str, str]]:
    """The rules of one history: each rule's name, and SQL that finds the rows that broke it.

    A trigger whose condition needs a column that is not copied has no rule.
    """
    live = model.pgh_tracked_model
    names = {"copies": model._meta.db_table, "since": since, "limit": NAMED}
    for trigger in live._meta.triggers if hasattr(live._meta, "triggers") else ():
        if not isinstance(trigger, pgtrigger.Protect):
            continue
        if trigger.operation is pgtrigger.Delete and not trigger.condition:
            yield str(trigger.name), _DELETED.format(**names)
        elif trigger.operation is pgtrigger.Update:
            copied = {field.name: field.column for field in model._meta.concrete_fields}
            condition = _condition(trigger, live, set(copied))
            if condition and {column.lower() for column in _COLUMNS.findall(condition)} <= set(copied.values()):
                yield str(trigger.name), _CHANGED.format(**names, condition=condition)
    for rule, condition in getattr(live, "copy_rules", {}).items():
        yield rule, _BETWEEN.format(**names, condition=condition)
    for column, (of, gone) in getattr(live, "digests", {}).items():
        facts = {**names, "live": live._meta.db_table, "key": live._meta.pk.column}
        yield f"{of}, not as {column}", _OTHER_BYTES.format(**facts, column=column, of=of, gone=gone)


def _condition(trigger: pgtrigger.Trigger, live: Any, copied: set[str]) -> str:
    """The condition under which the trigger refuses a change, as SQL; without read-only columns that are not copied.

    Empty if none is copied.
    """
    if isinstance(trigger, pgtrigger.ReadOnly) and trigger.fields:
        fields = [name for name in trigger.fields if name in copied]
        return " OR ".join(
            f'old."{live._meta.get_field(name).column}" IS DISTINCT FROM new."{live._meta.get_field(name).column}"'
            for name in fields
        )
    condition: Any = trigger.get_condition(live)
    return str(condition.resolve(live)) if condition else "true"
