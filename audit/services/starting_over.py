"""Sealing from the first row again, where the sandbox's made-up past has changed one that was sealed."""

from __future__ import annotations

from django.conf import settings
from django.db import connection

from audit.models import Checkpoint, Sealing, Tile


def seal_again() -> None:
    """Forget tree and checkpoints, as the owner of the tables; the sealer begins again. In the caller's transaction.

    Anywhere but in the sandbox this is what the audit is there to find: then it raises `RuntimeError`.
    """
    if not settings.SANDBOX:
        raise RuntimeError("Seals are forgotten in the sandbox only.")
    if (state := Sealing.objects.select_for_update().first()) is None:
        return
    with connection.cursor() as cursor:
        for model in (Tile, Checkpoint):
            table = model._meta.db_table
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
            cursor.execute(f"DELETE FROM {table}")  # noqa: S608 - our own names
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
    state.size, state.published, state.key, state.flaw = 0, 0, "", None
    state.save(update_fields=["size", "published", "key", "flaw"])
