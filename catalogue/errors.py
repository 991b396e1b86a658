"""Why a destination is refused, and why the catalogue was not fetched."""

import datetime as dt

from catalogue.models import SyncFault
from core.errors import Refused


class InvalidDestination(Refused):
    """The number cannot be right for this kind of product; the text says what is expected."""


class CatalogueFault(Exception):
    """The catalogue could not be fetched or made no sense; the last good one is still in place.

    `detail`: more about it, as the upstream or the database says it. `not_before`: when the rate limits allow it again.
    """

    def __init__(self, code: SyncFault, detail: str = "", *, not_before: dt.datetime | None = None) -> None:
        self.code, self.detail, self.not_before = code, detail, not_before
        super().__init__(code, detail)

    def __str__(self) -> str:
        return f"{self.code.label} {self.detail}".rstrip()
