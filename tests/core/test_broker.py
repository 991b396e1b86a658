"""A message is handed out again only when the process that has it is gone."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis
from kombu import Connection, Queue

QUEUE = "tests-of-the-broker"
KEYS = (QUEUE, "unacked", "unacked_index")


class Worker:
    """A worker that takes messages and never ends their tasks."""

    def __init__(self, address: str) -> None:
        self.connection = Connection(address, transport="core.broker:Transport")
        self.taken: list[Any] = []
        self._channel = self.connection.channel()
        self._consumer = self.connection.Consumer(
            Queue(QUEUE), channel=self._channel, on_message=self.taken.append, prefetch_count=1
        )
        self._consumer.consume()

    def take(self) -> Any:
        """Take the next message."""
        self.connection.drain_events(timeout=10)
        return self.taken[-1]

    def look(self) -> None:
        """Do the rounds in which a worker hands out again what nobody has: kombu does so in one of ten."""
        for _ in range(self._channel.unacked_restore_throttle):
            self._channel.connection.cycle.maybe_restore_messages()


@pytest.fixture
def broker(settings: Any) -> redis.Redis:
    """The test's Redis, with one message in the queue."""
    client = redis.Redis.from_url(settings.REDIS_URL)
    client.delete(*KEYS)
    with Connection(settings.REDIS_URL, transport="core.broker:Transport") as connection:
        connection.SimpleQueue(QUEUE).put("prove the books")
    return client


@pytest.fixture
def new_worker(broker: redis.Redis, settings: Any) -> Iterator[Callable[[], Worker]]:
    """Starts one more worker. At the end none of them gives its message back."""
    workers: list[Worker] = []

    def start() -> Worker:
        workers.append(Worker(settings.REDIS_URL))
        return workers[-1]

    yield start
    broker.delete(*KEYS)
    for worker in workers:
        worker.connection.release()


def waiting(broker: redis.Redis) -> int:
    return int(broker.llen(QUEUE))  # type: ignore[arg-type]  # the stubs know only the other client


def an_hour_passes(broker: redis.Redis) -> None:
    """Let all messages in hand be an hour old."""
    for tag, taken_at in broker.zrange("unacked_index", 0, -1, withscores=True):
        broker.zadd("unacked_index", {tag: taken_at - 3600})


def test_given_a_task_that_runs_for_an_hour_then_no_copy_begins(broker: redis.Redis, new_worker: Callable[[], Worker]):
    busy, other = new_worker(), new_worker()
    busy.take()

    an_hour_passes(broker)
    busy.look()
    other.look()

    assert waiting(broker) == 0


def test_given_a_killed_worker_then_another_gets_its_message(broker: redis.Redis, new_worker: Callable[[], Worker]):
    killed, other = new_worker(), new_worker()
    killed.take()

    an_hour_passes(broker)
    other.look()

    assert waiting(broker) == 1


def test_given_a_task_that_has_ended_then_its_message_stays_out(broker: redis.Redis, new_worker: Callable[[], Worker]):
    worker = new_worker()
    worker.take().ack()

    worker.look()

    assert (waiting(broker), broker.zcard("unacked_index"), broker.exists("unacked")) == (0, 0, 0)
