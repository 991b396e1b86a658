"""What was typed in batches for the numbers of a customer who is erased."""

from batches.models import TEXTS, BatchRow
from customers.services.leaving import forgets
from purchases.models import Order


@forgets
def forget_texts(numbers: frozenset[str]) -> None:
    """Of the rows that became an order for one of these numbers the texts go at once; the order masks its number."""
    sold = Order.objects.filter(destination__in=numbers, batch_row__isnull=False)
    BatchRow.objects.filter(order__in=list(sold.values_list("pk", flat=True))).update(**dict.fromkeys(TEXTS, ""))
