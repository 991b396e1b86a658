"""Books that were not compared with the upstream's balance are an alert, unless another alert says why."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.utils import timezone

from alerts.kinds import KINDS
from alerts.models import Alert, Severity
from alerts.services.evaluating import evaluate_alerts, keep_alerts
from gateway.models import UpstreamAccount
from gateway.services import calling
from ledger.models import Books
from reconciliation import services as reconciliation
from reconciliation.models import Reconciliation, ReconciliationRun
from testing.database import past_triggers
from testing.orders import OneAnswer
from tests.alerts.helpers import ago, give_heartbeats
from tests.ledger.helpers import open_books, upstream_tells
from upstream.error_codes import ErrorCode
from upstream.errors import Rejected

pytestmark = pytest.mark.django_db(transaction=True)

WARNING, CRITICAL = [("not_compared", Severity.WARNING)], [("not_compared", Severity.CRITICAL)]
NONE: list[tuple[str, int]] = []


def compared(minutes_ago: float) -> None:
    with time_machine.travel(ago(minutes=minutes_ago), tick=False):
        open_books(1_000_000)


def opened() -> list[tuple[str, int]]:
    """Kind and severity of the open alerts, without the two alerts about the upstream itself."""
    evaluate_alerts()
    others = ["account_refused", "unreachable"]
    return list(Alert.objects.open().exclude(kind__in=others).values_list("kind", "severity"))


def test_it_is_a_warning_after_15_minutes_then_critical_and_ends_by_itself(time_machine: Any):
    reconciliation.reconcile()
    assert opened() == NONE, "books that are not opened have nothing to compare"

    start = timezone.now()
    open_books(1_000_000)
    for minutes, expected in [(14, NONE), (16, WARNING), (59, WARNING), (61, CRITICAL)]:
        time_machine.move_to(start + dt.timedelta(minutes=minutes), tick=False)
        give_heartbeats()
        assert opened() == expected, minutes
    since = reconciliation.compared_at()
    assert since is not None
    assert Alert.objects.get().facts == {"since": since.isoformat()}

    upstream_tells(1_000_000)
    assert opened() == NONE

    # what was never compared counts from the opening
    Reconciliation.objects.update(quiet=None)
    Books.objects.update(opened_at=timezone.now() - dt.timedelta(minutes=16))
    assert opened() == WARNING


def test_a_shop_that_sells_all_day_is_given_that_day(time_machine: Any):
    start = timezone.now()
    open_books(1_000_000)
    for minutes, run_minutes, expected in [
        (16, 17, WARNING),
        (61, 17, CRITICAL),
        (11 * 60, 1, NONE),
        (13 * 60, 1, WARNING),
        (25 * 60, 1, CRITICAL),
    ]:
        time_machine.move_to(start + dt.timedelta(minutes=minutes), tick=False)
        give_heartbeats()
        at, state = timezone.now() - dt.timedelta(minutes=run_minutes), ReconciliationRun.Result.PROVISIONAL
        ReconciliationRun.objects.create(at=at, trigger="beat", state=state, blocking=["R1", "R2", "R3", "R4"])

        assert opened() == expected, minutes
    alert = Alert.objects.get(closed_at=None)
    assert (alert.facts["count"], alert.facts["orders"]) == (4, ["R1", "R2", "R3"])
    assert "R1, R2, R3" in KINDS["not_compared"].words(alert.facts, None).facts


@pytest.mark.parametrize("why", ["refused_since", "unreachable_since"])
def test_an_upstream_that_is_away_explains_it_for_an_hour(why: str, time_machine: Any):
    start = timezone.now()
    open_books(1_000_000)
    UpstreamAccount.objects.create(**{why: start + dt.timedelta(minutes=1)})
    for minutes, expected in [(59, NONE), (61, CRITICAL)]:
        time_machine.move_to(start + dt.timedelta(minutes=minutes), tick=False)
        give_heartbeats()

        assert opened() == expected, minutes


def test_an_upstream_whose_balance_request_alone_fails_does_not_explain_it():
    # given orders that are answered all day, which end each fault of the balance request within the minute
    compared(16)
    UpstreamAccount.objects.create(unreachable_since=ago(minutes=0.5), last_answer_at=ago(minutes=0.6))

    assert opened() == WARNING


def test_an_upstream_that_is_just_back_is_given_time():
    compared(45)
    account = UpstreamAccount.objects.create(unreachable_since=ago(minutes=44))
    opened()

    account.unreachable_since, account.last_answer_at = None, timezone.now()
    account.save()
    assert opened() == NONE
    assert Alert.objects.get(kind="unreachable").closed_at is not None

    with past_triggers():
        Alert.objects.update(closed_at=ago(minutes=16))
    keep_alerts("unreachable", [])
    assert opened() == WARNING


def test_a_shop_that_was_off_is_not_alarmed_before_it_asked():
    compared(600)
    UpstreamAccount.objects.create(last_answer_at=ago(minutes=600))
    assert opened() == NONE

    UpstreamAccount.objects.update(last_answer_at=timezone.now())  # the upstream answers, and still nothing is compared
    assert opened() == CRITICAL


def test_an_upstream_that_accepts_no_more_requests_does_not_explain_it(monkeypatch: pytest.MonkeyPatch):
    class Busy(OneAnswer):
        def __init__(self) -> None: ...

        def send(self, *_: Any) -> Any:
            raise Rejected(ErrorCode.RATE_LIMITED, http_status=429, retry_after=60)

    compared(16)
    UpstreamAccount.objects.create(last_answer_at=ago(minutes=16))
    monkeypatch.setattr(calling, "get_client", Busy)
    assert opened() == NONE

    with pytest.raises(Rejected):
        calling.read_balance()

    assert opened() == WARNING
