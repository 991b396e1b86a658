"""Waiting background work that stands still is one alert, although every process runs; busy work is no alert."""

import datetime as dt
from typing import Any

import pytest
import redis
from django.core.management import CommandError, call_command
from django.utils import timezone

from alerts.models import Alert, Evaluation, Severity
from backoffice.tasks import SOURCES, evaluate_late
from callbacks.models import Callback
from core import heartbeats
from gateway.dispatching import Dispatcher
from gateway.models import UpstreamAccount
from purchases.models import Order
from purchases.states import Status
from purchases.tasks import poll_order, submit_order
from testing.factories import make_order
from testing.people import browser_of
from tests.alerts.helpers import ago, give_heartbeats, open_alerts
from tests.conftest import Upstream
from tests.purchases.magic import place

pytestmark = pytest.mark.django_db(transaction=True)

STILL = ("standstill", "")
LATER = dt.timedelta(minutes=4)


@pytest.fixture(autouse=True)
def nothing_was_handed_out(settings: Any) -> None:
    """No dispatcher and no worker has done anything yet."""
    connection = redis.Redis.from_url(settings.REDIS_URL)
    connection.delete("background", "interactive", *connection.keys("dispatch:*"))


@pytest.fixture
def order(upstream: Upstream, settings: Any) -> Order:
    """A queued order that falls due now, in nobody's line."""
    order = place(1)
    redis.Redis.from_url(settings.REDIS_URL).delete("dispatch:line")
    Order.objects.update(next_poll_at=timezone.now())
    return order


def hand_out() -> None:
    """Have a dispatcher give due work to the workers, which may take it or not."""
    Dispatcher(SOURCES, queue_of_people="interactive", queue_of_rest="background").hand_out_next()


def is_open() -> bool:
    return STILL in open_alerts()


def test_given_workers_that_take_nothing_then_it_is_one_alert_until_they_do(order: Order, time_machine: Any):
    hand_out()
    assert not is_open()

    time_machine.move_to(timezone.now() + LATER)
    assert is_open()
    hand_out()  # the lease is over: it is handed out again, and nobody takes it
    assert is_open()
    alert = Alert.objects.get(kind="standstill")
    assert alert.severity == Severity.CRITICAL
    assert alert.facts["waiting"] == {"orders": 1}
    assert dt.datetime.fromisoformat(alert.facts["since"]) < timezone.now() - dt.timedelta(minutes=3)

    submit_order.apply(args=[order.pk])
    assert not is_open()
    assert Alert.objects.filter(kind="standstill").count() == 1


def test_given_much_that_is_overdue_but_goes_on_then_it_is_no_alert(upstream: Upstream, time_machine: Any):
    due = [
        make_order(Status.PENDING, destination=f"08123456789{n}", sent_at=ago(hours=1), next_poll_at=ago(minutes=30))
        for n in range(5)
    ]
    poll_order.apply(args=[due[0].pk])
    hand_out()

    for order in due[1:3]:
        time_machine.move_to(timezone.now() + dt.timedelta(minutes=2))
        poll_order.apply(args=[order.pk])
        assert not is_open()

    time_machine.move_to(timezone.now() + LATER)
    assert is_open()


def test_given_work_that_is_put_back_unsent_then_it_does_not_go_on(order: Order, settings: Any, time_machine: Any):
    hand_out()
    settings.UPSTREAM_ACCOUNT_RATE = "1/minute"  # the permit has used up this time
    time_machine.move_to(timezone.now() + LATER)

    submit_order.apply(args=[order.pk, "a-permit-of-long-ago"])

    order.refresh_from_db()
    assert (order.status, order.attempt) == ("queued", 0)
    assert is_open()


def test_given_people_who_are_served_then_the_background_may_still_stand_still(order: Order, time_machine: Any):
    other = place(2)
    hand_out()
    time_machine.move_to(timezone.now() + LATER)

    submit_order.apply(args=[other.pk], routing_key="interactive")

    assert is_open()
    submit_order.apply(args=[other.pk], routing_key="background")
    assert not is_open()


def test_given_dispatchers_that_hand_out_nothing_then_what_is_due_tells_it():
    Callback.objects.create(content_hash="x", body=b"{}", headers={}, is_signed=True, next_try_at=ago(minutes=4))

    assert is_open()
    assert Alert.objects.get().facts["waiting"] == {"callbacks": 1}


@pytest.mark.parametrize("reason", ["refused_since", "unreachable_since"])
def test_given_an_upstream_that_cannot_be_asked_then_the_reason_is_another_alert(reason: str):
    make_order(Status.QUEUED, next_poll_at=ago(minutes=10))
    assert is_open()

    UpstreamAccount.objects.create(**{reason: ago(minutes=10)})

    assert not is_open()


def test_given_processes_that_start_or_are_silent_then_that_is_said_instead(settings: Any):
    make_order(Status.QUEUED, next_poll_at=ago(minutes=10))
    connection = redis.Redis.from_url(settings.REDIS_URL)

    connection.delete("heartbeats")
    assert "process_silent" in {kind for kind, _key in open_alerts()}
    assert not is_open()

    give_heartbeats()
    heartbeats.record_start()
    assert not is_open()
    connection.delete("starting")
    assert is_open()


def test_given_a_background_that_evaluates_nothing_then_the_other_worker_does():
    make_order(Status.QUEUED, next_poll_at=ago(minutes=10))
    Evaluation.objects.create(turn_until=ago(seconds=50))
    evaluate_late()
    assert not Alert.objects.exists()

    Evaluation.objects.update(turn_until=ago(seconds=70))
    evaluate_late()

    assert Alert.objects.get(closed_at=None).kind == "standstill"


def test_the_page_health_and_doctor_say_the_same(capsys: Any):
    owner = browser_of("admin")

    def verdict() -> str:
        page = owner.get("/health/").content.decode()
        return page.split('data-subject="background" data-verdict="')[1].split('"')[0]

    assert verdict() == "ok"

    make_order(Status.QUEUED, next_poll_at=ago(minutes=10))

    assert verdict() == "bad"
    with pytest.raises(CommandError):
        call_command("doctor", "--json")
    assert '"subject": "background", "verdict": "bad"' in capsys.readouterr().out
