"""The rate budget: never more calls than the upstream allows, whoever makes them, kept in Redis for all processes.

The rule
    The upstream counts requests when they *arrive*, which is some time between our sending and its answer, and we know
    neither its windows' phase nor their kind. So a call counts against a limit of N per window from the moment it is
    admitted until one window after its *completion*, and at most N - 1 count at any time. Then no window of the
    upstream's, wherever it begins, sees more than N - 1 of ours. A call whose answer never came counts until the
    longest life it could have had is over, plus one window. Pacing (one call per window / (N - ½)) spreads the calls,
    which estimating limiters need.

How it is kept
    One sorted set per limit is the whole state of that limit: one member per call, its score the moment at which it
    stops counting, and a member `next`, its score the earliest moment for the next admission. All moments are Redis's
    own clock, in microseconds. Each operation is one Lua script, so it is atomic and sees one clock.

An emptied Redis
    `next` is missing. Nobody knows what was sent just before, so it is set one window (at least the longest life of a
    call) ahead, and everything is refused until then. Because it lives in the set it vouches for, losing any set is
    noticed.

Two classes
    `INTERACTIVE` calls (a person waits) may wait a few seconds and queue by their deadline; while one of them is
    waiting for a limit, `BACKGROUND` calls are refused that limit. Background also leaves a sixth of every limit
    unused. Background never waits: whoever gets `Unavailable` comes back later, and `background_allowance` tells how
    many need not try.

Redis that cannot be reached refuses everything: no answer is no permission. What is not covered: a clock of the Redis
host that jumps forward makes calls stop counting early; other programs that use the same account or address are
unknown here (set the rates lower for them).
"""

import math
import time
import uuid
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import redis
import structlog
from redis.backoff import NoBackoff
from redis.commands.core import Script
from redis.retry import Retry

from upstream.config import Config
from upstream.endpoints import Endpoint, Limit
from upstream.errors import Misconfigured, Unavailable

log = structlog.get_logger(__name__)

HOLD_SECONDS = 15.0  # a permit that was not used within this time is no longer good
MARGIN_SECONDS = 5.0  # a request may linger in buffers after its call was given up
_LONGEST_BLOCK_SECONDS = 3600.0
_KEY_LIFE_MS = 30 * 24 * 3600 * 1000
_SECOND = 1_000_000

# KEYS of every script: calls of the 1st limit, waiters of the 1st limit, calls of the 2nd, …
# Shared opening: `now` in microseconds, `text` for scores (Lua would round large numbers when it prints them), and
# `open`, which prunes a limit and returns the moment of its next admission and how many calls count.
_PRELUDE = """
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local function text(number) return string.format('%.0f', number) end
local function keep(key) redis.call('PEXPIRE', key, {key_life}) end
local function open(key, closed_for)
  local next = tonumber(redis.call('ZSCORE', key, 'next') or now + closed_for)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now))
  redis.call('ZADD', key, text(next), 'next')
  keep(key)
  return next, redis.call('ZCARD', key) - 1
end
local function waiters(key, me)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now))
  return redis.call('ZCARD', key) - (redis.call('ZSCORE', key, me) and 1 or 0)
end
""".replace("{key_life}", str(_KEY_LIFE_MS))

# ARGV: permit, class, remaining wait, longest life, then per limit: window, pace, capacity, closed_for
# Returns {1, 0} when admitted, {0, µs after which asking again is worth it} when not.
_RESERVE = (
    _PRELUDE
    + """
local permit, interactive, remaining, life = ARGV[1], ARGV[2] == 'interactive', tonumber(ARGV[3]), tonumber(ARGV[4])
if redis.call('ZSCORE', KEYS[1], permit) then return {1, 0} end
local deadline, longest, refused = now + remaining, 0, {}
for i = 1, #KEYS / 2 do
  local calls, waiting = KEYS[2 * i - 1], KEYS[2 * i]
  local pace, capacity, closed_for = tonumber(ARGV[4 * i + 2]), tonumber(ARGV[4 * i + 3]), tonumber(ARGV[4 * i + 4])
  local next, count = open(calls, closed_for)
  local wait = math.max(0, next - now)
  if count >= capacity then
    -- wait until enough of them have stopped counting; 'next' is no call
    local seen = 0
    local ordered = redis.call('ZRANGE', calls, 0, count - capacity + 1, 'WITHSCORES')
    for j = 1, #ordered, 2 do
      if ordered[j] ~= 'next' and seen <= count - capacity then
        seen = seen + 1
        wait = math.max(wait, ordered[j + 1] - now)
      end
    end
  end
  local others = waiters(waiting, permit)
  if interactive then
    if wait > 0 then
      refused[#refused + 1] = waiting
      -- those whose wait ends earlier go first
      local ahead = redis.call('ZCOUNT', waiting, '-inf', '(' .. text(deadline))
      if redis.call('ZSCORE', waiting, permit) then ahead = redis.call('ZRANK', waiting, permit) end
      wait = wait + ahead * pace
    end
  elseif others > 0 then
    wait = math.max(wait, (others + 1) * pace)
  end
  longest = math.max(longest, wait)
end
if longest > 0 then
  if interactive and longest <= remaining then
    for _, waiting in ipairs(refused) do
      redis.call('ZADD', waiting, 'NX', text(deadline), permit)
      keep(waiting)
    end
  else
    for i = 1, #KEYS / 2 do redis.call('ZREM', KEYS[2 * i], permit) end
  end
  return {0, math.ceil(longest)}
end
for i = 1, #KEYS / 2 do
  local window, pace = tonumber(ARGV[4 * i + 1]), tonumber(ARGV[4 * i + 2])
  redis.call('ZADD', KEYS[2 * i - 1], text(now + life + window), permit, text(now + pace), 'next')
  redis.call('ZREM', KEYS[2 * i], permit)
end
return {1, 0}
"""
)

# ARGV: horizon, then per limit: pace, background capacity, closed_for. Returns how many background calls fit.
_ALLOWANCE = (
    _PRELUDE
    + """
local horizon, allowance = tonumber(ARGV[1]), math.huge
for i = 1, #KEYS / 2 do
  local pace, capacity, closed_for = tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i]), tonumber(ARGV[3 * i + 1])
  local next, count = open(KEYS[2 * i - 1], closed_for)
  local paced = math.floor((horizon - math.max(0, next - now)) / pace) + 1
  local free = capacity - count
  if waiters(KEYS[2 * i], '') > 0 then free = 0 end
  allowance = math.max(0, math.min(allowance, paced, free))
end
return allowance
"""
)

# ARGV: permit, then per limit: window. A plain ZADD: a call that a flush forgot is counted again.
_COMPLETE = (
    _PRELUDE
    + """
for i = 1, #KEYS / 2 do
  redis.call('ZADD', KEYS[2 * i - 1], text(now + tonumber(ARGV[i + 1])), ARGV[1])
  keep(KEYS[2 * i - 1])
end
"""
)

# One argument, the permit.
_CANCEL = "for i = 1, #KEYS / 2 do redis.call('ZREM', KEYS[2 * i - 1], ARGV[1]) end"

# ARGV: µs to block, then per limit: closed_for
_BLOCK = (
    _PRELUDE
    + """
for i = 1, #KEYS / 2 do
  local next = open(KEYS[2 * i - 1], tonumber(ARGV[i + 1]))
  redis.call('ZADD', KEYS[2 * i - 1], text(math.max(next, now + tonumber(ARGV[1]))), 'next')
end
"""
)

# Opens only limits that hold no call at all.
_DECLARE_FRESH = (
    _PRELUDE
    + """
for i = 1, #KEYS / 2 do
  local _, count = open(KEYS[2 * i - 1], 0)
  if count == 0 then redis.call('ZADD', KEYS[2 * i - 1], text(now), 'next') end
end
"""
)


class CallClass(StrEnum):
    """Who is waiting for the call: a person, or nobody."""

    INTERACTIVE = "interactive"
    BACKGROUND = "background"


class Permit:
    """The right to make one call to one endpoint, soon. It belongs to one thread.

    Whoever reserves one either hands it to a method of the client, which then settles it whatever happens, or cancels
    it. One that is forgotten counts against the limits until the longest life of a call is over.
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

    The longest life of a call, after which one that gave no sign is certainly over, is `hold` (seconds that a permit
    may lie unused) + the deadline of a call + `margin`.
    """

    def __init__(self, config: Config, *, hold: float = HOLD_SECONDS, margin: float = MARGIN_SECONDS) -> None:
        self._config = config
        self._hold = hold
        self._longest_life = hold + config.deadline + margin
        try:
            self._redis = redis.Redis.from_url(
                config.redis_url,
                socket_timeout=config.redis_timeout,
                socket_connect_timeout=config.redis_connect_timeout,
                # once more, for a connection that Redis closed while idle (every script may run twice); never after a
                # timeout: a frozen Redis must not hold a cashier twice as long
                retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
            )
        except ValueError:
            raise Misconfigured("REDIS_URL cannot be read") from None
        register = self._redis.register_script
        self._reserve = register(_RESERVE)
        self._allowance = register(_ALLOWANCE)
        self._complete = register(_COMPLETE)
        self._cancel = register(_CANCEL)
        self._block = register(_BLOCK)
        self._declare_fresh = register(_DECLARE_FRESH)

    def reserve(self, endpoint: Endpoint, call_class: CallClass, wait_seconds: float = 0.0) -> Permit:
        """Wait up to `wait_seconds` for room in every limit of the endpoint and return the permit.

        Raises `Unavailable` ("budget") as soon as it is clear that there will be no room in time, and
        `Unavailable` ("budget_unreachable") without Redis.
        """
        permit_id = uuid.uuid4().hex
        give_up_at = time.monotonic() + wait_seconds
        limits: list[int] = []
        for limit in endpoint.limits:
            limits += [
                self._window_us(limit),
                self._pace_us(limit),
                self._capacity(limit, call_class),
                self._closed_for_us(limit),
            ]
        while True:
            asked_at = time.monotonic()
            remaining = max(0.0, give_up_at - asked_at)
            arguments = [permit_id, call_class.value, _us(remaining), _us(self._longest_life), *limits]
            admitted, wait_us = self._run(self._reserve, endpoint.limits, arguments)
            if admitted:
                return Permit(self, endpoint, permit_id, usable_until=asked_at + self._hold)
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
        arguments = [_us(within_seconds)]
        for limit in limits:
            capacity = self._capacity(limit, CallClass.BACKGROUND)
            arguments += [self._pace_us(limit), capacity, self._closed_for_us(limit)]
        return int(self._run(self._allowance, limits, arguments))

    def block(self, seconds: float, endpoint: Endpoint = Endpoint.TRANSACTION_CREATE) -> None:
        """Admit nothing for that long (at most an hour): the upstream answered 429 to this endpoint.

        Only its narrowest limit is blocked, so that a 429 for the product list does not stop sales. For every other
        endpoint that is the account's, which all calls pass.
        """
        limit = endpoint.limits[0]
        seconds = min(max(seconds, 0.0), _LONGEST_BLOCK_SECONDS)
        self._try(self._block, (limit,), [_us(seconds), self._closed_for_us(limit)], "block")

    def declare_fresh(self) -> None:
        """Say that no request was ever sent for this account, so that a new Redis need not wait a window.

        To be called once, when a new installation creates its data. Raises `Unavailable` ("budget_unreachable").
        """
        self._run(self._declare_fresh, tuple(Limit), [])

    def give_back(self, permit: Permit) -> None:
        """See `Permit.cancel`."""
        self._try(self._cancel, permit.endpoint.limits, [permit.id], "cancel")

    def record_completion(self, permit: Permit) -> None:
        """See `Permit.complete`."""
        limits = permit.endpoint.limits
        self._try(self._complete, limits, [permit.id, *(self._window_us(limit) for limit in limits)], "complete")

    def _run(self, script: Script, limits: Sequence[Limit], arguments: Sequence[str | int]) -> Any:
        try:
            return script(keys=[key for limit in limits for key in self._keys(limit)], args=list(arguments))
        except redis.RedisError as error:
            failure = type(error).__name__
        log.warning("rate budget unreachable", error=failure)
        raise Unavailable("budget_unreachable", retry_after=self._config.redis_connect_timeout)

    def _try(self, script: Script, limits: Sequence[Limit], arguments: Sequence[str | int], operation: str) -> None:
        """For what must never cost an answer: without Redis the permit just counts for longer."""
        try:
            self._run(script, limits, arguments)
        except Unavailable:
            log.warning("rate budget not updated", operation=operation)

    def _keys(self, limit: Limit) -> tuple[str, str]:
        """Calls and waiters of a limit; the braces keep all of an account's keys in one slot of a cluster."""
        prefix = f"upstream:{{{self._config.account_hash}}}:{limit}"
        return f"{prefix}:calls", f"{prefix}:waiting"

    def _capacity(self, limit: Limit, call_class: CallClass) -> int:
        calls = self._config.rate(limit).calls
        reserved = calls // 6 if call_class is CallClass.BACKGROUND else 0
        return max(1, calls - 1 - reserved)

    def _pace_us(self, limit: Limit) -> int:
        rate = self._config.rate(limit)
        return _us(rate.window / (rate.calls - 0.5))

    def _window_us(self, limit: Limit) -> int:
        return _us(self._config.rate(limit).window)

    def _closed_for_us(self, limit: Limit) -> int:
        return max(self._window_us(limit), _us(self._longest_life))


def _us(seconds: float) -> int:
    return math.ceil(seconds * _SECOND)
