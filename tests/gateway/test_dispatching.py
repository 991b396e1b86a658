"""The dispatcher serves people first and in turns, shares the rest between batches and due work, and sleeps at rest."""

import datetime as dt
import threading
import uuid
from typing import Any

import pytest
import redis
from django.contrib.contenttypes.models import ContentType
from django.db import connections
from django.db.models import DateTimeField, QuerySet, Value
from django.utils import timezone

from gateway import dispatching, line
from gateway.dispatching import Dispatcher, Due
from gateway.line import Work
from testing.sandbox_process import eventually
from upstream.budget import Budget
from upstream.client import get_client

CLICK, POLL = "purchases.tasks.submit_order", "purchases.tasks.poll_order"

pytestmark = pytest.mark.django_db(transaction=True)


class Rows:
    """Rows of a room: the due ones, and the time at which the next one is due."""

    def __init__(self, *due: int, next_in: float | None = None) -> None:
        self.due = list(due)
        self.next_at = None if next_in is None else timezone.now() + dt.timedelta(seconds=next_in)
        self.looks = 0

    def earliest(self) -> QuerySet[Any]:
        self.looks += 1
        due_at = timezone.now() if self.due else self.next_at
        question = ContentType.objects.values_list(Value(due_at, DateTimeField()))
        return question if due_at else question.none()

    def take(self, limit: int) -> list[Work]:
        taken, self.due = self.due[:limit], self.due[limit:]
        return [Work(POLL, number) for number in taken]

    def as_due(self, **facts: Any) -> Due:
        return Due(earliest=self.earliest, take=self.take, **facts)


@pytest.fixture(autouse=True)
def budget(settings: Any) -> Budget:
    """An account of this test alone, and an empty line."""
    connection = redis.Redis.from_url(settings.REDIS_URL)
    connection.delete("background", *connection.keys("dispatch:*"))
    settings.UPSTREAM_SECRET_ID = f"dispatch-{uuid.uuid4().hex}"
    settings.UPSTREAM_ACCOUNT_RATE = "100000/minute"
    get_client().budget.declare_fresh()
    return get_client().budget


@pytest.fixture
def handed_out(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int, str]]:
    """The published tasks: (task, pk, queue)."""
    tasks: list[tuple[str, int, str]] = []

    def publish(task: str, pk: int, permit_id: str = "", queue: str = "") -> bool:
        tasks.append((task, pk, queue))
        return True

    monkeypatch.setattr(dispatching, "publish", publish)
    return tasks


def dispatch(*sources: Due, times: int = 60) -> Dispatcher:
    dispatcher = Dispatcher(sources or [Rows().as_due()], queue_of_people="interactive", queue_of_rest="background")
    for _ in range(times):
        dispatcher.hand_out_next()
    return dispatcher


def test_work_of_people_and_of_nobody_goes_to_its_own_queue(handed_out: Any):
    line.join(Work(CLICK, 1), person_id=7)

    dispatch(Rows(2).as_due())

    assert handed_out == [(CLICK, 1, "interactive"), (POLL, 2, "background")]


def test_each_piece_has_a_permit_of_its_own(handed_out: Any, budget: Budget):
    for number in range(3):
        line.join(Work(CLICK, number), person_id=7)

    dispatch()

    assert len(handed_out) == 3
    assert budget.used() == 3


def test_a_batch_and_what_is_due_share_the_places(handed_out: Any):
    for number in range(20):
        line.join(Work(CLICK, number), person_id=7)

    dispatch(Rows(*range(100, 120)).as_due())

    after_turns = [task for task, _, _ in handed_out][line.TURNS_AT_ONCE : line.TURNS_AT_ONCE + 16]
    assert after_turns.count(CLICK) == 8
    assert len(handed_out) == 40


def test_two_busy_rooms_share_evenly(handed_out: Any):
    orders, bills = Rows(*range(100)), Rows(*range(100))

    dispatch(orders.as_due(), bills.as_due(), times=16)

    assert len(handed_out) == 16
    assert abs(len(orders.due) - len(bills.due)) <= 4


def test_what_asks_nobody_needs_no_permit(handed_out: Any, budget: Budget):
    budget.block(60)

    dispatch(Rows(1).as_due(), Rows(2).as_due(asks_upstream=False), times=3)

    assert handed_out == [(POLL, 2, "")]


def test_given_workers_that_do_not_keep_up_then_due_work_stays_where_it_is(handed_out: Any, settings: Any):
    rows, queue = Rows(1, 2), redis.Redis.from_url(settings.REDIS_URL)
    queue.rpush("background", *["a message"] * dispatching.MOST_WAITING)
    line.join(Work(CLICK, 7), person_id=7)

    dispatcher = dispatch(rows.as_due(), times=5)
    while_they_are_behind = handed_out.copy()
    queue.lpop("background")
    dispatcher._look_at = 0.0  # two seconds later
    for _ in range(20):
        dispatcher.hand_out_next()

    assert while_they_are_behind == [(CLICK, 7, "interactive")], "people do not wait"
    assert handed_out[1:] == [(POLL, 1, "background"), (POLL, 2, "background")]


def test_nothing_is_taken_without_room(handed_out: Any, settings: Any):
    settings.UPSTREAM_ACCOUNT_RATE = "1/hour"
    get_client().budget.book(dispatching.Endpoint.TRANSACTION_STATUS, dispatching.CallClass.INTERACTIVE, 1.0)
    line.join(Work(CLICK, 1), person_id=7)

    dispatch(times=3)

    assert handed_out == []
    assert line.first_turn_in() == 0


def test_an_unreachable_broker_costs_no_place(monkeypatch: pytest.MonkeyPatch, budget: Budget):
    monkeypatch.setattr(dispatching, "publish", lambda *_, **__: False)
    line.join(Work(CLICK, 1), person_id=7)

    dispatch(times=1)

    assert budget.used() == 0


def test_due_work_in_the_line_is_handed_out_once(handed_out: Any):
    for number in (90, 91, 92, 5):
        line.join(Work(POLL, number), person_id=7)

    dispatch(Rows(5).as_due())

    assert sorted(number for _, number, _ in handed_out) == [5, 90, 91, 92]


def test_at_rest_the_database_is_looked_at_once(handed_out: Any):
    rows = Rows(next_in=500)

    dispatch(rows.as_due(), times=20)

    assert rows.looks == 1


def test_it_wakes_for_a_click_and_for_what_falls_due(handed_out: Any):
    rows = Rows(next_in=500)
    dispatcher, stop = Dispatcher([rows.as_due()]), threading.Event()

    def run() -> None:
        dispatcher.run(stop)
        connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        eventually(lambda: rows.looks == 1)

        line.join(Work(CLICK, 1), person_id=7)
        eventually(lambda: len(handed_out) == 1)

        rows.due = [2]
        line.ring_when_committed(timezone.now())
        eventually(lambda: len(handed_out) == 2)
    finally:
        stop.set()
        line.ring()
        thread.join(10)
    assert not thread.is_alive()
