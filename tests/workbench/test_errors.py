"""Errors in groups: counted, with first, last and trend, by queries that read no table from end to end."""

import datetime as dt

import pytest
from django.test import Client
from django.utils import timezone

from callbacks.models import Callback, CallbackRefusalCount, RefusalReason
from callbacks.services import process_batch
from purchases.models import Incident
from purchases.states import Status
from testing.callbacks import body_for, post
from testing.database import statements
from testing.factories import make_order
from tests.gateway.helpers import kept_exchange
from workbench.services import errors
from workbench.services.errors import callback_errors, exchange_errors

NOT_FOUND, TIMEOUT = "Rejected: TRANSACTION_NOT_FOUND", "OutcomeUnknown: timeout"


def test_exchanges_are_grouped_by_endpoint_and_error(db: None):
    now = timezone.now()
    kept_exchange("R0")
    first = kept_exchange("R1", at=now - dt.timedelta(days=3), error=NOT_FOUND)
    kept_exchange("R2", at=now - dt.timedelta(hours=5, minutes=1), error=NOT_FOUND)
    last = kept_exchange("R3", at=now, error=NOT_FOUND)
    kept_exchange("R4", at=now - dt.timedelta(minutes=90), error=NOT_FOUND, endpoint="bill_pay")
    kept_exchange("R5", at=now - dt.timedelta(minutes=91), error=TIMEOUT)

    groups = {(group.about, group.error): group for group in exchange_errors()}

    assert list(groups) == [
        ("transaction_status", NOT_FOUND),
        ("bill_pay", NOT_FOUND),
        ("transaction_status", TIMEOUT),
    ]
    group = groups["transaction_status", NOT_FOUND]
    assert (group.count, group.first, group.last, group.last_pk) == (3, first.sent_at, last.sent_at, last.pk)
    assert (sum(group.trend), group.trend[-1], group.trend[-6]) == (2, 1, 1)


def test_a_group_is_counted_up_to_a_bound(db: None, monkeypatch: pytest.MonkeyPatch, auditor: Client):
    monkeypatch.setattr(errors, "MOST_COUNTED", 3)
    for number in range(6):
        kept_exchange(f"R{number}", error=TIMEOUT)

    assert exchange_errors()[0].count == 4


def test_callbacks_are_grouped_by_what_is_wrong(auditor: Client):
    order = make_order(Status.SUCCESS, trx_id="TRX1", price=10_500)
    stranger = make_order(Status.QUEUED, destination="081200000009")
    stranger.ref_id = "NOBODYS"
    post(body_for(stranger, trx_id="X"))
    post(body_for(order, status="failed", trx_id="TRX1", price=10_500))
    process_batch(50)
    CallbackRefusalCount.objects.create(day=timezone.localdate(), reason=RefusalReason.SIGNATURE, count=3)

    groups = {(group.about, group.error): group.count for group in callback_errors()}

    assert groups["callback", "unmatched"] == 1
    assert groups["incident", Incident.Kind.CONTRADICTION] == 1
    assert groups["refusal", "signature"] == 3


def test_callbacks_that_our_code_failed_on_have_a_bound(db: None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(errors, "MOST_COUNTED", 1)
    now = timezone.now()
    last, *_others, first = (
        Callback.objects.create(
            body=b"{}",
            content_hash=str(minutes),
            is_signed=True,
            headers={},
            tries=tries,
            received_at=now - dt.timedelta(minutes=minutes),
        )
        for minutes, tries in enumerate((1, 0, 2, 1))
    )

    (group,) = callback_errors()

    assert (group.error, group.count) == ("fault", 2)
    assert (group.first, group.last, group.last_pk) == (first.received_at, last.received_at, last.pk)


def test_the_page_leads_to_the_group_and_its_last_one(auditor: Client):
    assert 'class="calm"' in auditor.get("/exchanges/errors/").content.decode()
    last = kept_exchange("R1", error=TIMEOUT)
    auditor.get("/exchanges/errors/")
    with statements() as asked:
        page = auditor.get("/exchanges/errors/").content.decode()

    assert "/exchanges/?endpoint=transaction_status&amp;error=OutcomeUnknown%3A+timeout" in page
    assert f'href="/exchanges/{last.pk}/"' in page
    assert len(asked) <= 10
