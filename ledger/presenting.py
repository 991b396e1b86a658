"""The account as the pages show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _, ngettext

from core.together import read_together
from gateway.models import Exchange
from ledger.models import Books

# From this many hours on, a time is given in days.
_LONG = 48


@dataclass(frozen=True)
class Funds:
    """The account's money now, in rupiah; None for an unknown amount. Read once, so that a page shows one moment.

    Before the opening of the books, the balance is the last one that the upstream reported.
    """

    books: Books
    reading: Exchange | None

    @classmethod
    def now(cls) -> Funds:
        """The funds as they are now."""
        return cls.of(*read_together(*cls.questions()))

    @staticmethod
    def questions() -> list[QuerySet[Any]]:
        """The queries for the funds; `of` takes their answers."""
        return [Books.objects.filter(only=True), Exchange.objects.readings()[:1]]

    @classmethod
    def of(cls, books: list[Books], readings: list[Exchange]) -> Funds:
        """The funds, from the answers to `questions`."""
        return cls(books=books[0] if books else Books(), reading=readings[0] if readings else None)

    @property
    def is_open(self) -> bool:
        """Whether the books are open: then they know the balance themselves."""
        return self.books.opened_at is not None

    @property
    def balance(self) -> int | None:
        """The money that the upstream should hold now: the books' balance and the open differences."""
        if self.is_open:
            return self.books.balance + self.books.found
        return self.reading.balance if self.reading else None

    @property
    def available(self) -> int | None:
        """The rupiah that a new order may spend."""
        return None if self.balance is None else self.balance - self.books.reserved

    def after(self, price: int) -> int | None:
        """The available rupiah once an order of `price` rupiah is placed."""
        return None if self.available is None else self.available - price

    def missing(self, price: int) -> int:
        """The missing rupiah for an order of `price`; 0 when the money is enough or not known."""
        return max(0, -(self.after(price) or 0))


def lasts_words(available: int | None, per_hour: int | None) -> str:
    """The words for how long `available` rupiah last at `per_hour` rupiah an hour; empty if either is not known."""
    if available is None or not per_hour:
        return ""
    hours = max(0, available // per_hour)
    if hours < _LONG:
        return ngettext("about %(n)s hour", "about %(n)s hours", hours) % {"n": hours}
    return _("about %(n)s days") % {"n": hours // 24}
