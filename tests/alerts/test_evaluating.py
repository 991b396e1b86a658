"""Each kind is evaluated for itself, by one process at a time, and cannot silence another kind."""

import datetime as dt
import threading
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from alerts import services as alerts
from alerts.kinds import KINDS
from alerts.kinds.kind import Reason
from alerts.models import Alert, Evaluation
from core import health
from gateway.models import UpstreamAccount
from reconciliation import services as reconciliation
from reconciliation.models import Difference
from testing.orders import at_once
from tests.alerts.helpers import give_heartbeats
from tests.ledger.helpers import open_books, upstream_tells

pytestmark = pytest.mark.django_db(transaction=True)


def kinds() -> set[str]:
    return set(Alert.objects.open().values_list("kind", flat=True))


def fail(*_: Any) -> list[Reason]:
    raise RuntimeError


def test_a_kind_that_fails_is_logged_and_silences_no_other(monkeypatch: Any, caplog: Any):
    monkeypatch.setattr(KINDS["difference"], "reasons", fail)
    monkeypatch.setattr(health, "silent_processes", lambda: ["worker"])
    UpstreamAccount.objects.create(refused_since=timezone.now(), refused_code="INVALID_CREDENTIALS")

    alerts.evaluate_alerts()

    assert kinds() == {"account_refused", "process_silent"}
    (logged,) = [record.getMessage() for record in caplog.records if "alert_kind_failed" in record.getMessage()]
    assert "difference" in logged


def test_a_kind_that_fails_leaves_its_alerts_as_they_are(monkeypatch: Any):
    monkeypatch.setattr(health, "silent_processes", lambda: ["worker"])
    alerts.evaluate_alerts()

    monkeypatch.setattr(KINDS["process_silent"], "reasons", fail)
    alerts.evaluate_alerts()

    assert kinds() == {"process_silent"}


def test_what_is_settled_during_the_evaluation_is_no_alert(monkeypatch: Any, django_user_model: Any):
    first, second = (django_user_model.objects.create_superuser(name) for name in ("first", "second"))
    open_books(100_000)
    difference = upstream_tells(99_995)
    assert difference is not None
    proposed = reconciliation.propose_adjustment(difference, actor=first, reason="x")
    kind = KINDS["difference"]
    read = kind.reasons

    def settle() -> None:
        try:
            reconciliation.approve_adjustment(proposed, actor=second)
        finally:
            connections.close_all()

    def read_slowly(now: Any) -> list[Reason]:
        reasons = read(now)
        if reasons:
            thread = threading.Thread(target=settle)
            thread.start()
            thread.join(10)
        return reasons

    monkeypatch.setattr(kind, "reasons", read_slowly)
    alerts.evaluate_alerts()

    assert Difference.objects.get().state == "acknowledged"
    assert not Alert.objects.exists()


def test_an_evaluation_at_rest_takes_few_statements(django_assert_num_queries: Any):
    open_books(5_000_000)
    alerts.evaluate_alerts()

    # The lock and its end, the open alerts, the rows with the shop's state, late orders, the closed
    # days, waiting approvals, the last use of the emergency account, people who acted alone, drawers,
    # complaints, the first due times of the background.
    with django_assert_num_queries(12):
        alerts.evaluate_alerts()


def test_an_evaluator_that_died_holds_up_nobody_for_long(settings: Any):
    settings.POLICIES = {"alert_low_balance": 100_000}
    open_books(5_000)
    give_heartbeats()
    Evaluation.objects.create(turn_until=timezone.now() + dt.timedelta(seconds=20))
    alerts.evaluate_alerts()
    assert not Alert.objects.exists()

    Evaluation.objects.update(turn_until=timezone.now())
    alerts.evaluate_alerts()

    assert Alert.objects.get().kind == "low_balance"


def test_who_comes_during_an_evaluation_leaves_it_to_the_first(monkeypatch: Any):
    reads: list[str] = []
    everybody_is_there = threading.Event()

    def read(_now: Any) -> list[Reason]:
        reads.append("read")
        assert everybody_is_there.wait(10)
        return []

    def evaluate_second() -> None:
        while not reads:
            everybody_is_there.wait(0.01)
        alerts.evaluate_alerts()
        everybody_is_there.set()

    monkeypatch.setattr(KINDS["low_balance"], "reasons", read)
    assert at_once(alerts.evaluate_alerts, evaluate_second) == [None, None]

    assert reads == ["read"]
    alerts.evaluate_alerts()
    assert reads == ["read", "read"]
