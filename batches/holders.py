"""Finds the bills due that are in a batch and not paid yet."""

from collections import defaultdict
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from django.db.models import QuerySet
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
    keys: defaultdict[tuple[int | None, str], list[int]] = defaultdict(list)
    for bill in bills:  # two customers may have the same number
        keys[bill.number.product_id, bill.number.destination].append(bill.pk)
    destinations = {destination for _product, destination in keys}
    open_rows = BatchRow.objects.filter(TICKED | ASKING, batch__state__in=_WORDS)
    facts: QuerySet[Any, Any] = open_rows.values_list("product", "destination", "batch", "batch__state")
    # A union: for an "or" PostgreSQL would read every row of these batches.
    checked = facts.filter(bill_check__destination__in=destinations)
    found = checked.union(facts.filter(bill_check=None, destination__in=destinations))
    holding = {
        key: (batch, state)
        for product, destination, batch, state in sorted(found, key=itemgetter(2))
        for key in keys.get((product, destination), ())
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
