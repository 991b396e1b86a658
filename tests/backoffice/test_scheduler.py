"""One of several beats ticks; when it ends, another beat takes over."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pytest
from celery import current_app
from celery.beat import PersistentScheduler

from backoffice import scheduler
from backoffice.scheduler import OneOfMany
from core import heartbeats, stores
from core.heartbeats import Pulse


@pytest.fixture
def published() -> list[str]:
    """The tasks that were sent to the workers."""
    return []


@pytest.fixture
def ticked(monkeypatch: pytest.MonkeyPatch, published: list[str]) -> list[str]:
    """The names of the beats that ticked; nothing is sent."""
    names: list[str] = []
    monkeypatch.setattr(PersistentScheduler, "tick", lambda self: names.append(self.name) or 0.5)
    monkeypatch.setattr(scheduler, "publish", published.append)
    return names


@pytest.fixture
def beats(tmp_path: Path, ticked: list[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[list[OneOfMany]]:
    """Two beats, as on two machines."""
    made = []
    for name in ("beat", "beat-2"):
        monkeypatch.setenv("PROCESS_NAME", name)
        made.append(OneOfMany(current_app, schedule_filename=str(tmp_path / name)))
    yield made
    for beat in made:
        beat.close()
    stores.patient().delete("beat", "starting")


def test_one_ticks_and_the_other_stands_by_until_it_stops(beats: list[OneOfMany], ticked: list[str]):
    for _ in range(3):
        for beat in beats:
            beat.tick()
    assert ticked == ["beat", "beat", "beat"]

    # one that stops in order is followed at once
    beats[0].close()
    beats[1].tick()
    assert ticked[3:] == ["beat-2"]


def test_the_first_one_asks_at_once_for_what_a_new_shop_lacks(beats: list[OneOfMany], published: list[str]):
    beats[0].tick()
    beats[1].tick()

    assert published == ["reconciliation.tasks.read_balance", "catalogue.tasks.fetch_missing_catalogue"]
    assert "fetch-missing-catalogue" in current_app.conf.beat_schedule


def test_a_planned_stop_raises_no_alert_while_the_others_go_on(beats: list[OneOfMany]):
    for name in ("worker", "background"):
        heartbeats.record(f"{name}-of-a-restart")
    beats[0].tick()
    beats[0].close()

    pulse = heartbeats.read()

    assert "beat" not in pulse.alive()
    assert pulse.silent() == []
    assert Pulse(redis=True, is_starting=False, beats=pulse.beats).silent() == ["beat"]


def test_one_that_was_killed_is_followed_when_its_lease_is_over(beats: list[OneOfMany], ticked: list[str]):
    beats[0].tick()
    beats[1].tick()
    assert stores.patient().pttl("beat") <= scheduler.LEASE_SECONDS * 1000 <= 30_000
    stores.patient().pexpire("beat", 0)  # the time has passed

    beats[1].tick()

    assert ticked == ["beat", "beat-2"]


def test_one_that_was_frozen_for_too_long_stands_by(
    beats: list[OneOfMany], ticked: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(scheduler, "_RENEW_SECONDS", 0.0)
    beats[0].tick()
    stores.patient().pexpire("beat", 0)
    beats[1].tick()

    beats[0].tick()
    beats[0].tick()

    assert ticked == ["beat", "beat-2"]


def test_its_lease_lasts_as_long_as_it_ticks(
    beats: list[OneOfMany], ticked: list[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(scheduler, "_RENEW_SECONDS", 0.0)
    beats[0].tick()
    stores.patient().pexpire("beat", 5_000)

    beats[0].tick()

    assert stores.patient().pttl("beat") > 10_000


@pytest.mark.parametrize("is_started_again", [False, True])
def test_a_clock_that_is_set_back_stops_no_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_started_again: bool
):
    # given: a beat that sent every task while the clock was seven hours ahead
    sent: list[str] = []
    monkeypatch.setattr(scheduler, "publish", lambda task: None)
    monkeypatch.setattr(OneOfMany, "apply_entry", lambda _self, entry, producer=None: sent.append(entry.name))
    real = current_app.now
    monkeypatch.setattr(current_app, "now", lambda: real() + dt.timedelta(hours=7))
    beat = OneOfMany(current_app, schedule_filename=str(tmp_path / "schedule"))
    beat.tick()

    # when: the clock is set right, and the shortest pause of a task passes
    monkeypatch.setattr(current_app, "now", real)
    if is_started_again:
        beat.close()
        beat = OneOfMany(current_app, schedule_filename=str(tmp_path / "schedule"))
    beat.tick()
    monkeypatch.setattr(current_app, "now", lambda: real() + dt.timedelta(seconds=11))
    for _ in range(3):
        beat.tick()
    beat.close()
    stores.patient().delete("beat", "starting")

    # then
    assert "count-health" in sent
