"""Erasing a customer masks the orders for the customer's numbers."""

from customers.services.leaving import forgets
from purchases.models import Order


@forgets
def forget_orders(numbers: frozenset[str]) -> None:
    """Mask these numbers on all their orders, for everybody. A search for the number no longer finds the orders."""
    Order.objects.filter(destination__in=numbers).forget_number()
