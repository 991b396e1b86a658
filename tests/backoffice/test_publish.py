"""A broker that cannot be reached costs nobody more than one attempt, and loses nothing."""

import pytest
from kombu.exceptions import OperationalError

from backoffice import publish as module
from backoffice.publish import publish
from purchases.tasks import sweep_orders


@pytest.fixture(autouse=True)
def _open(monkeypatch):
    monkeypatch.setattr(module, "_paused_until", [0.0])


def test_after_a_failure_nobody_tries_for_a_while(monkeypatch):
    tries = []

    def broken(**kwargs):
        tries.append(kwargs)
        raise OperationalError("no broker")

    monkeypatch.setattr(sweep_orders, "apply_async", broken)

    assert [publish(sweep_orders) for _ in range(5)] == [False] * 5
    assert len(tries) == 1

    monkeypatch.setattr(module, "_paused_until", [0.0])
    publish(sweep_orders)
    assert len(tries) == 2


def test_a_task_is_published_once_without_retries(monkeypatch):
    seen = []
    monkeypatch.setattr(sweep_orders, "apply_async", lambda **kwargs: seen.append(kwargs))

    assert publish(sweep_orders) is True
    assert seen == [{"args": (), "retry": False}]
