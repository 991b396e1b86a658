"""Why a number cannot be saved."""

from core.errors import Refused


class AlreadySaved(Refused):
    """The customer has this number already."""
