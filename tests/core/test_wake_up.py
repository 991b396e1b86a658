"""One message wakes a worker for many rows, and no row is forgotten."""

import threading
import time

import pytest

from core import publish
from core.publish import WakeUp
from testing.sandbox_process import eventually


@pytest.fixture
def published(monkeypatch) -> list[str]:
    sent: list[str] = []
    monkeypatch.setattr(publish, "publish", sent.append)
    return sent


def test_the_first_who_asks_is_served_at_once(published):
    WakeUp("a.task", pause=60).ask()

    assert published == ["a.task"]


def test_many_who_ask_are_served_by_two_messages(published):
    bell = WakeUp("a.task", pause=1)

    threads = [threading.Thread(target=bell.ask) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    eventually(lambda: len(published) > 1, within=10)

    # a call during the pause was served at its end
    assert published == ["a.task", "a.task"]


def test_who_asks_after_the_pause_is_served_again(published):
    bell = WakeUp("a.task", pause=0.01)
    bell.ask()

    bell.ask()
    eventually(lambda: len(published) == 2, within=10)
    bell.ask()

    eventually(lambda: len(published) == 3, within=10)


def test_while_somebody_asks_in_every_pause_they_grow_until_a_quiet_one(published):
    bell = WakeUp("a.task", pause=0.05, longest=0.4)
    asks_until = time.monotonic() + 2
    while time.monotonic() < asks_until:
        bell.ask()
        time.sleep(0.01)

    # 40 without growing; a busy machine makes fewer of both
    assert 2 <= len(published) <= 12

    time.sleep(1)
    published.clear()
    bell.ask()
    assert len(published) == 1
