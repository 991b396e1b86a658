"""The order of calls, in the real Valkey: background calls are spread evenly, people go first, with a place kept.

No test waits for a window: every time of the budget is a score in Redis, and `later` moves all of them back.
"""

import pytest
import redis

from tests.upstream.budget_steps import NOBODY, PEOPLE, STATUS, Later, MakeBudget, begin, refusal, take
from upstream.budget import PEOPLE_STAY_SECONDS
from upstream.config import Rate
from upstream.endpoints import Limit


def test_calls_that_nobody_waits_for_are_paced(make_budget: MakeBudget, later: Later) -> None:
    budget = make_budget(Rate(10, 60.0))
    pace = 60 / 9

    # given a call in time, and a call that is half a turn late, which the next turn makes up for
    take(budget, 1, NOBODY)
    assert pace - 1 < refusal(budget) <= pace
    later(budget, 1.5 * pace)
    take(budget, 1, NOBODY)
    assert pace / 2 - 1 < refusal(budget) <= pace / 2

    # when nothing was sent in many turns, then these turns are lost
    later(budget, 10 * pace)
    take(budget, 1, NOBODY)
    assert pace - 1 < refusal(budget) <= pace


def test_while_people_are_about_the_pace_is_slower(make_budget: MakeBudget, later: Later) -> None:
    # given two places of 24 that are kept for people
    budget = make_budget(Rate(24, 60.0))
    take(budget, 1)
    later(budget, 10)

    take(budget, 1, NOBODY)

    assert 60 / 23 < refusal(budget) <= 60 / 21


def test_what_a_person_sends_costs_the_others_a_turn(make_budget: MakeBudget) -> None:
    budget = make_budget(Rate(100, 60.0))
    take(budget, 12)

    assert 5 < refusal(budget) < 10


def test_when_people_stop_the_others_wait_a_window_at_most(make_budget: MakeBudget, later: Later) -> None:
    # given people who used every place for ten minutes
    budget = make_budget(Rate(24, 60.0))
    for _ in range(10 * 24):
        begin(budget)[0].complete()
        later(budget, 60 / 23.9)

    assert refusal(budget) < 61


# --- People before background ----------------


def test_with_nobody_about_background_uses_every_place(make_budget: MakeBudget, later: Later) -> None:
    budget = make_budget(Rate(24, 60.0))

    for _ in range(24):
        later(budget, 60 / 23)
        take(budget, 1, NOBODY)[0].start(STATUS)

    assert budget.used() == 24


def test_while_people_are_about_a_twelfth_is_theirs(make_budget: MakeBudget, valkey: redis.Redis, later: Later) -> None:
    # given a person's call within the last minute
    budget = make_budget(Rate(24, 600.0))
    begin(budget)

    # when background takes all it gets, without its pace
    calls, _ = budget._keys(Limit.ACCOUNT)
    for _ in range(21):
        valkey.zadd(calls, {"next": 0})
        begin(budget, 1, NOBODY)
    valkey.zadd(calls, {"next": 0})
    refusal(budget)

    # then two places are left, and people get them at once
    begin(budget, 2)
    refusal(budget, PEOPLE)

    # and background gets them after a minute without people
    later(budget, PEOPLE_STAY_SECONDS)
    valkey.zrem(calls, *[name for name in valkey.zrange(calls, 0, -1) if b"-" in name][:2])
    for _ in range(2):
        valkey.zadd(calls, {"next": 0})
        begin(budget, 1, NOBODY)


def test_a_person_goes_before_background_that_waits(make_budget: MakeBudget, monkeypatch: pytest.MonkeyPatch) -> None:
    # given a background call whose turn comes in two seconds
    budget = make_budget(Rate(31, 60.0))
    take(budget, 1, NOBODY)
    assert refusal(budget) > 1

    # then a person's call goes now, and background's turn comes later
    with monkeypatch.context() as patch:
        waits: list[float] = []
        patch.setattr("upstream.budget.time.sleep", waits.append)
        begin(budget)
    assert sum(waits) < 1
    assert refusal(budget) > 3


def test_a_wait_that_cannot_succeed_is_not_begun(make_budget: MakeBudget) -> None:
    budget = make_budget(Rate(1, 3600.0))
    take(budget)

    assert refusal(budget, PEOPLE, wait=10.0) > 10
    assert budget.used() == 1
