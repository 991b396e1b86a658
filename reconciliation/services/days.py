"""One day's effect on the balance, and how far the upstream's balance of that day is explained."""

import datetime as dt
from dataclasses import dataclass
from enum import StrEnum

from django.utils import timezone

from core.times import start_of_day
from core.together import read_together
from gateway.models import Exchange
from ledger.models import Proof
from ledger.services import DayClosing, Days, read_days
from reconciliation.models import Difference, ReconciliationRun
from reconciliation.services.reconciling import compared_reading

Result = ReconciliationRun.Result


class Standing(StrEnum):
    """The standing of a day: whether the upstream's balance agrees with our books, by the surest known fact."""

    BEFORE = "before"  # the books were not opened yet
    WRONG = "wrong"  # the books themselves have a flaw
    OPEN = "open"  # differences of this day are open
    EARLIER = "earlier"  # only differences of earlier days are open
    TOPUP = "topup"  # only top-ups are open
    DECIDED = "decided"  # the last comparison was unexplained, and nothing is open any more
    NOT_FITTING = "not_fitting"  # wrong for any outcome of the orders under way
    UNDER_WAY = "under_way"
    WAITING = "waiting"  # not compared yet
    EXPLAINED = "explained"

    @property
    def is_off(self) -> bool:
        """Whether money is missing, or too much, and nobody has decided about it."""
        return self in {self.WRONG, self.OPEN, self.EARLIER, self.TOPUP, self.NOT_FITTING}


@dataclass(frozen=True, kw_only=True)
class ProviderDay:
    """One day of the balance. Amounts in rupiah.

    `reported`: the last balance that the upstream reported by its end. `run`: the last comparison of the day.
    `differences`: the open ones that began by its end, newest first. `is_compared`: whether the balance was compared
    after its end.
    """

    closing: DayClosing
    first_day: dt.date
    is_before: bool
    is_running: bool
    reported: Exchange | None
    run: ReconciliationRun | None
    differences: list[Difference]
    is_compared: bool
    has_flaw: bool

    @property
    def standing(self) -> Standing:
        """The day's standing now. A difference counts until it is decided, also one of an earlier day."""
        if self.is_before:
            return Standing.BEFORE
        if self.has_flaw or not self.closing.adds_up:
            return Standing.WRONG
        if self.differences:
            return self._of_differences()
        was_off = self.run is not None and self.run.state in {Result.UNEXPLAINED, Result.TOPUP}
        if was_off:
            return Standing.DECIDED
        return Standing.EXPLAINED if self.is_compared else self._of_run()

    def _of_differences(self) -> Standing:
        if all(difference.label == Difference.Label.TOPUP for difference in self.differences):
            return Standing.TOPUP
        begin = start_of_day(self.closing.day)
        is_own = any(difference.to_at >= begin for difference in self.differences)
        return Standing.OPEN if is_own else Standing.EARLIER

    def _of_run(self) -> Standing:
        if self.run is None or self.run.state == Result.WAITING:
            return Standing.WAITING
        if self.run.state == Result.BALANCED:
            return Standing.EXPLAINED
        return Standing.UNDER_WAY if self.run.difference == 0 else Standing.NOT_FITTING


def provider_day(day: dt.date) -> ProviderDay:
    """The effect of this day (Asia/Jakarta) on the balance, and the findings of comparisons about it until now."""
    days: Days = read_days(day, day)
    begin, end = start_of_day(day), start_of_day(day + dt.timedelta(days=1))
    today, opened_at = timezone.localdate(), days.books.opened_at
    reported, runs, differences, compared, proofs = read_together(
        Exchange.objects.readings().filter(sent_at__lt=end).order_by("-sent_at", "-pk")[:1],
        ReconciliationRun.objects.filter(at__gte=begin, at__lt=end).order_by("-at", "-pk")[:1],
        Difference.objects.open().filter(from_at__lt=end).order_by("-pk"),
        compared_reading(),
        Proof.objects.filter(only=True),
    )
    return ProviderDay(
        closing=days.closings[0],
        first_day=days.first_day or today,
        # without an opening balance nothing can add up
        is_before=opened_at is None or day < timezone.localdate(opened_at),
        is_running=day == today,
        reported=reported[0] if reported else None,
        run=runs[0] if runs else None,
        differences=differences,
        is_compared=any(reading.sent_at >= end for reading in compared),
        has_flaw=any(proof.flaw for proof in proofs),
    )
