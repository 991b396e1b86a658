"""The history of a table: a copy of each row after every insert and update, and before a delete, made by triggers.

Changes by raw SQL are copied, too. The copy says who made the change (`audit.context`).
"""

import re
from collections.abc import Sequence
from typing import Any

import pghistory
import pgtrigger
from django.db import models
from pghistory.models import Event

from core.transactions import TRANSACTION_NUMBER
from core.triggers import append_only

# Copies come from the table's own triggers, at a depth of 1 or more; a statement that a person types has depth 0.
_ONLY_COPIES = pgtrigger.Protect(
    name="only_copies", operation=pgtrigger.Insert, condition=pgtrigger.Condition("pg_trigger_depth() = 0")
)


class History(Event):
    """A copy of a row, with the time, the transaction and the person of the change."""

    pgh_id = models.BigAutoField(primary_key=True)
    pgh_created_at = models.DateTimeField()
    pgh_label = models.CharField(max_length=6, help_text="insert, update or delete.")
    txid = models.BigIntegerField(db_default=TRANSACTION_NUMBER, editable=False)

    class Meta:
        abstract = True


def history_of(
    model: type[models.Model],
    *,
    room: str = "",
    exclude: Sequence[str] = (),
    more: dict[str, Any] | None = None,
) -> Any:
    """The model of `model`'s history, e.g. `OrderHistory`, in the model's room, or in `room` for a proxy.

    `exclude`: columns that say nothing about money or people, or are secret. `more`: copies of columns that
    the database generates.
    """
    name = f"{model.__name__}History"
    begin = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return pghistory.create_event_model(
        model,
        pghistory.InsertEvent(trigger_name="history_insert"),
        pghistory.UpdateEvent(trigger_name="history_update"),
        pghistory.DeleteEvent(trigger_name="history_delete"),
        exclude=list(exclude),
        base_model=History,
        context_field=pghistory.ContextJSONField(),
        context_id_field=None,  # type: ignore[arg-type] # so its documentation
        model_name=name,
        app_label=room or model._meta.app_label,
        attrs=more,
        abstract=False,
        obj_field=pghistory.ObjForeignKey(related_name="history", db_index=False),
        meta={
            "default_permissions": (),
            "indexes": [
                models.Index(fields=["txid", "pgh_id"], name=f"{begin}_seal"),
                models.Index(fields=["pgh_obj", "-pgh_id"], name=f"{begin}_row"),
            ],
            "triggers": [*append_only(), _ONLY_COPIES],
        },
    )
