"""The reasons why a number cannot be saved, or a customer not erased."""

from core.errors import Refused


class AlreadySaved(Refused):
    """The customer has this number already."""


class NumbersChanged(Refused):
    """The customer's numbers have changed since the erasing person read them."""


class MoneyOpen(Refused):
    """The customer owes the shop, or the shop owes the customer."""


class SaleAgreed(Refused):
    """Something is still to be sold on the customer's tab."""
