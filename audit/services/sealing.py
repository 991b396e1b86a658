"""Seals rows after their commit: settled ones go into the tree, in one order that nobody can change afterwards.

A row is settled when every transaction that began to write before or with its own has ended: nothing can appear
before it any more. So writers wait for nobody, and no gap is ever left behind.
"""

import base64
import datetime as dt
import heapq
from collections.abc import Iterator
from itertools import islice, takewhile
from operator import itemgetter

from django.db import connection, transaction
from django.db.models import Subquery

from audit.merkle import leaf_hash
from audit.models import Checkpoint, Sealing
from audit.services.publishing import ORIGIN, signed_note
from audit.services.sources import AuditedTable, Key, audited_tables
from audit.services.tree import Tree, append
from core import clock

# How many rows the sealer takes in one transaction, and from one table at a time
AT_ONCE = 20_000
_OF_ONE_TABLE = 2_000
_CHECKPOINT_EVERY = dt.timedelta(minutes=1)
# In a quiet shop one full search a minute is enough: only a full search notices a restored database
_LOOKS_EVERY = dt.timedelta(minutes=1)
_NO_BOUND = 2**62
# Rows below this number are settled; `transaction_number()` adds the count that a restored database lacks.
_SETTLED = """
    SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint
         + transaction_number() - pg_current_xact_id()::text::bigint
"""


class Restored(Exception):
    """The database counts transactions from an earlier number on: it was restored from a dump."""


def seal() -> int:
    """Seal the settled rows; return how many: `AT_ONCE` if more may be left.

    0 also when somebody else seals. Raises `Restored`.
    """
    if _rests():
        return 0
    with transaction.atomic():
        state = _lock()
        if state is None:
            return 0
        last, bound = Key.unpacked(bytes.fromhex(state.key)), _settled()
        if bound <= last.txid:
            raise Restored
        rows = list(islice(_in_order(last, bound), AT_ONCE))
        if rows:
            state.size = append(state.size, ((key, leaf_hash(content)) for key, content in rows))
            state.key = rows[-1][0].packed().hex()
        if len(rows) < AT_ONCE:
            state.sealed_at = clock.now()
        state.save(update_fields=["size", "key", "sealed_at"])
        _keep_checkpoint(state)
        return len(rows)


def is_restored() -> bool:
    """Whether transactions count from an earlier number than the last sealed one: a dump without `restart_audit`.

    False in a database without our tables.
    """
    if Sealing._meta.db_table not in connection.introspection.table_names():
        return False
    state = Sealing.objects.only("key").first()
    if state is None:
        return False
    with connection.cursor() as cursor:
        cursor.execute("SELECT transaction_number()")
        return bool(cursor.fetchone()[0] <= Key.unpacked(bytes.fromhex(state.key)).txid)


def rows_in_order(after: Key, last: Key) -> Iterator[tuple[Key, bytes]]:
    """The rows after one key up to another, each with its leaf's content, in the order of sealing."""
    return takewhile(lambda row: row[0] <= last, _in_order(after, last.txid + 1))


def _rests() -> bool:
    """Whether nothing is to be sealed or signed, by three statements without a lock; False if that is not certain."""
    signed = Checkpoint.objects.order_by("-size").values("size")[:1]
    state = Sealing.objects.annotate(signed=Subquery(signed)).first()
    if state is None or state.sealed_at is None or state.signed != state.size:
        return False
    if abs(clock.now() - state.sealed_at) >= _LOOKS_EVERY:
        return False
    return not _with_rows(Key.unpacked(bytes.fromhex(state.key)), _NO_BOUND)


def _lock() -> Sealing | None:
    row = Sealing.objects.select_for_update(skip_locked=True)
    if (state := row.first()) is None and not Sealing.objects.exists():
        Sealing.objects.bulk_create([Sealing()], ignore_conflicts=True)
        state = row.first()
    return state


def _settled() -> int:
    with connection.cursor() as cursor:
        cursor.execute(_SETTLED)
        return int(cursor.fetchone()[0])


def _in_order(last: Key, bound: int) -> Iterator[tuple[Key, bytes]]:
    """Rows of all tables beyond `last`, merged by their keys."""
    return heapq.merge(*(_of_table(table, last, bound) for table in _with_rows(last, bound)), key=itemgetter(0))


def _with_rows(last: Key, bound: int) -> list[AuditedTable]:
    """The tables with such rows, found by one statement; in a quiet shop it is the only one."""
    tables = audited_tables()
    asked = [f"SELECT {table.number} WHERE {table.has_rows(last, bound)}" for table in tables]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join(asked))
        numbers = {number for (number,) in cursor.fetchall()}
    return [table for table in tables if table.number in numbers]


def _of_table(table: AuditedTable, last: Key, bound: int) -> Iterator[tuple[Key, bytes]]:
    while True:
        rows = list(table.after(last, bound, limit=_OF_ONE_TABLE))
        yield from rows
        if len(rows) < _OF_ONE_TABLE:
            return
        last = rows[-1][0]


def _keep_checkpoint(state: Sealing) -> None:
    """Sign a checkpoint each minute, if the tree has grown."""
    latest, now = Checkpoint.objects.order_by("-size").first(), clock.now()
    if state.size == (latest.size if latest else 0) or (latest and abs(now - latest.at) < _CHECKPOINT_EVERY):
        return
    root = Tree().root(state.size)
    text = f"{ORIGIN}\n{state.size}\n{base64.b64encode(root).decode()}\n{now.isoformat(timespec='seconds')}\n"
    Checkpoint.objects.create(size=state.size, root=root, at=now, note=signed_note(text))
