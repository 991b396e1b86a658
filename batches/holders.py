"""Finds the bills due that are in a batch and not paid yet."""

from collections.abc import Sequence

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from batches.models import ASKING, TICKED, BatchRow
from batches.presenting import visible_batches
from batches.states import BatchState
from dues.holders import Holder, holds
from dues.models import DueBill
from staff.models import User

#: The states of a batch that may still pay, and what each means for the bill.
_WORDS = {
    BatchState.CHECKED: _("In batch %(number)s, not released"),
    BatchState.RUNNING: _("In batch %(number)s, about to be paid"),
    BatchState.PAUSED: _("In batch %(number)s, paused"),
}


@holds
def in_batches(bills: Sequence[DueBill], person: User) -> dict[int, Holder]:
    """For each bill, the newest open batch in which it is ticked or still being checked."""
    keys = {(bill.number.product_id, bill.number.destination): bill.pk for bill in bills}
    rows = BatchRow.objects.filter(
        TICKED | ASKING,
        batch__state__in=_WORDS,
        bill_check__destination__in=[destination for _product, destination in keys],
    )
    found = rows.order_by("batch").values_list("product", "destination", "batch", "batch__state")
    holding = {
        keys[product, destination]: (batch, state)
        for product, destination, batch, state in found
        if (product, destination) in keys
    }
    if not holding:
        return {}
    seen = set(
        visible_batches(person)
        .filter(pk__in={batch for batch, _state in holding.values()})
        .values_list("pk", flat=True)
    )
    return {
        key: Holder(
            words=str(_WORDS[BatchState(state)]) % {"number": batch},
            url=reverse("batch_detail", args=[batch]) if batch in seen else "",
            is_released=state != BatchState.CHECKED,
        )
        for key, (batch, state) in holding.items()
    }
