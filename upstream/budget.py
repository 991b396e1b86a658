"""The rate budget: never more calls than the upstream allows, whoever makes them, kept in Redis for all processes.

The rule
    The upstream counts requests when they *arrive*, which is some time between our sending and its answer, and we know
    neither its windows' phase nor their kind. So a call counts against a limit of N per window from the moment it is
    admitted until one window after its *completion*, and at most N - 1 count at any time. Then no window of the
    upstream's, wherever it begins, sees more than N - 1 of ours. A call without an answer counts until its longest
    possible life is over, plus one window. Pacing (one call per window / (N - ½)) spreads the calls, which estimating
    limiters need.

How it is kept
    One sorted set per limit is the whole state of that limit: one member per call, its score the moment at which it
    stops counting, and a member `next`, its score the earliest moment for the next admission. All moments are Redis's
    own clock, in microseconds. Each operation is one Lua script (`lua/`), so it is atomic and sees one clock.

An emptied Redis
    `next` is missing. Nobody knows what was sent just before, so it is set one window (at least the longest life of a
    call) ahead, and everything is refused until then. It is a member of the set that it protects, so losing any set
    is noticed.

Two classes
    `INTERACTIVE` calls (a person waits) may wait a few seconds and queue by their deadline; while one of them is
    waiting for a limit, `BACKGROUND` calls are refused that limit. Background also leaves a sixth of every limit
    unused. Background never waits: it tries again later, and `background_allowance` says how many calls fit.

Without Redis everything is refused: no answer is no permission. Not covered: a clock of the Redis host that jumps
forward makes calls stop counting early; other programs with the same account or address are unknown here (set the
rates lower for them).
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
_LONGEST_BLOCK_SECONDS = 3600.0
_SECOND = 1_000_000
_SCRIPTS = {path.stem: path.read_text() for path in (Path(__file__).parent / "lua").glob("*.lua")}
_PRELUDE = _SCRIPTS.pop("prelude")


class CallClass(StrEnum):
    """Who is waiting for the call: a person, or nobody."""

    INTERACTIVE = "interactive"
    BACKGROUND = "background"


class Permit:
    """The right to make one call to one endpoint, soon. It belongs to one thread.

    Hand it to a method of the client, which settles it whatever happens, or cancel it. A forgotten one counts against
    the limits until the longest life of a call is over.
    """

    def __init__(self, budget: "Budget", endpoint: Endpoint, permit_id: str, *, usable_until: float) -> None:
        self.endpoint = endpoint
        self.id = permit_id
        self._budget = budget
        self._usable_until = usable_until
        self.started = False
        self._settled = False

    def start(self, endpoint: Endpoint) -> bool:
        """Take it for a call that is about to be sent; False if it is for another endpoint, too old or used already."""
        spent = self.started or self._settled
        if spent or endpoint is not self.endpoint or time.monotonic() >= self._usable_until:
            return False
        self.started = True
        return True

    def cancel(self) -> None:
        """Give it back: the call was certainly not sent. A second settling does nothing."""
        if not self._settled:
            self._settled = True
            self._budget.give_back(self)

    def complete(self) -> None:
        """The answer is in: from now on the call counts for one window. A second settling does nothing."""
        if not self._settled:
            self._settled = True
            self._budget.record_completion(self)


class Budget:
    """The rate budget of one account. Safe to share between threads; processes meet in Redis.

    The longest life of a call, after which an unanswered one is certainly over: `PERMIT_SECONDS` + the deadline of a
    call + `MARGIN_SECONDS`.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._longest_life = PERMIT_SECONDS + config.deadline + MARGIN_SECONDS
        try:
            self._redis = redis.Redis.from_url(
                config.redis_url,
                socket_timeout=config.redis_timeout,
                socket_connect_timeout=config.redis_connect_timeout,
                # again for a connection that Redis closed while idle (every script may run twice), never after a
                # timeout: a frozen Redis must not hold a cashier twice as long
                retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
            )
        except ValueError:
            raise Misconfigured("REDIS_URL cannot be read") from None
        self._scripts = {name: self._redis.register_script(_PRELUDE + text) for name, text in _SCRIPTS.items()}

    def reserve(self, endpoint: Endpoint, call_class: CallClass, wait_seconds: float = 0.0) -> Permit:
        """Wait up to `wait_seconds` for room in every limit of the endpoint and return the permit.

        Raises `Unavailable` ("budget") as soon as it is clear that there will be no room in time, and
        `Unavailable` ("budget_unreachable") without Redis.
        """
        permit_id = uuid.uuid4().hex
        give_up_at = time.monotonic() + wait_seconds
        while True:
            asked_at = time.monotonic()
            remaining = max(0.0, give_up_at - asked_at)
            arguments = [permit_id, call_class.value, _us(remaining), _us(self._longest_life)]
            admitted, wait_us = self._run("reserve", endpoint.limits, *arguments, call_class=call_class)
            if admitted:
                return Permit(self, endpoint, permit_id, usable_until=asked_at + PERMIT_SECONDS)
            wait = wait_us / _SECOND
            if wait > remaining:
                raise Unavailable("budget", retry_after=wait)
            time.sleep(wait + 0.001)

    def background_allowance(self, within_seconds: float = 0.0) -> int:
        """How many background calls would be admitted from now until `within_seconds` from now, if nobody else calls.

        With 0.0: right now, which pacing makes 0 or 1. For /v1/products, which has a limit of its own, it says nothing.
        Raises `Unavailable` ("budget_unreachable").
        """
        limits = Endpoint.TRANSACTION_STATUS.limits
        return int(self._run("allowance", limits, _us(within_seconds), call_class=CallClass.BACKGROUND))

    def block(self, seconds: float, endpoint: Endpoint = Endpoint.TRANSACTION_CREATE) -> None:
        """Admit nothing for that long (at most an hour): the upstream answered 429 to this endpoint.

        Only its narrowest limit is blocked, so that a 429 for the product list does not stop sales. For every other
        endpoint that is the account's, which all calls pass.
        """
        self._try("block", endpoint.limits[:1], _us(min(max(seconds, 0.0), _LONGEST_BLOCK_SECONDS)))

    def declare_fresh(self) -> None:
        """Say that no request was ever sent for this account, so that a new Redis need not wait a window.

        Call it once, when a new installation creates its data. Raises `Unavailable` ("budget_unreachable").
        """
        self._run("declare_fresh", tuple(Limit))

    def give_back(self, permit: Permit) -> None:
        """See `Permit.cancel`."""
        self._try("cancel", permit.endpoint.limits, permit.id)

    def record_completion(self, permit: Permit) -> None:
        """See `Permit.complete`."""
        self._try("complete", permit.endpoint.limits, permit.id)

    def _run(
        self,
        script: str,
        limits: Sequence[Limit],
        *arguments: str | int,
        call_class: CallClass = CallClass.INTERACTIVE,
    ) -> Any:
        """Run one of `lua/*.lua`; its arguments are explained there and in `lua/prelude.lua`."""
        keys = [key for limit in limits for key in self._keys(limit)]
        terms = [number for limit in limits for number in self._terms(limit, call_class)]
        try:
            return self._scripts[script](keys=keys, args=[*arguments, *terms])
        except redis.RedisError as error:
            failure = type(error).__name__
        log.warning("rate budget unreachable", operation=script, error=failure)
        raise Unavailable("budget_unreachable", retry_after=self._config.redis_connect_timeout)

    def _try(self, script: str, limits: Sequence[Limit], *arguments: str | int) -> None:
        """For what must never cost an answer: without Redis the permit only counts longer."""
        with suppress(Unavailable):
            self._run(script, limits, *arguments)

    def _keys(self, limit: Limit) -> tuple[str, str]:
        """Calls and waiters of a limit; the braces keep all of an account's keys in one slot of a cluster."""
        prefix = f"upstream:{{{self._config.account_hash}}}:{limit}"
        return f"{prefix}:calls", f"{prefix}:waiting"

    def _terms(self, limit: Limit, call_class: CallClass) -> tuple[int, int, int, int]:
        """Window, pace, capacity for this class, and how long the limit stays closed in an emptied Redis."""
        rate = self._config.rate(limit)
        reserved = rate.calls // 6 if call_class is CallClass.BACKGROUND else 0
        window = _us(rate.window)
        pace = _us(rate.window / (rate.calls - 0.5))
        return window, pace, max(1, rate.calls - 1 - reserved), max(window, _us(self._longest_life))


def _us(seconds: float) -> int:
    return math.ceil(seconds * _SECOND)
