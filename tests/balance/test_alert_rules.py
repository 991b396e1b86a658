"""The rules of the alerts stand side by side: evaluated by one at a time, and none can silence another."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from backoffice import health
from balance import services as balance
from balance.models import Alert, Difference, Reading, Reconciliation, UpstreamAccount
from balance.services import alerts
from balance.services.alerts import Reason
from tests.balance.test_ledger import open_with
from tests.races.test_orders import at_once

pytestmark = pytest.mark.django_db(transaction=True)

Kind = Alert.Kind


@pytest.fixture(autouse=True)
def all_is_well(settings: Any) -> None:
    settings.ALERT_LOW_BALANCE = 0
    for name in health.PROCESSES:
        health.note_life(name)


def kinds() -> set[str]:
    return set(Alert.objects.open().values_list("kind", flat=True))


def test_a_rule_that_fails_is_logged_and_silences_no_other(monkeypatch: Any, caplog: Any):
    open_with(1_000)
    row = Reconciliation.objects.get()
    row.state = {"of": "another version"}
    row.save()
    monkeypatch.setattr(health, "silent_processes", lambda: ["worker"])
    UpstreamAccount.objects.create(refused_since=timezone.now(), refused_code="INVALID_CREDENTIALS")

    balance.evaluate_alerts()

    assert kinds() == {"credentials_refused", "process_silent"}
    (logged,) = [record.getMessage() for record in caplog.records if "alert_rule_failed" in record.getMessage()]
    assert "unexplained_difference" in logged


def test_a_rule_that_fails_leaves_its_alerts_as_they_are(monkeypatch: Any):
    monkeypatch.setattr(health, "silent_processes", lambda: ["worker"])
    balance.evaluate_alerts()

    monkeypatch.setattr(health, "silent_processes", lambda: 1 / 0)
    balance.evaluate_alerts()

    assert kinds() == {"process_silent"}


def test_a_difference_that_is_settled_while_the_rules_look_is_no_alert(monkeypatch: Any, django_user_model: Any):
    first, second = (django_user_model.objects.create_user(name) for name in ("first", "second"))
    open_with(100_000)
    time.sleep(0.001)
    now = timezone.now()
    Reading.objects.create(balance=99_995, source="balance", sent_at=now, received_at=now)
    balance.reconcile()
    proposed = balance.propose_adjustment(Difference.objects.get(), actor=first, reason="x")
    look = alerts._RULES[Kind.UNEXPLAINED_DIFFERENCE]

    def settle() -> None:
        try:
            balance.approve_adjustment(proposed, actor=second)
        finally:
            connections.close_all()

    def look_slowly(now: Any) -> list[Reason]:
        reasons = look(now)
        if reasons:
            thread = threading.Thread(target=settle)
            thread.start()
            thread.join(10)
        return reasons

    monkeypatch.setitem(alerts._RULES, Kind.UNEXPLAINED_DIFFERENCE, look_slowly)
    balance.evaluate_alerts()

    assert Difference.objects.get().state == "acknowledged"
    assert not Alert.objects.exists()


def test_who_comes_while_another_evaluates_leaves_it_to_that_one(monkeypatch: Any):
    looks: list[str] = []
    everybody_is_there = threading.Event()

    def look(_now: Any) -> list[Reason]:
        looks.append("look")
        assert everybody_is_there.wait(10)
        return []

    def evaluate_second() -> None:
        while not looks:
            everybody_is_there.wait(0.01)
        balance.evaluate_alerts()
        everybody_is_there.set()

    monkeypatch.setattr(alerts, "_RULES", {Kind.LOW_BALANCE: look})
    assert at_once(balance.evaluate_alerts, evaluate_second) == [None, None]

    assert looks == ["look"]
    balance.evaluate_alerts()
    assert looks == ["look", "look"]
