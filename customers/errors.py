"""Why a number cannot be saved, or a customer not erased."""

from core.errors import Refused


class AlreadySaved(Refused):
    """The customer has this number already."""


class NumbersChanged(Refused):
    """The customer's numbers are not those that the erasing person has read."""


class MoneyOpen(Refused):
    """There is money between the customer and the shop."""
