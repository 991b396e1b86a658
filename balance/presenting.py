"""The account as the pages show it."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.utils.translation import gettext as _

from backoffice.money import rupiah
from balance.models import Adjustment, Books, Difference, ExpectedTopUp, Reading, ReconciliationRun
from balance.services import books, latest_reading, one_moment, open_differences_total, position


@dataclass(frozen=True)
class Funds:
    """What the account holds now, in rupiah; None where it is not known yet. Read once: all of a page is one moment.

    Before the books are opened, the balance is the one that the upstream told last.
    """

    books: Books
    reading: Reading | None
    found: int

    @classmethod
    def now(cls) -> Funds:
        """The funds as they are now."""
        with one_moment():
            return cls(books=books(), reading=latest_reading(), found=open_differences_total())

    @property
    def is_open(self) -> bool:
        """Whether the books are opened: from then on they know the balance themselves."""
        return self.books.opened_at is not None

    @property
    def balance(self) -> int | None:
        """What the upstream should hold now: the books' balance, and what was found beside them."""
        if self.is_open:
            return self.books.balance + self.found
        return self.reading.balance if self.reading else None

    @property
    def available(self) -> int | None:
        """What a new order may spend."""
        return None if self.balance is None else self.balance - self.books.held

    def after(self, price: int) -> int | None:
        """What is available once an order of `price` rupiah is placed."""
        return None if self.available is None else self.available - price

    def missing(self, price: int) -> int:
        """How many rupiah are short for an order of `price`; 0 when it is enough or not known."""
        return max(0, -(self.after(price) or 0))


@dataclass(frozen=True)
class ShownDifference:
    """A difference with what has been proposed about it."""

    difference: Difference
    adjustments: list[Adjustment]
    expected: ExpectedTopUp | None

    @property
    def proposed(self) -> Adjustment | None:
        """The adjustment that waits for a second person."""
        return next((adjustment for adjustment in self.adjustments if adjustment.decided_at is None), None)

    @property
    def ref_ids(self) -> list[str]:
        """The orders that may be behind it."""
        return [candidate["ref_id"] for candidate in self.difference.candidates]


def shown_differences(*pks: int) -> list[ShownDifference]:
    """These differences, or all open ones; newest first."""
    found = Difference.objects.filter(pk__in=pks) if pks else Difference.objects.open()
    rows = found.select_related(
        "acknowledged_by", "entry", "closed_with", "makes_good", "made_good_by", "expected__announced_by"
    ).prefetch_related("adjustments__proposed_by", "adjustments__approved_by", "adjustments__declined_by")
    return [
        ShownDifference(
            difference=difference,
            adjustments=list(difference.adjustments.all()),
            expected=getattr(difference, "expected", None),
        )
        for difference in rows[:50]
    ]


def told(run: ReconciliationRun) -> tuple[int, str]:
    """The result of a comparison that was just made: the level of its message, and a sentence."""
    match run.state:
        case ReconciliationRun.State.BALANCED:
            return messages.SUCCESS, _("Compared: every rupiah is explained.")
        case ReconciliationRun.State.PROVISIONAL:
            return _told_provisionally(run)
        case ReconciliationRun.State.TOPUP:
            return messages.SUCCESS, _("Compared: a top-up waits to be acknowledged.")
        case ReconciliationRun.State.UNEXPLAINED:
            return messages.WARNING, _("Compared: there is a difference that nobody has explained.")
    return messages.SUCCESS, _("Compared: it cannot be said yet; the balance has to be read first.")


def _told_provisionally(run: ReconciliationRun) -> tuple[int, str]:
    if position().moved_at:
        words = _("Compared: something moved the balance beside our orders; by how much is not known yet.")
        return messages.WARNING, words
    if run.difference:
        words = _("Compared: %(amount)s is not explained so far; the open orders are asked about first.")
        return messages.WARNING, words % {"amount": rupiah(run.difference)}
    return messages.SUCCESS, _("Compared: nothing is wrong so far; open orders are asked about first.")
