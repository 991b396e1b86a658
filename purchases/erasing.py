"""Orders for the numbers of a customer who is erased."""

from customers.services.leaving import forgets
from purchases.models import Order


@forgets
def forget_orders(numbers: frozenset[str]) -> None:
    """From now on nobody sees the number of these orders whole, and it finds none of them."""
    Order.objects.filter(destination__in=numbers).forget_number()
