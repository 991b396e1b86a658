"""Redis keeps one note of a recount, for its moment."""

import pytest
import redis

from core import recount
from core.stores import Breaker, hurried

WHAT = "test"


@pytest.fixture(autouse=True)
def _nothing_noted():
    hurried().delete(recount._DUE)


def test_what_was_asked_for_is_due_once():
    recount.ask_for(WHAT)

    assert recount.is_due(WHAT)
    assert not recount.is_due(WHAT)


def test_a_later_moment_is_not_due_and_delays_no_earlier_one():
    recount.ask_for(WHAT, in_seconds=60)
    assert not recount.is_due(WHAT)

    recount.ask_for(WHAT)
    recount.ask_for(WHAT, in_seconds=60)

    assert recount.is_due(WHAT)


def test_without_redis_nobody_fails_or_waits_twice(monkeypatch):
    asked = []

    class Away:
        def zadd(self, *_args, **_options):
            asked.append(1)
            raise redis.ConnectionError

        zscore = zadd

    monkeypatch.setattr(recount, "hurried", Away)
    monkeypatch.setattr(recount, "breaker", Breaker("recount_not_noted"))

    recount.ask_for(WHAT)
    recount.ask_for(WHAT)

    assert len(asked) == 1
    assert not recount.is_due(WHAT)
