"""Steps for the tests of the rate budget. Times in seconds."""

from collections.abc import Callable

import pytest

from upstream.budget import Budget, CallClass, Permit
from upstream.config import Rate
from upstream.endpoints import Endpoint
from upstream.errors import Unavailable

STATUS = Endpoint.TRANSACTION_STATUS
PEOPLE, NOBODY = CallClass.INTERACTIVE, CallClass.BACKGROUND
FAST = Rate(10_000, 1.0)
# Adds so many microseconds to all times in these keys.
MOVE = """
    for _, key in ipairs(KEYS) do
        for _, name in ipairs(redis.call('ZRANGE', key, 0, -1)) do redis.call('ZINCRBY', key, ARGV[1], name) end
    end
"""
MakeBudget = Callable[..., Budget]
Later = Callable[[Budget, float], None]


def take(budget: Budget, how_many: int = 1, call_class: CallClass = PEOPLE) -> list[Permit]:
    return [budget.reserve(STATUS, call_class, wait_seconds=30) for _ in range(how_many)]


def begin(budget: Budget, how_many: int = 1, call_class: CallClass = PEOPLE) -> list[Permit]:
    """Take permits, and begin a call with each."""
    permits = take(budget, how_many, call_class)
    assert all(permit.start(STATUS) for permit in permits)
    return permits


def refusal(budget: Budget, call_class: CallClass = NOBODY, endpoint: Endpoint = STATUS, wait: float = 0.0) -> float:
    """Ask, be refused, and return the seconds after which to ask again."""
    with pytest.raises(Unavailable) as caught:
        budget.reserve(endpoint, call_class, wait)
    assert caught.value.reason == "budget"
    assert caught.value.retry_after is not None
    return caught.value.retry_after
