"""Empties the texts that people typed in a batch some time after its end; its orders and their numbers stay."""

import datetime as dt
from contextlib import suppress

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from batches.errors import BatchRefused
from batches.models import TEXTS, Batch
from batches.services.releasing import cancel, lock_batch
from batches.states import BatchState, RowState
from core.numbers import masked
from policies.services import policies
from purchases.models import Order

log = structlog.get_logger()


def forget_old_texts() -> int:
    """Empty the texts of batches that ended at least `batch_texts_kept_days` ago; returns how many batches.

    The texts also stay for so many days after the end of the last order, and while money is to go back to the people
    that they name. A batch that nobody has released in these days from its making is cancelled. Nothing happens while
    the policy is empty.
    """
    days = policies().batch_texts_kept_days
    if days is None:
        return 0
    before = timezone.now() - dt.timedelta(days=days)
    for batch in Batch.objects.filter(state=BatchState.CHECKED, created_at__lt=before):
        with suppress(BatchRefused):  # somebody has cancelled it meanwhile, or released it
            cancel(batch, actor=None, is_released=False)
    needed = Order.objects.filter(Q(final_at=None) | Q(final_at__gte=before), batch_row__batch=OuterRef("pk"))
    never_released = Q(state=BatchState.CANCELLED, released_at=None, created_at__lt=before)
    old = Batch.objects.filter(
        Q(ended_at__lt=before) | never_released, ~Exists(needed), owes_back=False, texts_gone_at=None
    )
    keys = list(old.order_by("pk").values_list("pk", flat=True))
    for key in keys:
        _forget(key)
    log.info("batch_texts_forgotten", count=len(keys), before=before.isoformat())
    return len(keys)


def _forget(key: int) -> None:
    with transaction.atomic():
        batch = lock_batch(key)
        batch.rows.update(**dict.fromkeys(TEXTS, ""))
        never_sold = batch.rows.filter(order=None)
        never_sold.exclude(state=RowState.REFUSED).update(destination="")
        for row in never_sold.filter(state=RowState.REFUSED):  # such a row has a number: the database requires it
            row.destination = masked(row.destination)
            row.save(update_fields=["destination"])
        batch.texts_gone_at = timezone.now()
        batch.save(update_fields=["texts_gone_at"])
