"""Exchanges are kept for their days, and longer while an order, a check or a comparison needs them."""

import datetime as dt

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from gateway.models import Exchange
from gateway.services import latest_reading, next_number, recording
from purchases.states import Status
from reconciliation.models import Reconciliation
from reconciliation.services import prove
from testing.factories import make_check, make_order
from tests.gateway.helpers import kept_exchange, read_balance
from workbench.services.forgetting import forget_old_exchanges

LONG_AGO = timezone.now() - dt.timedelta(days=100)
pytestmark = pytest.mark.django_db


def left() -> set[str]:
    """The ref_ids of the kept exchanges."""
    return set(Exchange.objects.filter(ref_id__gt="").values_list("ref_id", flat=True))


def test_old_exchanges_go_and_younger_ones_stay():
    kept_exchange("OLD", at=LONG_AGO)
    kept_exchange("OLD-ERROR", at=LONG_AGO, error="OutcomeUnknown: timeout")
    kept_exchange("YOUNG", at=timezone.now() - dt.timedelta(days=89))

    assert forget_old_exchanges() == 2
    assert left() == {"YOUNG"}
    assert forget_old_exchanges() == 0


def test_what_something_open_needs_stays():
    open_order = make_order(Status.PENDING)
    ended_lately = make_order(Status.SUCCESS, destination="081200000001")
    ended = make_order(Status.SUCCESS, destination="081200000002", created_at=LONG_AGO, final_at=LONG_AGO)
    asked = make_check("none")
    for ref_id in (open_order.ref_id, ended_lately.ref_id, ended.ref_id, asked.ref_id):
        kept_exchange(ref_id, at=LONG_AGO)

    assert forget_old_exchanges() == 1
    assert left() == {open_order.ref_id, ended_lately.ref_id, asked.ref_id}


def test_what_is_not_compared_yet_stays():
    kept_exchange("BEFORE", at=LONG_AGO)
    quiet = read_balance(1_000, at=LONG_AGO)
    kept_exchange("AFTER", at=LONG_AGO)
    Reconciliation.objects.create(quiet=quiet, booked=1_000, judged_no=next_number())

    forget_old_exchanges()

    assert left() == {"AFTER"}


def test_balances_stay_and_the_proof_goes_on():
    reading = read_balance(1_000, at=LONG_AGO)
    failed = kept_exchange("", at=LONG_AGO, endpoint="balance", error="OutcomeUnknown: timeout")

    assert forget_old_exchanges() == 1
    assert not Exchange.objects.filter(pk=failed.pk).exists()
    assert latest_reading() == reading
    prove()


def test_many_go_in_small_batches(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recording, "BATCH", 3)
    needed = make_order(Status.PENDING)
    for number in range(10):
        kept_exchange(needed.ref_id, at=LONG_AGO + dt.timedelta(minutes=number))
        kept_exchange(f"OLD{number}", at=LONG_AGO + dt.timedelta(minutes=number, seconds=1))

    assert forget_old_exchanges() == 10
    assert left() == {needed.ref_id}


def test_the_database_refuses_to_delete_young_ones():
    exchange = kept_exchange("R1", at=timezone.now() - dt.timedelta(days=89))
    with pytest.raises(DatabaseError, match="is kept"), transaction.atomic():
        Exchange.objects.filter(pk=exchange.pk)._raw_delete("default")
