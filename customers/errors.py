"""Why a number cannot be saved, or a customer not erased."""

from core.errors import Refused


class AlreadySaved(Refused):
    """The customer has this number already."""


class NumbersChanged(Refused):
    """The customer has other numbers than the person has read who erases."""


class MoneyOpen(Refused):
    """There is money between the customer and the shop."""
