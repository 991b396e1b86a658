"""Helpers for several tests of customers."""

import re
from typing import Any

from customers.models import Customer, SavedNumber
from customers.services import seal_of_numbers
from tests.core.helpers import has_id

# The texts of an erased customer; the name is in the SN of a token, or comes from the biller.
NUMBER, METER = "081277770001", "14512345678"
TOKEN = "12345678901234567890/BUDI SANTOSO/R1/1300VA/32,5"


def refused(answer: Any, field: str) -> list[str]:
    """The codes of the faults beside this field on a form's page."""
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


def erase(browser: Any, customer: Customer) -> Any:
    """Delete the customer in this browser; returns the answer."""
    return browser.post(f"/customers/{customer.pk}/delete/", {"seal": seal_of_numbers(customer.pk)})


def text_of(browser: Any, address: str) -> str:
    """The text of the page or file at this address."""
    answer = browser.get(address, headers={"HX-Request": "true"} if "panel" in address else {})
    assert answer.status_code == 200, address
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return content.decode()


def says(text: str) -> list[str]:
    """The whole texts of the customer that are in this text, in any notation."""
    plain = re.sub(r"(?<=\d)[ \-](?=\d)", "", text)
    return [whole for whole in (NUMBER, METER, "BUDI SANTOSO", "SITI AMINAH") if whole in plain]
