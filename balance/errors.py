"""Why something cannot be done with the books; each says so in words for people."""

from __future__ import annotations

from django.utils.translation import gettext as _

from backoffice.money import rupiah


class NotPossible(Exception):
    """Nothing was changed; the text says why."""


class NotEnough(Exception):
    """The amount is above what is available (both in rupiah); nothing was posted."""

    def __init__(self, *, amount: int, available: int) -> None:
        self.amount, self.available = amount, available
        super().__init__(
            _("%(amount)s is more than the %(available)s that are available.")
            % {"amount": rupiah(amount), "available": rupiah(available)}
        )
