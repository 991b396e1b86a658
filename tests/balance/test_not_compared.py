"""Books that were not compared with the upstream's balance for long are an alert, unless another one says why."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from django.utils import timezone

from backoffice import health
from balance import services as balance
from balance.models import Alert, Books, Reconciliation, UpstreamAccount
from balance.services.alerts import keep_alerts
from tests.balance.test_ledger import open_with

pytestmark = pytest.mark.django_db(transaction=True)

WARNING, CRITICAL = Alert.Severity.WARNING, Alert.Severity.CRITICAL
NONE: list[tuple[str, int]] = []


@pytest.fixture(autouse=True)
def all_is_well(settings: Any) -> None:
    settings.ALERT_LOW_BALANCE = 0
    for name in health.PROCESSES:
        health.note_life(name)


def ago(minutes: float) -> dt.datetime:
    return timezone.now() - dt.timedelta(minutes=minutes)


def compared(minutes_ago: float) -> None:
    open_with(1_000_000)
    Reconciliation.objects.update(compared_at=ago(minutes_ago))


def found() -> list[tuple[str, int]]:
    """Kind and severity of what is open, less what the upstream's own two alerts say."""
    balance.evaluate_alerts()
    others = ["credentials_refused", "upstream_unreachable"]
    return list(Alert.objects.open().exclude(kind__in=others).values_list("kind", "severity"))


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        (14, NONE),
        (16, [("not_compared", WARNING)]),
        (59, [("not_compared", WARNING)]),
        (61, [("not_compared", CRITICAL)]),
    ],
)
def test_it_is_a_warning_after_a_quarter_of_an_hour_and_critical_after_an_hour(minutes: int, expected: Any):
    compared(minutes)

    assert found() == expected


def test_it_ends_by_itself_with_the_next_comparison():
    compared(16)
    assert found() == [("not_compared", WARNING)]
    alert = Alert.objects.get()
    assert alert.facts == {"since": Reconciliation.objects.get().compared_at.isoformat()}

    Reconciliation.objects.update(compared_at=timezone.now())

    assert found() == NONE


def test_books_that_are_not_opened_have_nothing_to_compare():
    balance.reconcile()

    assert found() == NONE


def test_what_was_never_compared_counts_from_the_opening():
    open_with(1_000_000)
    Reconciliation.objects.update(compared_at=None)
    Books.objects.update(opened_at=ago(16))

    assert found() == [("not_compared", WARNING)]


@pytest.mark.parametrize("why", ["refused_since", "unreachable_since"])
@pytest.mark.parametrize(("minutes", "expected"), [(59, NONE), (61, [("not_compared", CRITICAL)])])
def test_an_upstream_that_is_away_explains_it_for_an_hour(why: str, minutes: int, expected: Any):
    compared(minutes)
    UpstreamAccount.objects.create(**{why: ago(minutes - 1)})

    assert found() == expected


def test_an_upstream_that_is_just_back_is_given_time():
    compared(45)
    account = UpstreamAccount.objects.create(unreachable_since=ago(44))
    found()

    account.unreachable_since, account.last_answer_at = None, timezone.now()
    account.save()
    assert found() == NONE
    assert Alert.objects.get(kind="upstream_unreachable").closed_at is not None

    Alert.objects.update(closed_at=ago(16))
    keep_alerts(Alert.Kind.UPSTREAM_UNREACHABLE, [])
    assert found() == [("not_compared", WARNING)]


def test_a_shop_that_was_off_overnight_is_not_alarmed_before_it_has_asked():
    compared(600)
    UpstreamAccount.objects.create(last_answer_at=ago(600))
    assert found() == NONE

    UpstreamAccount.objects.update(last_answer_at=timezone.now())  # it answers, and still nothing is compared
    assert found() == [("not_compared", CRITICAL)]
