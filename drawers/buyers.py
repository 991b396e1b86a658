"""Finds customers who have bought in a branch, by the payments."""

from django.db.models import Exists, OuterRef, Q

from customers.models import MergedCustomer
from customers.services.buyers import knows_buyers
from drawers.models import Payment


@knows_buyers
def bought_in(branch: int) -> Q:
    """The condition that a sale of this branch counts for a customer, or for a customer merged into this one.

    Customers who bought there only under a merged customer's key are read first: PostgreSQL uses an index from either
    side, customers or payments, but not for conditions joined by OR.
    """

    def has_bought(key: str) -> Exists:
        return Exists(Payment.objects.filter(branch=branch, buyer__isnull=False, buyer=OuterRef(key)))

    only_before = MergedCustomer.objects.filter(has_bought("gone"), ~has_bought("kept"))
    keys = list(only_before.values_list("kept", flat=True))
    return Q(has_bought("pk")) | Q(pk__in=keys) if keys else Q(has_bought("pk"))
