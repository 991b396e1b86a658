"""The audited tables: each with a column `txid`, the transaction that wrote the row."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from django.apps import apps
from django.db import connection, models

from audit.models import Source

_KEY = struct.Struct(">qHq")
KEY_SIZE = _KEY.size
# Made once, not for each row
_READ = json.JSONDecoder().raw_decode
_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


class Key(NamedTuple):
    """The place of a row in the order in which rows are sealed."""

    txid: int
    source: int
    row: int

    def packed(self) -> bytes:
        """The key as bytes, which sort like the numbers."""
        return _KEY.pack(*self)

    @classmethod
    def unpacked(cls, packed: bytes) -> Key:
        """The key of these bytes; without bytes, a key below all others."""
        return cls(*_KEY.unpack(packed)) if packed else cls(0, 0, 0)

    @classmethod
    def unpacked_all(cls, packed: bytes) -> list[Key]:
        """The keys of these bytes, one after another."""
        return [cls(*facts) for facts in _KEY.iter_unpack(packed)]


@dataclass(frozen=True)
class AuditedTable:
    """A table whose rows are sealed. `number` stands for it in keys; `key` is its key, as SQL of a bigint."""

    number: int
    name: str
    key: str

    def rows(self, condition: str, parameters: list[Any], *, limit: int) -> Iterator[tuple[Key, bytes]]:
        """Rows in the order of their keys, each with its leaf's content. Times are in UTC, as each connection is."""
        statement = (
            f"SELECT txid, {self.key}, to_jsonb(t)::text FROM {self.name} t WHERE {condition}"  # noqa: S608 - our names
            f" ORDER BY txid, {self._column} LIMIT {limit}"
        )
        with connection.cursor() as cursor:
            cursor.execute(statement, parameters)
            for txid, row, content in cursor.fetchall():
                yield Key(txid, self.number, row), self.leaf(row, content)

    def after(self, key: Key, bound: int, *, limit: int) -> Iterator[tuple[Key, bytes]]:
        """The next rows beyond `key` of transactions below `bound`."""
        return self.rows(self._beyond(key, bound), [], limit=limit)

    def has_rows(self, key: Key, bound: int) -> str:
        """SQL that says whether there are such rows."""
        return f"EXISTS (SELECT FROM {self.name} WHERE {self._beyond(key, bound)})"

    @property
    def _column(self) -> str:
        return self.key.partition("-")[0]

    def _beyond(self, key: Key, bound: int) -> str:
        if self.number == key.source:
            value = f"date '2000-01-01' + {key.row}" if self._column != self.key else str(key.row)
            return f"(txid, {self._column}) > ({key.txid}, {value}) AND txid < {bound}"
        sign = ">" if self.number < key.source else ">="
        return f"txid {sign} {key.txid} AND txid > 0 AND txid < {bound}"

    def leaf(self, row: int, content: str) -> bytes:
        """Canonical JSON: keys in order, no spaces. Empty columns are left out, so that a table can get a new one."""
        columns = {name: value for name, value in _READ(content)[0].items() if value is not None}
        facts = {"id": row, "row": columns, "table": self.name}
        return _CANONICAL(facts).encode()


def audited_tables() -> list[AuditedTable]:
    """All audited tables, by number. A new one gets the next number, also if several processes find it at once."""
    known = dict(Source.objects.values_list("table", "number"))
    for name in sorted(_keys().keys() - known.keys()):
        known[name] = Source.objects.get_or_create(table=name)[0].number
    return sorted(
        (AuditedTable(known[name], name, key) for name, key in _keys().items()), key=lambda audited: audited.number
    )


@cache
def _keys() -> dict[str, str]:
    """The tables, each with its key as a bigint."""
    keys = {}
    for model in apps.get_models():
        if any(field.name == "txid" for field in model._meta.fields) and not model._meta.proxy:
            key = model._meta.pk
            is_day = isinstance(key, models.DateField)
            keys[model._meta.db_table] = f"{key.column}-date '2000-01-01'" if is_day else str(key.column)
    return keys
