"""Without Redis no task runs; people are notified nevertheless, once."""

import os
import signal
from collections.abc import Callable, Iterator

import pytest
import redis

from alerts.models import Alert, AlertNotice, Evaluation
from launcher.valkey import Valkey
from testing.fleet import Fleet
from testing.sandbox_process import eventually
from tests.alerts.helpers import Receiver, Webhook, ago

Takes = Callable[[Valkey], None]


@pytest.fixture
def people() -> Iterator[Receiver]:
    server = Receiver(Webhook, "json://127.0.0.1:{port}/hooks")
    yield server
    server.stop()


def about_redis(people: Receiver) -> list[str]:
    return [text for message in people.taken if "redis" in (text := f"{message['title']} {message['message']}")]


def stop(valkey: Valkey) -> None:
    valkey.stop()


def start(valkey: Valkey) -> None:
    valkey.start()
    valkey.wait_ready()


def freeze(valkey: Valkey) -> None:
    os.kill(valkey.child.pid, signal.SIGSTOP)


def thaw(valkey: Valkey) -> None:
    os.kill(valkey.child.pid, signal.SIGCONT)


@pytest.mark.parametrize(("take_away", "bring_back"), [(stop, start), (freeze, thaw)])
def test_given_no_redis_then_people_are_notified_once(
    fleet: Fleet, valkey: Valkey, people: Receiver, take_away: Takes, bring_back: Takes
):
    fleet.env["ALERT_URLS"] = people.url
    fleet.start("worker", "background")
    with redis.Redis.from_url(valkey.url()) as client:
        eventually(lambda: client.hlen("heartbeats") == 2, within=60)
    redis_is_away = Alert.objects.filter(kind="process_silent", key="redis")

    take_away(valkey)
    Evaluation.objects.update(turn_until=ago(minutes=2))  # the minute after which it is late
    eventually(lambda: about_redis(people), within=90)
    assert redis_is_away.open().exists()

    bring_back(valkey)
    fleet.start("beat")
    eventually(lambda: not redis_is_away.open().exists(), within=90)
    assert len(about_redis(people)) == 1
    assert AlertNotice.objects.get(alert__in=redis_is_away).failures == 0
