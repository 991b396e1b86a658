"""Alerts open when their reason arises, once, and close by themselves when it is gone."""

from __future__ import annotations

import datetime as dt
import time
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from backoffice import health
from balance import services as balance
from balance.models import Alert, Books, Difference, Reading, Reconciliation, Spending, UpstreamAccount
from tests.balance.test_ledger import open_with

pytestmark = pytest.mark.django_db(transaction=True)

NO_ALERT: list[tuple[str, str]] = []


@pytest.fixture(autouse=True)
def all_processes_live() -> None:
    for name in health.PROCESSES:
        health.note_life(name)


def open_alerts() -> list[tuple[str, str]]:
    balance.evaluate_alerts()
    return list(Alert.objects.open().values_list("kind", "key"))


def reading(rupiah: int) -> None:
    time.sleep(0.001)  # no two readings at one moment
    now = timezone.now()
    Reading.objects.create(balance=rupiah, source="balance", sent_at=now, received_at=now)


def spend(ref_id: str, amount: int) -> None:
    facts = {"ref_id": ref_id, "order_kind": "purchase", "amount": amount}
    with transaction.atomic():
        balance.debit(**facts)
        balance.note_charged(**facts, sent_at=timezone.now())


def test_nothing_wrong_is_no_alert():
    open_with(5_000_000)

    assert open_alerts() == NO_ALERT


def test_a_low_balance_is_one_alert_until_it_is_not_low(settings: Any):
    settings.ALERT_LOW_BALANCE = 100_000
    open_with(99_999)

    assert open_alerts() == open_alerts() == [("low_balance", "")]
    alert = Alert.objects.get()
    assert alert.facts == {"available": 99_999, "threshold": 100_000, "hours_left": None}

    reading(100_000)
    balance.reconcile()
    assert open_alerts() == NO_ALERT
    alert.refresh_from_db()
    assert alert.closed_at is not None
    assert Alert.objects.count() == 1


def test_what_is_held_counts_as_gone(settings: Any):
    settings.ALERT_LOW_BALANCE = 100_000
    open_with(100_000)

    with transaction.atomic():
        balance.hold(ref_id="B1", order_kind="purchase", amount=1)

    assert open_alerts() == [("low_balance", "")]


def test_before_the_books_are_opened_the_newest_reading_counts(settings: Any):
    settings.ALERT_LOW_BALANCE = 100_000
    assert open_alerts() == NO_ALERT

    reading(5_000)

    assert open_alerts() == [("low_balance", "")]


def test_a_balance_that_lasts_too_few_hours_of_usual_spending_is_low(settings: Any, time_machine: Any):
    settings.ALERT_LOW_BALANCE, settings.ALERT_LOW_BALANCE_HOURS = 100, 4.0
    start = timezone.now()
    time_machine.move_to(start - dt.timedelta(days=2), tick=False)
    open_with(10_000_000)
    spend("B1", 4_800_000)
    time_machine.move_to(start, tick=False)
    Reconciliation.objects.update(compared_at=start)
    for name in health.PROCESSES:
        health.note_life(name)
    assert balance.usual_spending_per_hour(timezone.now()) == 100_000
    assert open_alerts() == NO_ALERT

    spend("B2", 4_700_000)

    assert open_alerts() == [("low_balance", "")]
    assert Alert.objects.get().facts["hours_left"] == round(500_000 / 197_917, 1)


def test_an_unexplained_difference_is_critical_and_a_top_up_is_none():
    open_with(5_000_000)
    for rupiah in (5_000_500, 5_000_499):
        reading(rupiah)
        balance.reconcile()
    taken, _topup = Difference.objects.all()

    assert open_alerts() == [("unexplained_difference", str(taken.pk))]
    alert = Alert.objects.get()
    assert (alert.severity, alert.facts["amount"]) == (Alert.Severity.CRITICAL, -1)


@pytest.mark.parametrize(
    ("minutes", "expected"), [(4, NO_ALERT), (6, [("unexplained_difference", "undecided")])], ids=["soon", "late"]
)
def test_a_proven_change_whose_amount_stays_unknown_is_an_alert_that_names_the_order(minutes: int, expected: Any):
    open_with(5_000_000)
    row = Reconciliation.objects.get()
    changed_at = timezone.now() - dt.timedelta(minutes=minutes)
    stories = [[-1, [], 1, [-1]], [9_999, [["B1", "debit"]], 1, [9_999]]]
    row.state = {**row.state, "changed_at": changed_at.isoformat(), "stories": stories}
    row.save()

    assert open_alerts() == expected
    for alert in Alert.objects.all():
        assert alert.facts == {"to_at": changed_at.isoformat(), "amounts": [-1, 9_999], "orders": ["B1"]}
    assert balance.position().state == "provisional"


def test_books_that_were_changed_in_the_database_itself_are_critical():
    open_with(5_000_000)
    Books.objects.update(balance=5_123_456)

    assert open_alerts() == [("unexplained_difference", "books")]
    alert = Alert.objects.get()
    assert (alert.severity, alert.facts) == (Alert.Severity.CRITICAL, {"books_off_by": 123_456})

    Books.objects.update(balance=5_000_000)
    assert open_alerts() == NO_ALERT


def test_an_upstream_that_refuses_us_is_an_alert_at_once():
    UpstreamAccount.objects.create(refused_since=timezone.now(), refused_code="INVALID_SIGNATURE")

    assert open_alerts() == [("credentials_refused", "")]
    assert Alert.objects.get().facts["error_code"] == "INVALID_SIGNATURE"

    UpstreamAccount.objects.update(refused_since=None, refused_code="")
    assert open_alerts() == NO_ALERT


@pytest.mark.parametrize(("seconds", "expected"), [(110, NO_ALERT), (130, [("upstream_unreachable", "")])])
def test_an_unreachable_upstream_is_an_alert_after_two_minutes(seconds: int, expected: Any):
    UpstreamAccount.objects.create(unreachable_since=timezone.now() - dt.timedelta(seconds=seconds))

    assert open_alerts() == expected


@pytest.mark.parametrize(("minutes", "expected"), [(14, NO_ALERT), (16, [("order_unknown", "B1")])])
def test_an_order_unknown_for_a_quarter_of_an_hour_is_an_alert(minutes: int, expected: Any):
    sent_at = timezone.now() - dt.timedelta(minutes=minutes)
    Spending.objects.create(ref_id="B1", order_kind="purchase", amount=10_000, sent_at=sent_at)

    assert open_alerts() == expected

    balance.note_charged(ref_id="B1", order_kind="purchase", amount=10_000, sent_at=sent_at)
    assert open_alerts() == NO_ALERT


def test_a_silent_process_is_named(monkeypatch: Any):
    monkeypatch.setattr(health, "silent_processes", lambda: ["beat"])
    assert open_alerts() == [("process_silent", "beat")]

    monkeypatch.setattr(health, "silent_processes", list)
    assert open_alerts() == NO_ALERT


def test_a_redis_that_is_away_is_named_instead_of_the_processes(settings: Any, monkeypatch: Any):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    health._redis.cache_clear()
    try:
        assert open_alerts() == [("process_silent", "redis")]
    finally:
        monkeypatch.undo()
        health._redis.cache_clear()


def test_the_database_itself_keeps_one_open_alert_of_a_kind_and_key():
    Alert.objects.create(kind="low_balance", severity=2)

    with pytest.raises(IntegrityError), transaction.atomic():
        Alert.objects.create(kind="low_balance", severity=2)
