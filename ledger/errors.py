"""The reasons why something cannot be done with the books."""

from django.utils.translation import gettext as _

from core.errors import Refused
from core.money import rupiah


class NotEnough(Refused):
    """The amount is above what is available (both in rupiah); nothing was posted."""

    def __init__(self, *, amount: int, available: int) -> None:
        self.amount, self.available = amount, available
        super().__init__(
            _("%(amount)s is more than the %(available)s that are available.")
            % {"amount": rupiah(amount), "available": rupiah(available)}
        )
