"""A run with nothing new is one statement, which adds it to the last run's count; anything that may be new is read in
full."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.utils import timezone

from ledger.models import Books, Entry, Flaw, Proof
from purchases.services import Decision, apply_verdict
from purchases.states import Status
from reconciliation import services as reconciliation
from reconciliation.models import ReconciliationRun
from reconciliation.services.on_demand import reconcile_books
from reconciliation.services.repeating import repeat_last_run
from testing.database import past_triggers, undone
from testing.orders import STAFF, never_arrived, report, sent
from tests.gateway.helpers import read_balance
from tests.ledger.helpers import open_books, spend, upstream_tells

pytestmark = pytest.mark.django_db(transaction=True)

OPENED, PRICE = 5_000_000, 10_500


@pytest.fixture(autouse=True)
def balanced() -> ReconciliationRun:
    """Opened and balanced books; one order was charged and compared since."""
    open_books(OPENED)
    spend(PRICE)
    read_balance(OPENED - PRICE)
    run = reconciliation.reconcile()
    assert run.state == "balanced"
    return run


def test_a_run_with_nothing_new_is_one_statement(
    balanced: ReconciliationRun, django_assert_num_queries: Any, monkeypatch: pytest.MonkeyPatch
):
    with time_machine.travel(timezone.now() + dt.timedelta(seconds=1), tick=False):  # not in the next day
        with django_assert_num_queries(1):
            run = reconciliation.reconcile()
        assert run.at == Proof.objects.get().proved_at == timezone.now()
    with django_assert_num_queries(2):
        reconcile_books()  # the run of beat

    assert run == balanced
    assert (run.state, run.reported, run.difference, run.blocking) == ("balanced", OPENED - PRICE, 0, [])
    assert run == ReconciliationRun.objects.get(pk=run.pk)
    monkeypatch.setattr("reconciliation.services.reconciling.repeat_last_run", lambda: None)
    assert reconciliation.reconcile() == balanced  # a full run finds the same
    assert ReconciliationRun.objects.latest("pk") == balanced
    monkeypatch.undo()
    assert reconciliation.reconcile(ReconciliationRun.Trigger.PERSON) != balanced


SUMS = [
    ("UPDATE ledger_books SET balance = balance + 1", Flaw.CACHED, 1),
    ("UPDATE ledger_books SET reserved = reserved + 1", Flaw.CACHED, 1),
    ("UPDATE ledger_books SET found = found + 1", Flaw.FOUND, 1),
    ("UPDATE reconciliation_reconciliation SET booked = booked - 1", Flaw.KEPT, 1),
    ("UPDATE reconciliation_reconciliation SET outside = outside - 1", Flaw.KEPT, 1),
    ("DELETE FROM ledger_books", Flaw.CACHED, PRICE - OPENED),
]


def test_a_changed_sum_is_found_by_the_next_run():
    for statement, flaw, amount in SUMS:
        with undone():
            with past_triggers() as cursor:
                cursor.execute(statement)
            run, proof = reconcile_books(), Proof.objects.get()
            assert (run.state, proof.flaw, proof.flaw_amount) == ("unexplained", flaw, amount), statement


# Past triggers and foreign keys, like the owner of the database.
CHANGED = {
    "old entry": "UPDATE ledger_entry SET balance_after = balance_after + 1 WHERE kind = 'opening'",
    "newest entry gone": "DELETE FROM ledger_entry WHERE id = (SELECT max(id) FROM ledger_entry)",
    "order": "UPDATE purchases_order SET status = 'failed', price = price + 1",
    "difference": "UPDATE reconciliation_difference SET amount = amount + 1",
    "difference open": "UPDATE reconciliation_difference SET entry_id = NULL, state = 'open', acknowledged_at = NULL",
    "difference gone": "DELETE FROM reconciliation_difference",
    "reading": "UPDATE gateway_exchange SET balance = balance + 7",
    "reading without balance": "UPDATE gateway_exchange SET balance = NULL",
    "judged less": "UPDATE reconciliation_reconciliation SET judged_no = 0",
    "compared before": "UPDATE reconciliation_reconciliation SET quiet_id = (SELECT min(id) FROM gateway_exchange)",
    "never compared": "UPDATE reconciliation_reconciliation SET quiet_id = NULL",
    "proof": "UPDATE ledger_proof SET balance = balance + 1",
    "proved less": "UPDATE ledger_proof SET upto = 0",
}


def test_nothing_is_repeated_that_a_full_run_says_otherwise(django_user_model: Any, monkeypatch: Any):
    difference = upstream_tells(OPENED - PRICE + 1_000)
    assert difference is not None
    reconciliation.acknowledge_top_up(difference, actor=django_user_model.objects.create_superuser("admin"))
    reconciliation.reconcile()
    assert repeat_last_run() is not None
    for changed, statement in CHANGED.items():
        with undone(), monkeypatch.context() as in_full:
            with past_triggers() as cursor:
                cursor.execute(statement)
            repeated = repeat_last_run()
            in_full.setattr("reconciliation.services.reconciling.repeat_last_run", lambda: None)
            assert repeated is None or reconciliation.reconcile().state == "balanced", changed


def test_an_invented_entry_is_found_by_the_next_run():
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ledger_entry (kind, amount, balance_change, reserved_change, balance_after, reserved_after,"
            " ref_id, order_kind, reason, at)"
            " SELECT 'topup', 777, 777, 0, balance + 777, reserved, '', '', '', now() FROM ledger_books"
        )
        cursor.execute("UPDATE ledger_books SET balance = balance + 777")

    assert reconcile_books().state == "unexplained"
    proof, newest = Proof.objects.get(), Entry.objects.latest("pk")
    assert (proof.flaw, proof.flaw_amount, proof.flaw_entry) == (Flaw.UNFOUNDED, 777, newest.pk)


def test_a_flaw_is_never_repeated_as_balanced():
    Proof.objects.update(flaw=Flaw.DAY, flaw_amount=1, all_proved_at=timezone.now())

    assert repeat_last_run() is None
    assert reconcile_books().state == "unexplained"


def test_an_open_difference_is_not_repeated(django_user_model: Any):
    difference = upstream_tells(OPENED - PRICE + 1_000)
    assert repeat_last_run() is None

    assert difference is not None
    assert difference.amount == 1_000
    reconciliation.acknowledge_top_up(difference, actor=django_user_model.objects.create_superuser("admin"))

    assert repeat_last_run() is None
    assert reconciliation.reconcile().state == "balanced"
    assert repeat_last_run() is not None


def test_what_orders_do_is_looked_at(balanced: ReconciliationRun):
    order = sent()
    assert repeat_last_run() is None
    assert reconciliation.reconcile() == balanced
    report(order, "success")

    assert repeat_last_run() is None
    read_balance(OPENED - 2 * PRICE)
    assert reconciliation.reconcile().state == "balanced"
    assert Books.objects.get().balance == OPENED - 2 * PRICE
    assert repeat_last_run() is not None

    apply_verdict(never_arrived(sent()).pk, Decision(status=Status.CLOSED, source=STAFF))
    assert repeat_last_run() is None
    assert reconciliation.reconcile().state == "balanced"
