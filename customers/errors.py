"""Why a number cannot be saved, or a customer not erased."""

from core.errors import Refused


class AlreadySaved(Refused):
    """The customer has this number already."""


class MoneyOpen(Refused):
    """There is money between the customer and the shop."""
