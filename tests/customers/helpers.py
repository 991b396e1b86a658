"""What several tests of customers need."""

from customers.models import Customer, SavedNumber


def make_customer(name="Bu Sari", *numbers, **facts) -> Customer:
    """A customer with numbers, each as (destination, product or kind)."""
    customer = Customer.objects.create(name=name, **facts)
    for destination, what in numbers:
        product = None if isinstance(what, str) else what
        kind = what if isinstance(what, str) else "phone" if what.type == "prepaid" else "customer"
        SavedNumber.objects.create(customer=customer, destination=destination, product=product, kind=kind)
    return customer
