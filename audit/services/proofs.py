"""A proof for others that the rows of one order stand in a signed tree: docs/verify_proof.py reads it."""

import base64
from typing import Any

from django.apps import apps

from audit import merkle
from audit.models import Checkpoint
from audit.services.publishing import public_key
from audit.services.sources import AuditedTable, Key, audited_tables
from audit.services.tree import Tree, place_of


class NotSealed(Exception):
    """No row of the order is in a signed tree yet."""


def proof_of(ref_id: str) -> dict[str, Any]:
    """The proof of this order's rows: each row's content, its place, and the path to one signed root."""
    checkpoint = Checkpoint.objects.order_by("-size").first()
    if checkpoint is None:
        raise NotSealed
    tree = Tree()
    rows = [
        {"leaf": content.decode(), "place": place, "path": [part.hex() for part in path]}
        for key, content in _rows_of(ref_id)
        if (place := place_of(key)) is not None and place < checkpoint.size
        for path in [merkle.inclusion(place, checkpoint.size, tree.node)]
    ]
    if not rows:
        raise NotSealed
    note = checkpoint.note
    return {"subject": ref_id, "note": note, "public_key": base64.b64encode(public_key()).decode(), "rows": rows}


def _rows_of(ref_id: str) -> list[tuple[Key, bytes]]:
    """The audited rows of this order: found by `ref_id`, by `subject`, or by the order that a row belongs to."""
    rows: list[tuple[Key, bytes]] = []
    for table in audited_tables():
        if condition := _names_order(table):
            rows += table.rows(condition, [ref_id], limit=1_000)
    return sorted(rows)


def _names_order(table: AuditedTable) -> str:
    model = next(model for model in apps.get_models() if model._meta.db_table == table.name)
    columns: dict[str, Any] = {str(field.column): field for field in model._meta.concrete_fields}
    for name in ("ref_id", "subject"):
        if name in columns:
            return f"txid > 0 AND {name} = %s"
    for column, to in (("order_id", "order"), ("bill_check_id", "bill_check")):
        field = columns.get(column)
        if field is not None and field.name == to:
            target: Any = field.foreign_related_fields[0]
            owner, key = target.model._meta.db_table, target.column
            return f"txid > 0 AND {column} IN (SELECT {key} FROM {owner} WHERE ref_id = %s)"  # noqa: S608 - our names
    return ""
