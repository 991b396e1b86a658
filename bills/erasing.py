"""Bill checks of the numbers of a customer who is erased."""

from bills.models import BillCheck
from customers.services.leaving import forgets


@forgets
def forget_checks(numbers: frozenset[str]) -> None:
    """From now on nobody sees number and name of these bills, and neither finds them."""
    BillCheck.objects.filter(destination__in=numbers).forget_number()
