"""The people's line in the real Valkey: people take turns, and a single click goes before a batch."""

import datetime as dt
from typing import Any

import pytest
import redis
from django.utils import timezone

from core.stores import Breaker
from core.tracing import begin_trace, end_trace
from gateway import line
from gateway.line import TURNS_AT_ONCE, Work

TASK = "purchases.tasks.submit_order"


@pytest.fixture(autouse=True)
def valkey(settings: Any) -> redis.Redis:
    """An empty line."""
    connection = redis.Redis.from_url(settings.REDIS_URL)
    connection.delete(*connection.keys("dispatch:*") or ["-"])
    return connection


def click(person: int, *numbers: int) -> None:
    for number in numbers:
        assert line.join(Work(TASK, number), person_id=person)


def served() -> list[int]:
    """Everybody in the line, in the order in which they are served."""
    works = iter(line.take_first, None)
    return [work.pk for work, _trace in works]


def test_one_persons_clicks_are_served_in_their_order():
    click(1, *range(10))

    assert served() == list(range(10))


def test_a_single_click_goes_before_the_batch_of_another():
    click(1, *range(300))

    click(2, 900)

    assert served().index(900) <= 3  # after the first ones of the batch


def test_two_batches_take_turns():
    click(1, *range(100, 120))
    click(2, *range(200, 220))

    order = served()

    first_half = order[:20]
    assert abs(sum(1 for number in first_half if number < 200) - 10) <= 1


def test_the_same_work_is_in_the_line_once():
    click(1, 5, 5)
    click(2, 5)

    assert served() == [5]


def test_a_persons_first_clicks_have_their_turn_a_batch_waits():
    click(1, *range(TURNS_AT_ONCE + 1))

    turns = []
    for _ in range(TURNS_AT_ONCE + 1):
        turns.append(line.first_turn_in())
        line.take_first()

    assert turns[:-1] == [0] * TURNS_AT_ONCE
    assert 1 < turns[-1] <= line.SECONDS_BETWEEN_TURNS
    assert line.first_turn_in() is None


def test_the_longest_wait_grows_with_the_line():
    click(1, *range(240))  # 120 a minute, every other place

    assert line.longest_wait(Work(TASK, 0)) == 0
    assert 110 < (line.longest_wait(Work(TASK, 120)) or 0) <= 120
    assert line.longest_wait(Work(TASK, 999)) is None


@pytest.fixture(autouse=True)
def _usual_rate(settings: Any) -> None:
    settings.UPSTREAM_ACCOUNT_RATE = "120/minute"


def test_what_is_handed_out_elsewhere_leaves_the_line():
    click(1, 1, 2)

    line.leave(Work(TASK, 1))

    assert served() == [2]


@pytest.mark.django_db(transaction=True)
def test_without_redis_joining_says_no_and_nothing_fails(settings: Any, monkeypatch: pytest.MonkeyPatch):
    nowhere = redis.Redis.from_url("redis://127.0.0.1:9/0")
    monkeypatch.setattr(line, "hurried", lambda: nowhere)
    monkeypatch.setattr(line, "breaker", Breaker("line_unreachable"))

    assert line.join(Work(TASK, 1), person_id=1) is False
    assert line.longest_wait(Work(TASK, 1)) is None
    line.ring_when_committed(timezone.now())


def test_the_trace_of_a_click_goes_on_with_its_work():
    begin_trace("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
    click(1, 1)
    end_trace()
    click(2, 2)

    traces = {work.pk: trace for work, trace in iter(line.take_first, None)}

    assert "4bf92f3577b34da6a3ce929d0e0e4736" in traces[1]
    assert traces[2] == ""


# --- The bell ----------------


def test_joining_rings_the_bell():
    click(1, 1)

    assert line.wait_for_bell(5) is None
    assert line.wait_for_bell(0.01) is None


@pytest.mark.django_db(transaction=True)
def test_only_what_falls_due_before_the_sleep_ends_rings(valkey: redis.Redis):
    now = timezone.now()
    line.fall_asleep(now + dt.timedelta(seconds=10))

    line.ring_when_committed(now + dt.timedelta(seconds=20))
    assert valkey.llen("dispatch:bell") == 0

    line.ring_when_committed(now + dt.timedelta(seconds=5))
    assert abs((line.wait_for_bell(1) or now) - now - dt.timedelta(seconds=5)) < dt.timedelta(milliseconds=1)


@pytest.mark.django_db(transaction=True)
def test_what_falls_due_during_a_look_rings(valkey: redis.Redis):
    line.fall_asleep(timezone.now())
    line.stay_awake()  # a dispatcher looks into the database

    line.ring_when_committed(timezone.now() + dt.timedelta(seconds=100))

    assert valkey.llen("dispatch:bell") == 1
