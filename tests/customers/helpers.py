"""Helpers of several tests of customers."""

from typing import Any

from customers.models import Customer, SavedNumber
from tests.core.helpers import has_id


def refused(answer: Any, field: str) -> list[str]:
    """The codes of what a form's page says beside this field."""
    faults = answer.context["form"].errors.as_data().get(field, [])
    assert has_id(answer, f"id_{field}_error") == bool(faults)
    return [fault.code for fault in faults]


def make_customer(name="Bu Sari", *numbers, **facts) -> Customer:
    """A customer with numbers, each as (destination, product or kind)."""
    customer = Customer.objects.create(name=name, **facts)
    for destination, what in numbers:
        product = None if isinstance(what, str) else what
        kind = what if isinstance(what, str) else "phone" if what.type == "prepaid" else "customer"
        SavedNumber.objects.create(customer=customer, destination=destination, product=product, kind=kind)
    return customer
