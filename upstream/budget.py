"""The rate budget, in Redis: all processes together make at most the calls that the upstream allows.

docs/rate-budget.md has the rule with its proof, the order of calls, and what is not covered. Without Redis everything
is refused: no answer means no permission. The budget does not know of other programs with the same account or address:
set lower rates for them.

Each limit has two sorted sets. `calls` has one member per call, whose score is the moment at which it stops counting,
and the members `open`, `next` and `people`, whose scores are moments too. `booked` has the permits that are not started
yet. All moments are Redis's own clock, in microseconds. Each operation is one Lua script (`lua/`), so it is atomic and
sees one clock.

If `open` is missing, Redis was emptied, and nobody knows what was sent just before. So `open` is set one window (at
least the longest life of a call) ahead, and everything is refused until then. It is a member of the set that it
protects, so the loss of any set is noticed.
"""

import math
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path
from typing import Any

import redis
import structlog
from redis.backoff import NoBackoff
from redis.retry import Retry

from upstream.config import Config
from upstream.endpoints import Endpoint, Limit
from upstream.errors import Misconfigured, Unavailable

log = structlog.get_logger(__name__)

PERMIT_SECONDS = 15.0  # after this an unused permit is void
MARGIN_SECONDS = 5.0  # a request may stay in buffers after its call was given up
# `reserve` returns a permit this many seconds before its moment, for the work before the request is written.
PREPARE_SECONDS = 0.1
# People count as present for this many seconds after one of their calls.
PEOPLE_STAY_SECONDS = 60.0
# The upstream's clock may run this much faster than Redis's.
_CLOCKS_DIFFER = 0.0005
_LONGEST_BLOCK_SECONDS = 3600.0
_SECOND = 1_000_000
_SCRIPTS = {path.stem: path.read_text() for path in (Path(__file__).parent / "lua").glob("*.lua")}
_PRELUDE = _SCRIPTS.pop("prelude")


class CallClass(StrEnum):
    """Whether a person waits for the call."""

    INTERACTIVE = "interactive"
    BACKGROUND = "background"


class Permit:
    """The right to make one call soon. It belongs to one thread, until it is handed over.

    Pass it to a method of the client, which always settles it, or cancel it. A forgotten permit is void after
    `PERMIT_SECONDS`; a call that was begun and never settled counts until the longest life of a call is over.
    """

    def __init__(self, budget: "Budget", endpoint: Endpoint, permit_id: str, *, ready_at: float) -> None:
        self.endpoint = endpoint
        self.id = permit_id
        self._budget = budget
        self._ready_at = ready_at
        self.started = False
        self.began_at = 0.0  # just before its call was begun (`time.monotonic()`)
        # Seconds that it waited here for its moment.
        self.waited = 0.0
        self._settled = False

    @property
    def call_class(self) -> CallClass:
        """The class for which it was booked. It is part of the id, so a process that takes the permit over knows it."""
        return CallClass.INTERACTIVE if self.id.startswith(CallClass.INTERACTIVE) else CallClass.BACKGROUND

    def start(self, endpoint: Endpoint) -> bool:
        """Wait for its moment and use it for a call that is sent now.

        False if it is for another endpoint, too old, used or cancelled. Raises `Unavailable` ("budget_unreachable"
        without Redis, "budget" if the upstream has answered 429 since).
        """
        if self.started or self._settled or endpoint is not self.endpoint:
            return False
        self.wait(self._ready_at - time.monotonic())
        self.started = self._budget.begin(self)
        return self.started

    def wait(self, seconds: float) -> None:
        """Sleep for this time, and count it as waiting for the rate budget."""
        if seconds > 0:
            time.sleep(seconds)
            self.waited += seconds

    def hand_over(self) -> str:
        """Give the permit up here, and return the id by which another process takes it over."""
        self._settled = True
        return self.id

    def cancel(self) -> None:
        """Give the permit back, because the call was certainly not sent. Settling it again does nothing."""
        if not self._settled:
            self._settled = True
            self._budget.give_back(self)

    def complete(self, written_at: float | None = None) -> None:
        """Note that the answer has come: the call counts for one window from now. Settling it again does nothing.

        `written_at`: when its request was written (`time.monotonic()`), for an upstream that counts it soon after that.
        """
        if not self._settled:
            self._settled = True
            self._budget.record_completion(self, 0.0 if written_at is None else time.monotonic() - written_at)


class Budget:
    """The rate budget of one account. Safe to share between threads; processes meet in Redis.

    A begun call arrives within its longest life or never: the deadline of a call + `MARGIN_SECONDS`, or less if we know
    how soon the upstream counts a written request.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        answer_or_count = min(config.read_timeout, config.counts_within or math.inf)
        self._longest_life = config.connect_timeout + answer_or_count + MARGIN_SECONDS
        try:
            self._redis = redis.Redis.from_url(
                config.redis_url,
                socket_timeout=config.redis_timeout,
                socket_connect_timeout=config.redis_connect_timeout,
                # retry on a connection that Redis closed while idle (every script may run twice), never after a
                # timeout: a frozen Redis must not hold a cashier twice as long
                retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
            )
        except ValueError:
            raise Misconfigured("REDIS_URL cannot be read") from None
        self._scripts = {name: self._redis.register_script(_PRELUDE + text) for name, text in _SCRIPTS.items()}

    def reserve(self, endpoint: Endpoint, call_class: CallClass, wait_seconds: float = 0.0) -> Permit:
        """Book a permit, wait until shortly before its moment and return it; `wait_seconds` is the longest wait.

        Raises `Unavailable` ("budget") at once if there will be no room in time, and `Unavailable`
        ("budget_unreachable") without Redis.
        """
        permit = self.book(endpoint, call_class, wait_seconds)
        permit.wait(permit._ready_at - PREPARE_SECONDS - time.monotonic())
        return permit

    def book(self, endpoint: Endpoint, call_class: CallClass, within_seconds: float) -> Permit:
        """Return a permit whose moment comes within `within_seconds`, without waiting. Raises the same as `reserve`."""
        permit_id = f"{call_class}-{uuid.uuid4().hex}"
        spans = (within_seconds, PERMIT_SECONDS, self._longest_life, PEOPLE_STAY_SECONDS)
        arguments = map(_us, spans)
        booked, wait_us = self._run("reserve", endpoint.limits, permit_id, call_class.value, *arguments)
        wait = wait_us / _SECOND
        if not booked:
            raise Unavailable("budget", retry_after=wait)
        return Permit(self, endpoint, permit_id, ready_at=time.monotonic() + wait)

    def take_over(self, permit_id: str, endpoint: Endpoint) -> Permit:
        """The permit that another process booked and handed over, for an endpoint with the same limits."""
        return Permit(self, endpoint, permit_id, ready_at=0.0)

    def is_booked(self, permit: Permit) -> bool:
        """Whether it can still be started: neither void nor used. Raises `Unavailable` ("budget_unreachable")."""
        return bool(self._run("is_booked", permit.endpoint.limits, permit.id))

    def begin(self, permit: Permit) -> bool:
        """See `Permit.start`; call it at its moment, or a little before."""
        while True:
            spans = _us(PERMIT_SECONDS), _us(self._longest_life)
            permit.began_at = time.monotonic()
            wait: float = self._run("start", permit.endpoint.limits, permit.id, *spans) / _SECOND
            if wait <= 0:
                return wait == 0
            if wait > PERMIT_SECONDS:
                raise Unavailable("budget", retry_after=wait)
            permit.wait(wait)

    def used(self, limit: Limit = Limit.ACCOUNT) -> int:
        """The number of calls that count against a limit now. Raises `Unavailable` ("budget_unreachable")."""
        return self.usage(limit)[0]

    def usage(self, limit: Limit = Limit.ACCOUNT) -> tuple[int, float]:
        """The number of calls that count now, and the seconds without a place for a call. Raises the same as `used`."""
        used, closed = self._run("usage", (limit,))
        return int(used), closed / _SECOND

    def block(self, seconds: float, endpoint: Endpoint = Endpoint.TRANSACTION_CREATE) -> None:
        """Admit nothing for this time (at most an hour), because the upstream answered 429 to this endpoint.

        Only the endpoint's narrowest limit is blocked, so that a 429 for the product list does not stop sales. For
        every other endpoint that is the account's limit, which applies to all calls.
        """
        self._try("block", endpoint.limits[:1], _us(min(max(seconds, 0.0), _LONGEST_BLOCK_SECONDS)))

    def declare_fresh(self) -> None:
        """Declare that no request was ever sent for this account, so that a new Redis need not wait a window.

        Call it once, when a new installation creates its data. Raises `Unavailable` ("budget_unreachable").
        """
        self._run("declare_fresh", tuple(Limit))

    def give_back(self, permit: Permit) -> None:
        """See `Permit.cancel`. A call that another process has begun with this permit keeps its place."""
        self._try("cancel", permit.endpoint.limits, permit.id, int(permit.started))

    def record_completion(self, permit: Permit, since_written: float) -> None:
        """See `Permit.complete`; `since_written`: seconds since the request was written."""
        within = self._config.counts_within
        counted_before = max(0.0, since_written - within) if within else 0.0
        self._try("complete", permit.endpoint.limits, permit.id, math.floor(counted_before * _SECOND))

    def _run(self, script: str, limits: Sequence[Limit], *arguments: str | int) -> Any:
        """Run one of `lua/*.lua`, which explain their arguments, with `lua/prelude.lua`."""
        keys = [key for limit in limits for key in self._keys(limit)]
        terms = [number for limit in limits for number in self._terms(limit)]
        try:
            return self._scripts[script](keys=keys, args=[*arguments, *terms])
        except redis.RedisError as error:
            failure = type(error).__name__
        log.warning("rate budget unreachable", operation=script, error=failure)
        raise Unavailable("budget_unreachable", retry_after=self._config.redis_connect_timeout)

    def _try(self, script: str, limits: Sequence[Limit], *arguments: str | int) -> None:
        """Run a script whose fault must never fail a call: without Redis the permit only counts longer."""
        with suppress(Unavailable):
            self._run(script, limits, *arguments)

    def _keys(self, limit: Limit) -> tuple[str, str]:
        """The keys of a limit's two sets; the braces keep all of an account's keys in one slot of a cluster."""
        prefix = f"upstream:{{{self._config.account_hash}}}:{limit}"
        return f"{prefix}:calls", f"{prefix}:booked"

    def _terms(self, limit: Limit) -> tuple[int, int, int, int, int]:
        """The numbers that `limit()` in `lua/prelude.lua` reads."""
        rate = self._config.rate(limit)
        window = _us(rate.window * (1 + _CLOCKS_DIFFER))
        pace = _us(rate.window / max(1, rate.calls - 1))
        return window, pace, rate.calls, rate.calls // 12, max(window, _us(self._longest_life))


def _us(seconds: float) -> int:
    return math.ceil(seconds * _SECOND)
