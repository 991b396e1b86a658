"""The batches that still sell rows on a customer's tab."""

from collections.abc import Collection

from django.utils.translation import gettext as _

from batches.models import Batch
from customers.services.agreed import AgreedSales, register


def lock_batches(customers: Collection[int]) -> None:
    """Lock the batches of these customers that have not ended, in the order of their keys.

    A release locks its batch and then the customer. That batch names no customer yet, so nobody waits for it here.
    """
    unfinished = Batch.objects.filter(customer__in=customers, ended_at=None)
    list(unfinished.order_by("pk").select_for_update().values_list("pk"))


def move_batches(gone: int, kept: int) -> None:
    """Let the batches of `gone` sell to `kept`; those that have ended name `kept`, too."""
    Batch.objects.filter(customer=gone).update(customer=kept)


def name_first(customer: int) -> str:
    """The first batch of this customer that has not ended; "" without one."""
    batch = Batch.objects.filter(customer=customer, ended_at=None).order_by("pk").first()
    return _("batch %(number)s") % {"number": batch.pk} if batch else ""


register(AgreedSales(lock=lock_batches, move=move_batches, name_first=name_first))
