"""A run with nothing new is one statement, which adds it to the last run's count; anything that may be new is read in
full."""

import datetime as dt
from typing import Any

import pytest
import time_machine
from django.db import connection, transaction
from django.utils import timezone

from ledger.models import Books, Entry, Flaw, Proof
from purchases.services import Decision, apply_verdict
from purchases.states import Status
from reconciliation import services as reconciliation
from reconciliation.models import Difference, ReconciliationRun
from reconciliation.services.on_demand import reconcile_books
from reconciliation.services.repeating import repeat_last_run
from testing.database import past_triggers
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


def test_a_run_with_nothing_new_is_one_statement(balanced: ReconciliationRun, django_assert_num_queries: Any):
    with time_machine.travel(timezone.now() + dt.timedelta(seconds=1), tick=False):  # not in the next day
        with django_assert_num_queries(1):
            run = reconciliation.reconcile()
        assert run.at == Proof.objects.get().proved_at == timezone.now()

    assert run == balanced
    assert (run.state, run.reported, run.difference, run.blocking) == ("balanced", OPENED - PRICE, 0, [])
    assert run == ReconciliationRun.objects.get(pk=run.pk)


def test_the_run_of_beat_with_nothing_new_is_two_statements(django_assert_num_queries: Any):
    with django_assert_num_queries(2):
        reconcile_books()


def test_a_full_run_finds_the_same(balanced: ReconciliationRun, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("reconciliation.services.reconciling.repeat_last_run", lambda: None)

    assert reconciliation.reconcile() == balanced
    assert ReconciliationRun.objects.latest("pk") == balanced


def test_a_person_always_gets_a_run_of_their_own(balanced: ReconciliationRun):
    assert reconciliation.reconcile(ReconciliationRun.Trigger.PERSON) != balanced


@pytest.mark.parametrize(
    ("statement", "flaw", "amount"),
    [
        ("UPDATE ledger_books SET balance = balance + 1", Flaw.CACHED, 1),
        ("UPDATE ledger_books SET reserved = reserved + 1", Flaw.CACHED, 1),
        ("UPDATE ledger_books SET found = found + 1", Flaw.FOUND, 1),
        ("UPDATE reconciliation_reconciliation SET booked = booked - 1", Flaw.KEPT, 1),
        ("UPDATE reconciliation_reconciliation SET outside = outside - 1", Flaw.KEPT, 1),
        ("DELETE FROM ledger_books", Flaw.CACHED, PRICE - OPENED),
    ],
)
def test_a_changed_sum_is_found_by_the_next_run(statement: str, flaw: str, amount: int):
    with past_triggers() as cursor:
        cursor.execute(statement)

    run = reconcile_books()

    proof = Proof.objects.get()
    assert (run.state, proof.flaw, proof.flaw_amount) == ("unexplained", flaw, amount)


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


@pytest.mark.parametrize("changed", CHANGED)
def test_nothing_is_repeated_that_a_full_run_says_otherwise(changed: str, django_user_model: Any, monkeypatch: Any):
    difference = upstream_tells(OPENED - PRICE + 1_000)
    assert difference is not None
    reconciliation.acknowledge_top_up(difference, actor=django_user_model.objects.create_superuser("admin"))
    reconciliation.reconcile()
    assert repeat_last_run() is not None
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(CHANGED[changed])

    repeated = repeat_last_run()
    monkeypatch.setattr("reconciliation.services.reconciling.repeat_last_run", lambda: None)

    assert repeated is None or reconciliation.reconcile().state == "balanced"


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


def test_a_new_reading_is_compared(balanced: ReconciliationRun):
    read_balance(OPENED - PRICE - 7)

    assert reconciliation.reconcile() != balanced
    assert Difference.objects.get().amount == -7


def test_an_open_difference_is_not_repeated(django_user_model: Any):
    difference = upstream_tells(OPENED - PRICE + 1_000)
    assert repeat_last_run() is None

    assert difference is not None
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
