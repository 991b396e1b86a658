"""Erasing a customer empties the texts that were typed in batches for the customer's numbers."""

from batches.models import TEXTS, BatchRow
from customers.services.leaving import forgets
from purchases.models import Order


@forgets
def forget_texts(numbers: frozenset[str]) -> None:
    """Empty the texts of the rows that became an order for one of these numbers; the order masks its number."""
    sold = Order.objects.filter(destination__in=numbers, batch_row__isnull=False)
    BatchRow.objects.filter(order__in=list(sold.values_list("pk", flat=True))).update(**dict.fromkeys(TEXTS, ""))
