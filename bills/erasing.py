"""Erasing a customer masks the bill checks for the customer's numbers."""

from bills.models import BillCheck
from customers.services.leaving import forgets


@forgets
def forget_checks(numbers: frozenset[str]) -> None:
    """Mask number and name on the checks for these numbers, for everybody. A search for either no longer finds them."""
    BillCheck.objects.filter(destination__in=numbers).forget_number()
