"""A broker that cannot be reached costs a caller at most one attempt, and loses nothing."""

import re
import socket
from pathlib import Path

import pytest
from celery import current_app
from kombu.exceptions import OperationalError

from core import publish as module
from core.publish import publish
from core.stores import Breaker

TASK = "reconciliation.tasks.read_balance"


@pytest.fixture(autouse=True)
def _open(monkeypatch):
    monkeypatch.setattr(module, "breaker", Breaker("broker_unreachable"))


def test_after_a_failure_nobody_tries_for_a_while(monkeypatch):
    tries = []

    def broken(*args, **kwargs):
        tries.append(args)
        raise OperationalError("no broker")

    monkeypatch.setattr(current_app, "send_task", broken)

    assert [publish(TASK) for _ in range(5)] == [False] * 5
    assert len(tries) == 1

    monkeypatch.setattr(module, "breaker", Breaker("broker_unreachable"))
    publish(TASK)
    assert len(tries) == 2


def test_a_task_is_published_once_without_retries(monkeypatch):
    seen = []
    monkeypatch.setattr(current_app, "send_task", lambda *args, **kwargs: seen.append((args, kwargs)))

    assert publish(TASK, 7) is True
    assert len(seen) == 1
    assert seen[0][0] == (TASK,)
    assert (seen[0][1]["args"], seen[0][1]["retry"]) == ((7,), False)


def test_a_frozen_broker_costs_one_short_attempt(monkeypatch):
    # given: a broker that takes connections and never answers
    with socket.create_server(("127.0.0.1", 0)) as frozen:
        address = f"redis://127.0.0.1:{frozen.getsockname()[1]}/0"
        patience = module._broker().transport_options
        broker = current_app.connection_for_write(url=address, transport_options=patience)
        monkeypatch.setattr(module, "_broker", lambda: broker)

        # when
        was_published = publish(TASK)

        # then: nobody connected twice
        frozen.accept()[0].close()
        frozen.setblocking(False)
        with pytest.raises(BlockingIOError):
            frozen.accept()
    assert not was_published
    assert patience["socket_timeout"] == patience["socket_connect_timeout"] <= 1


def test_every_task_named_in_the_code_exists(settings):
    current_app.loader.import_default_modules()
    named = {
        name
        for path in settings.BASE_DIR.glob("*/**/*.py")
        if path.parts[len(settings.BASE_DIR.parts)] not in {".venv", "node_modules", "tests", "sandbox"}
        for name in re.findall(r"""["']([a-z]+\.tasks\.[a-z_]+)["']""", Path(path).read_text())
    }

    assert len(named) > 8
    assert named <= set(current_app.tasks)
