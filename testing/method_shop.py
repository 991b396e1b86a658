"""Runs the made-up world through the method alone: a shop's facts as numbers, and a comparison each minute."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from reconciliation.explaining import Difference, Explained
from reconciliation.quiet import Entry, Judgement, Known, Order, Progress, Reading, judge
from testing.world import Happening, World

MICRO = 1_000_000


def number(seconds: float) -> int:
    """The sequence's number at that time."""
    return round(seconds * MICRO)


class MethodShop:
    """Keeps the facts that the shop knows, as the services do."""

    def __init__(self) -> None:
        self.orders: dict[str, Order] = {}
        self.readings: list[Reading] = []
        self.entries: list[Entry] = []
        self.posted: set[tuple[str, int]] = set()
        self.progress: Progress | None = None
        self.differences: list[Difference] = []
        self.explained = 0
        self.quiet = 0

    def live(self, world: World) -> MethodShop:
        """Live through the whole world."""
        for what in world.happenings():
            self.see(what)
        return self

    def see(self, what: Happening) -> None:
        """Take in one happening, or compare."""
        at, asked = number(what.at), number(what.asked)
        match what.kind:
            case "sent":
                self.orders[what.ref_id] = Order(ref_id=what.ref_id, sent_no=at, next_change=-what.price, is_open=True)
            case "answered":
                self.readings.append(Reading(no=asked, answered_no=at, balance=what.balance, ref_id=what.ref_id))
                self.report(what)
            case "checked" | "called_back":
                if what.kind == "checked" and what.says == "pending":
                    self.change(what.ref_id, pending_no=asked)
                self.report(what)
            case "never_arrived":
                self.change(what.ref_id, is_open=False)
            case "closed":
                self.change(what.ref_id, is_open=False, next_change=0)
            case "read":
                self.read(Reading(no=asked, answered_no=at, balance=what.balance))
            case "reconcile":
                self.reconcile()

    def report(self, what: Happening) -> None:
        """The upstream reports the state of an order; post the entries for it."""
        self.post(what.ref_id, -what.price, number(what.at) + 1)
        if what.says == "pending":
            self.change(what.ref_id, next_change=what.price)
            return
        self.change(what.ref_id, is_open=False, next_change=0)
        if what.says == "failed":
            self.post(what.ref_id, what.price, number(what.at) + 2)

    def post(self, ref_id: str, change: int, no: int) -> None:
        """Post an entry, once."""
        if (ref_id, change) not in self.posted:
            self.posted.add((ref_id, change))
            self.entries.append(Entry(no=no, ref_id=ref_id, change=change))

    def change(self, ref_id: str, **facts: Any) -> None:
        """Change what the shop knows of an order."""
        self.orders[ref_id] = replace(self.orders[ref_id], **facts)

    def read(self, reading: Reading) -> None:
        """A balance request; the first opens the books."""
        if self.progress is None:
            self.progress = Progress(quiet=reading, booked=reading.balance)
        else:
            self.readings.append(reading)

    def reconcile(self) -> Judgement:
        """Compare what can be compared, and forget what is settled."""
        assert self.progress is not None
        judgement = judge(self.progress, self.readings, self.known(), self.differences)
        self.keep(judgement)
        return judgement

    def known(self) -> Known:
        """The entries since the last quiet reading, their orders, and those that are open."""
        assert self.progress is not None
        entries = [entry for entry in self.entries if entry.no >= self.progress.quiet.no]
        named = {entry.ref_id for entry in entries}
        return Known(entries, [order for order in self.orders.values() if order.next_change or order.ref_id in named])

    def keep(self, judgement: Judgement) -> None:
        """Keep a run's result, and drop the readings and entries that the next run does not need."""
        self.progress = judgement.progress
        self.quiet += judgement.quiet
        self.explained += sum(isinstance(event, Explained) for event in judgement.events)
        self.differences = judgement.differences
        self.readings = [reading for reading in self.readings if reading.answered_no > self.progress.judged_no]
        self.entries = [entry for entry in self.entries if entry.no >= self.progress.quiet.no]
