"""A shop, its upstream and other people on the same account, made up from a seed: their events in the order of time.

The world knows when everything really took place. It hands out only the things that a shop sees: answers, callbacks,
status checks and balances, some late, some lost.
"""

import math
import random
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

OPENING = 5_000_000_000
PRICES = (1_500, 5_125, 10_150, 10_975, 20_300, 25_250, 50_075, 99_900, 100_500)
# As large as a price, very small, round: amounts that are hard to find, and likely ones.
OUTSIDE = (1_000_000, 500_000, -1, 1, -25, -5_125, -50_075, -1, -10_150)
NEVER = math.inf

Kind = Literal["sent", "answered", "lost", "checked", "called_back", "never_arrived", "closed", "read", "reconcile"]
Says = Literal["pending", "success", "failed", "nothing"]


@dataclass(frozen=True, kw_only=True)
class Happening:
    """An event of the shop at `at` (seconds from the start); `asked`: when the request of an answer left."""

    at: float
    kind: Kind
    ref_id: str = ""
    price: int = 0
    asked: float = 0.0
    says: Says = "nothing"
    balance: int = 0


@dataclass
class _Order:
    ref_id: str
    price: int
    sent: float
    answered: float = NEVER
    charged: float = NEVER
    ended: float = NEVER
    has_failed: bool = False
    is_hidden: bool = False

    def says(self, at: float) -> Says:
        if at < self.charged:
            return "nothing"
        return "pending" if at < self.ended else "failed" if self.has_failed else "success"


class World:
    """`hours` of business at `rate` orders a second. 1 % of the answers are lost, half of those with the order.

    `outage`: for 100 s a third of the answers is lost, no callback comes, and nine of ten orders fail together later.
    `hidden`: half of the orders that seem never to have arrived were charged, which the shop learns later.
    `outside`: other people's changes of the balance, (seconds, rupiah), none in the last quarter of an hour.
    """

    def __init__(
        self,
        seed: int,
        *,
        hours: float,
        rate: float,
        outage: bool = False,
        hidden: bool = False,
        outside_every: float = 400.0,
    ) -> None:
        self.seed, self.hours, self.rate = seed, hours, rate
        self.end = hours * 3600
        self._has_hidden = hidden
        self._dice = random.Random(seed)
        self._outage = (self.end * 0.3, self.end * 0.3 + 100) if outage else (NEVER, NEVER)
        self._orders = list(self._make_orders())
        self.outside = list(self._make_outside(outside_every))
        moves = [(at, amount) for at, amount in self.outside]
        moves += [(order.charged, -order.price) for order in self._orders if order.charged < NEVER]
        moves += [(order.ended, order.price) for order in self._orders if order.has_failed]
        moves.sort()
        self._times = [at for at, _ in moves]
        self._balances = [OPENING]
        for _, amount in moves:
            self._balances.append(self._balances[-1] + amount)

    def __str__(self) -> str:
        outage = ", with an outage" if self._outage[0] < NEVER else ""
        hidden = ", with hidden orders" if self._has_hidden else ""
        return f"seed {self.seed}, {self.hours} h at {self.rate}/s{outage}{hidden}"

    @property
    def closing(self) -> int:
        """The account's balance (rupiah) when all is over."""
        return self._balances[-1]

    def happenings(self) -> list[Happening]:
        """All that the shop sees and does, oldest first."""
        all_happenings = [happening for order in self._orders for happening in self._seen_of(order)]
        all_happenings += self._rhythm()
        return sorted(all_happenings, key=lambda happening: happening.at)

    def _make_orders(self) -> Iterator[_Order]:
        dice, at, number = self._dice, 5.0, 0
        while (at := at + dice.expovariate(self.rate)) < self.end - 900:
            number += 1
            order = _Order(f"W{self.seed}-{number}", dice.choice(PRICES) + 25 * dice.randrange(3), at)
            in_outage = self._is_outage(at)
            latency = dice.lognormvariate(math.log(0.2), 0.5)
            is_lost = dice.random() < (0.3 if in_outage else 0.01)
            if not is_lost:
                order.answered = at + latency
            is_silent = is_lost and dice.random() >= 0.5
            order.is_hidden = is_silent and self._has_hidden and dice.random() < 0.5
            if not is_silent or order.is_hidden:
                order.charged = at + dice.random() * latency
                order.ended = order.charged + 2 + dice.expovariate(1 / 40)
                order.has_failed = dice.random() < (0.9 if in_outage else 0.06)
                if in_outage:
                    order.ended = self._outage[1] + 50 + 2 * dice.random()
            yield order

    def _make_outside(self, every: float) -> Iterator[tuple[float, int]]:
        at = 10.0
        while (at := at + self._dice.expovariate(1 / every)) < self.end - 900:
            yield at, self._dice.choice(OUTSIDE)

    def _is_outage(self, at: float) -> bool:
        return self._outage[0] <= at < self._outage[1]

    def _balance_at(self, at: float) -> int:
        return self._balances[bisect_right(self._times, at)]

    def _seen_of(self, order: _Order) -> Iterator[Happening]:
        dice, ref_id, price = self._dice, order.ref_id, order.price
        yield Happening(at=order.sent, kind="sent", ref_id=ref_id, price=price)
        if order.answered < NEVER:
            yield Happening(
                at=order.answered,
                kind="answered",
                ref_id=ref_id,
                price=price,
                asked=order.sent,
                says=order.says(order.charged),
                balance=self._balance_at(order.charged),
            )
        else:
            yield Happening(at=order.sent + 30, kind="lost", ref_id=ref_id)
        if order.charged == NEVER or order.is_hidden:
            never = order.sent + 60 + dice.random() * 10
            yield Happening(at=never, kind="never_arrived", ref_id=ref_id)
            decided = never + dice.uniform(30, 400)
            if order.is_hidden:
                decided = max(decided, order.ended)
                yield Happening(at=decided, kind="called_back", ref_id=ref_id, price=price, says=order.says(decided))
            else:
                yield Happening(at=decided, kind="closed", ref_id=ref_id)
            return
        learnt = NEVER
        if dice.random() < 0.9 and not self._is_outage(order.sent):
            learnt = order.ended + dice.uniform(0.05, 3)
            yield Happening(at=learnt, kind="called_back", ref_id=ref_id, price=price, says=order.says(order.ended))
        wait = 3.0 if order.answered < NEVER else 31.0
        asked = order.sent
        while asked < learnt:
            asked += wait * dice.uniform(0.8, 1.2)
            wait = min(2 * wait, 60.0)
            answered = asked + dice.lognormvariate(math.log(0.15), 0.4)
            if self._is_outage(asked):
                continue
            says = order.says(asked + dice.random() * (answered - asked))
            yield Happening(at=answered, kind="checked", ref_id=ref_id, price=price, asked=asked, says=says)
            if says != "pending":
                return

    def _rhythm(self) -> Iterator[Happening]:
        """A balance request every 30 s, a reconciliation every minute; the first reading comes before any order."""
        for number in range(int(self.end / 30)):
            asked = 1.0 + 30 * number
            answered = asked + self._dice.lognormvariate(math.log(0.15), 0.4)
            balance = self._balance_at(asked + self._dice.random() * (answered - asked))
            if not self._is_outage(asked):
                yield Happening(at=answered, kind="read", asked=asked, balance=balance)
            if number % 2:
                yield Happening(at=answered + 7, kind="reconcile")
        yield Happening(at=self.end, kind="reconcile")


@dataclass(frozen=True)
class Grade:
    """The comparison of the found differences with the changes that other people really made.

    `single` and `summed` count outside changes that were found: alone, or as one sum with others too close in time.
    `cancelled` counts those whose sum with such neighbours is zero, so that there is nothing to find.
    """

    single: int
    summed: int
    cancelled: int


def grade(outside: list[tuple[float, int]], differences: list[tuple[int, float, float]]) -> Grade:
    """Match every difference (rupiah, from, to) with the outside changes of its time, whose exact sum it is.

    Raises AssertionError for a false alarm, a wrong amount, or a change that was missed. A change that looked like an
    order of the same amount is found when that order's outcome is known, after later ones.
    """
    left = sorted(outside)
    single = summed = 0
    # The shortest time first: it leaves the least choice.
    for amount, from_at, to_at in sorted(differences, key=lambda difference: difference[2] - difference[1]):
        inside = [change for change in left if from_at < change[0] <= to_at]
        runs = [
            inside[start:end]
            for length in range(1, len(inside) + 1)
            for end in range(len(inside), length - 1, -1)
            for start in [end - length]
            if sum(change[1] for change in inside[start:end]) == amount
        ]
        assert runs, f"false alarm or wrong amount: {(amount, from_at, to_at)}; in its time: {inside}"
        single += len(runs[0]) == 1
        summed += len(runs[0]) if len(runs[0]) > 1 else 0
        left = [change for change in left if change not in runs[0]]
    cancelled = 0
    while len(left) > 1 and left[0][1] + left[1][1] == 0 and left[1][0] - left[0][0] < 300:
        cancelled += 2
        left = left[2:]
    assert not left, f"missed: {left}"
    return Grade(single=single, summed=summed, cancelled=cancelled)
