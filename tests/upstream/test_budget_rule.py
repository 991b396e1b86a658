"""The rule of the rate budget against strict limiters, over drawn histories: never one call too many, at any arrivals.

The real scripts run in the real Valkey. Its clock is not changed: all times of the budget are moved back instead, so
that minutes pass at once.
"""

import itertools
import math
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import redis
from django.conf import settings
from hypothesis import HealthCheck, Phase, given, settings as hypothesis_settings, strategies as st

from tests.upstream.budget_steps import MOVE
from upstream.budget import MARGIN_SECONDS, PERMIT_SECONDS, Budget, CallClass, Permit
from upstream.config import Config, Rate
from upstream.endpoints import Endpoint, Limit
from upstream.errors import Unavailable

STATUS = Endpoint.TRANSACTION_STATUS
WINDOW = 60.0
CONNECT, READ = 1.0, 5.0
LONGEST_LIFE = CONNECT + READ + MARGIN_SECONDS

# A failing history is shown as it was drawn, because shrinking it would take minutes.
WITHOUT_SHRINKING: dict[str, Any] = {
    "deadline": None,
    "phases": [Phase.explicit, Phase.reuse, Phase.generate],
    "suppress_health_check": list(HealthCheck),
}

# Seconds that pass, then the act: book (class, ahead), start, complete, cancel, or the death of the n-th one's process.
steps = st.lists(
    st.tuples(
        st.floats(0, 20) | st.sampled_from([0.0, 0.5, WINDOW / 2, WINDOW - 1, WINDOW]),
        st.sampled_from(["book", "book", "book", "start", "start", "complete", "complete", "cancel", "die"]),
        st.integers(0, 30),
        st.sampled_from([0.0, 1.0, 10.0, 40.0]),
    ),
    min_size=20,
    max_size=80,
)


@dataclass
class Sent:
    """A request that was begun, and the last moment at which it may arrive."""

    permit: Permit
    began: float
    written: float
    over: float
    answered: bool = False
    answer_at: float = math.inf


class World:
    """One account whose time we move.

    `within`: the seconds within which the upstream counts a written request. `connecting`: the time of a connection.
    """

    def __init__(self, calls: int, *, within: float = 0.0, connecting: float = 0.0) -> None:
        self.within, self.connecting = within, connecting
        self.rate = Rate(calls, WINDOW)
        wide = Rate(100_000, WINDOW)
        self.budget = Budget(
            Config(
                base_url="http://127.0.0.1:9",
                secret_id=f"rule-{uuid.uuid4().hex}",
                secret_key="",
                redis_url=settings.REDIS_URL,
                connect_timeout=CONNECT,
                read_timeout=READ,
                account_rate=self.rate,
                ip_rate=wide,
                counts_within=within,
            )
        )
        self.valkey = redis.Redis.from_url(settings.REDIS_URL)
        self.keys = [key for limit in STATUS.limits for key in self.budget._keys(limit)]
        self.moved = 0.0
        self.budget.declare_fresh()
        self.booked: list[Permit] = []
        self.sent: list[Sent] = []
        self._move = self.valkey.register_script(MOVE)

    def now(self) -> float:
        seconds, microseconds = self.valkey.time()
        return self.moved + seconds + microseconds / 1_000_000

    def later(self, seconds: float) -> None:
        self._move(keys=self.keys, args=[-int(seconds * 1_000_000)])
        self.moved += seconds

    def book(self, call_class: CallClass, ahead: float) -> None:
        try:
            self.booked.append(self.budget.book(STATUS, call_class, ahead))
        except Unavailable:
            return

    def start(self, which: int) -> None:
        """Start a permit as `Permit.start` does, but without waiting: if it is early, move the time and ask again."""
        if not self.booked:
            return
        permit = self.booked.pop(which % len(self.booked))
        wait = self._script_wait(permit)
        if wait > 0:
            self.later(wait)
            wait = self._script_wait(permit)
        if wait == 0:
            began = self.now()
            written = began + self.connecting
            over = min(began + LONGEST_LIFE, written + (self.within or LONGEST_LIFE))
            self.sent.append(Sent(permit, began, written, over))

    def _script_wait(self, permit: Permit) -> float:
        spans = [permit.id, int(PERMIT_SECONDS * 1_000_000), int(self.budget._longest_life * 1_000_000)]
        return float(self.budget._run("start", STATUS.limits, *spans)) / 1_000_000

    def complete(self, which: int) -> None:
        now = self.now()
        under_way = [c for c in self.sent if not c.answered and c.written <= now < c.began + CONNECT + READ]
        if under_way:
            self.complete_call(under_way[which % len(under_way)])

    def complete_call(self, call: Sent) -> None:
        """The answer left the upstream before we note it, and the request was counted before that."""
        now = self.now()
        call.answered, call.over = True, min(call.over, now)
        self.budget.record_completion(call.permit, now - call.written)

    def cancel(self, which: int) -> None:
        if self.booked:
            self.booked.pop(which % len(self.booked)).cancel()

    def die(self, which: int) -> None:
        """Kill the process that holds a booked permit; requests that were sent simply stay without an answer."""
        if self.booked:
            self.booked.pop(which % len(self.booked))


def play(world: World, history: list[tuple[float, str, int, float]], classes: Callable[[int], CallClass]) -> None:
    for number, (pause, deed, which, ahead) in enumerate(history):
        world.later(pause)
        if deed == "book":
            world.book(classes(number), ahead)
        else:
            getattr(world, deed)(which)
    for key in world.keys:
        world.valkey.delete(key)


def saturate(world: World, latencies: list[float]) -> None:
    """Call again and again, as soon as the budget allows; each answer comes after its latency (seconds)."""
    for latency in latencies:
        while not world.booked:
            try:
                world.booked.append(world.budget.book(STATUS, CallClass.INTERACTIVE, 0.0))
            except Unavailable as refusal:
                world.later(min([refusal.retry_after or 0.0, *answers_in(world)]) + 0.001)
                complete_what_is_due(world)
        world.start(0)
        world.sent[-1].answer_at = world.sent[-1].written + latency
    for key in world.keys:
        world.valkey.delete(key)


def answers_in(world: World) -> list[float]:
    return [max(0.0, call.answer_at - world.now()) for call in world.sent if not call.answered]


def complete_what_is_due(world: World) -> None:
    for call in world.sent:
        if not call.answered and call.answer_at <= world.now():
            world.complete_call(call)


def most_that_can_arrive(sent: list[Sent]) -> int:
    """The most arrivals that any window can have, each at the worst moment between its sending and its answer.

    The worst window ends just after a sending. It may contain every request that was sent by then and answered less
    than a window before.
    """
    return max(
        (sum(1 for other in sent if other.began <= call.began < other.over + WINDOW) for call in sent), default=0
    )


@hypothesis_settings(max_examples=60, **WITHOUT_SHRINKING)
@given(
    calls=st.integers(1, 6),
    history=steps,
    people=st.sets(st.integers(0, 80)),
    within=st.sampled_from([0.0, 0.0, 0.25, 2.0, 30.0]),
    connecting=st.sampled_from([0.0, 0.5, CONNECT]),
)
def test_no_history_lets_one_too_many_arrive(
    calls: int, history: list[tuple[float, str, int, float]], people: set[int], within: float, connecting: float
) -> None:
    world = World(calls, within=within, connecting=connecting)

    play(world, history, lambda number: CallClass.INTERACTIVE if number in people else CallClass.BACKGROUND)

    assert most_that_can_arrive(world.sent) <= calls


@hypothesis_settings(max_examples=15, **WITHOUT_SHRINKING)
@given(
    calls=st.integers(1, 4),
    latencies=st.lists(st.floats(0, READ) | st.sampled_from([0.0, READ]), min_size=12, max_size=30),
    within=st.sampled_from([0.0, 0.25, 2.0]),
    connecting=st.sampled_from([0.0, CONNECT]),
)
def test_a_limit_that_is_always_full_lets_none_too_many_arrive(
    calls: int, latencies: list[float], within: float, connecting: float
) -> None:
    world = World(calls, within=within, connecting=connecting)

    saturate(world, latencies)

    assert most_that_can_arrive(world.sent) <= calls


@hypothesis_settings(max_examples=40, **WITHOUT_SHRINKING)
@given(
    calls=st.integers(1, 6),
    history=steps,
    places=st.lists(st.floats(0, 1), min_size=80, max_size=80),
    phase=st.floats(0, WINDOW),
)
def test_strict_limiters_of_both_kinds_never_refuse(
    calls: int, history: list[tuple[float, str, int, float]], places: list[float], phase: float
) -> None:
    # given requests that arrive somewhere between sending and answer
    world = World(calls)
    play(world, history, lambda _: CallClass.INTERACTIVE)
    arrivals = sorted(
        call.began + place * (call.over - call.began) for call, place in zip(world.sent, itertools.cycle(places))
    )

    # then a sliding log and fixed windows of any phase accept all of them
    for start in arrivals:
        assert sum(1 for moment in arrivals if start <= moment < start + WINDOW) <= calls
    windows = [int((moment - phase) // WINDOW) for moment in arrivals]
    assert max((windows.count(number) for number in windows), default=0) <= calls


def test_the_check_itself_sees_one_too_many() -> None:
    world = World(2)
    permit = world.budget.book(STATUS, CallClass.INTERACTIVE, 1.0)

    assert most_that_can_arrive([Sent(permit, moment, moment, moment + 1) for moment in (0.0, 30.0, 60.5)]) == 3
    assert most_that_can_arrive([Sent(permit, moment, moment, moment + 1) for moment in (0.0, 30.0, 61.0)]) == 2
    world.valkey.delete(*world.budget._keys(Limit.ACCOUNT), *world.budget._keys(Limit.IP))
