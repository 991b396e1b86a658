"""The entries are the books: every change made directly in the database is found, with its amount and first row."""

from typing import Any

import pytest
from django.db.models import Sum

from ledger.models import Books, Entry, Flaw, Proof
from purchases.models import Order
from purchases.services import Decision, apply_verdict
from purchases.states import Status
from reconciliation.models import Difference
from reconciliation.services import prove, proving
from testing.database import tamper, undone
from testing.orders import STAFF, never_arrived, place, report, sent
from tests.ledger.helpers import open_books, spend

pytestmark = pytest.mark.django_db(transaction=True)

OPENED, PRICE = 5_000_000, 10_500


@pytest.fixture
def books() -> list[Order]:
    """Books opened with Rp5.000.000; three orders were charged since."""
    open_books(OPENED)
    orders = [spend(PRICE) for _ in range(3)]
    assert prove().flaw == ""
    return orders


def debit_of(order: Order) -> Entry:
    return Entry.objects.get(ref_id=order.ref_id, kind="debit")


def test_a_cut_debit_is_found_at_its_entry_and_with_mended_sums_at_its_order(books: list[Order]):
    debit = debit_of(books[0])
    tamper(
        "UPDATE ledger_entry SET amount = amount - 500, balance_change = balance_change + 500 WHERE id = %s", debit.pk
    )

    proof = prove(everything=True)

    assert (proof.flaw, proof.flaw_entry, abs(proof.flaw_amount)) == (Flaw.RUNNING, debit.pk, 500)

    tamper("UPDATE ledger_entry SET balance_after = balance_after + 500 WHERE id >= %s", debit.pk)
    tamper("UPDATE ledger_books SET balance = balance + 500")

    proof = prove(everything=True)

    assert (proof.flaw, proof.flaw_entry, proof.flaw_amount) == (Flaw.ORDER, debit.pk, 500)


def test_a_flaw_stays_until_everything_is_proved(books: list[Order]):
    tamper("UPDATE ledger_books SET balance = balance + 250000")
    assert prove(everything=True).flaw
    tamper("UPDATE ledger_books SET balance = balance - 250000")

    assert prove().flaw
    assert prove(everything=True).flaw == ""
    assert Proof.objects.get().all_proved_at is not None


def test_a_proof_of_untouched_books_goes_on_to_the_newest_entry(books: list[Order], django_assert_max_num_queries: Any):
    with django_assert_max_num_queries(20):
        proof = prove()

    newest = Entry.objects.latest("pk")
    assert (proof.upto, proof.balance, proof.flaw) == (newest.pk, newest.balance_after, "")
    assert Books.objects.get().balance == Proof.objects.get().balance
    assert not Difference.objects.exists()


def test_a_wrong_reservation_is_found(books: list[Order]):
    order = sent()
    assert prove().flaw == ""

    with undone():  # a changed status
        tamper(
            "UPDATE purchases_order SET status = 'success', accepted_no = sent_no, ended_no = sent_no,"
            " final_at = now(), next_poll_at = NULL WHERE id = %s",
            order.pk,
        )
        proof = prove(everything=True)
        reserved = Entry.objects.get(ref_id=order.ref_id, kind="hold")
        assert (proof.flaw, proof.flaw_amount, proof.flaw_entry) == (Flaw.RESERVED, reserved.amount, reserved.pk)
    with undone():  # an open order without any reservation
        tamper("DELETE FROM ledger_entry WHERE ref_id = %s", order.ref_id)
        tamper("UPDATE ledger_books SET reserved = 0")
        proof = prove(everything=True)
        assert (proof.flaw, proof.flaw_amount) == (Flaw.RESERVED, -order.max_price)
    tamper(
        "INSERT INTO ledger_entry (kind, amount, balance_change, reserved_change, balance_after, reserved_after,"
        " ref_id, order_kind, reason, at)"
        " SELECT 'release', reserved, 0, -reserved, balance, 0, %s, 'purchase', '', now() FROM ledger_books",
        order.ref_id,
    )
    tamper("UPDATE ledger_books SET reserved = 0")
    proof = prove()  # an invented release is found by the next run
    assert (proof.flaw, proof.flaw_amount) == (Flaw.RESERVED, -order.max_price)


def test_every_status_of_an_order_has_its_reservation(books: list[Order]):
    never_arrived(sent())
    waiting, placed = sent(), place()
    report(waiting, "pending")
    report(sent(), "failed")
    apply_verdict(never_arrived(sent()).pk, Decision(status=Status.CLOSED, source=STAFF))

    assert prove(everything=True).flaw == ""
    assert Entry.objects.filter(ref_id=placed.ref_id).aggregate(sum=Sum("reserved_change"))["sum"] == placed.max_price


def test_a_deleted_last_entry_is_missing_and_one_with_an_earlier_time_is_found(books: list[Order]):
    debit = debit_of(books[1])
    with undone():
        tamper("UPDATE ledger_entry SET at = at - interval '1 day' WHERE id = %s", debit.pk)
        proof = prove(everything=True)
        assert (proof.flaw, proof.flaw_entry, proof.flaw_amount) == (Flaw.TIME, debit.pk, PRICE)
    with undone():
        tamper("DELETE FROM ledger_entry WHERE id >= %s", debit_of(books[2]).pk)
        tamper(
            "UPDATE ledger_books SET (balance, reserved) ="
            " (SELECT balance_after, reserved_after FROM ledger_entry ORDER BY id DESC LIMIT 1)"
        )
        assert prove(everything=True).flaw == Flaw.MISSING
    refunded = spend(PRICE, refunded=True)
    tamper("DELETE FROM ledger_entry WHERE ref_id = %s AND kind = 'refund'", refunded.ref_id)
    tamper("UPDATE ledger_books SET balance = balance - %s", PRICE)

    proof = prove(everything=True)

    assert (proof.flaw, proof.flaw_entry, proof.flaw_amount) == (Flaw.MISSING, debit_of(refunded).pk, PRICE)


def test_a_proof_in_many_parts_finds_the_same(books: list[Order], monkeypatch: Any):
    monkeypatch.setattr(proving, "ENTRIES_AT_ONCE", 2)
    monkeypatch.setattr(proving, "ORDERS_AT_ONCE", 1)
    spend(PRICE, refunded=True)
    waiting = sent()
    assert prove(everything=True).flaw == ""
    assert Proof.objects.get().upto == Entry.objects.latest("pk").pk

    tamper("UPDATE purchases_order SET price = price + 500, max_price = max_price + 500 WHERE id = %s", waiting.pk)

    assert (prove(everything=True).flaw, prove().flaw_amount) == (Flaw.RESERVED, -500)


def test_a_run_looks_at_new_entries_only(books: list[Order]):
    tamper("UPDATE ledger_entry SET amount = 1, balance_change = -1 WHERE id = %s", debit_of(books[0]).pk)
    spend(PRICE)

    assert prove().flaw == ""
    assert prove(everything=True).flaw == Flaw.RUNNING


def test_a_short_proof_never_hides_what_a_whole_one_found(books: list[Order], monkeypatch: Any):
    look = proving._look

    def slow_look(proof: Proof, *, everything: bool) -> Any:
        flaw = look(proof, everything=everything)
        if not everything:
            tamper("UPDATE ledger_entry SET amount = 1, balance_change = -1 WHERE id = %s", debit_of(books[0]).pk)
            prove(everything=True)
        return flaw

    monkeypatch.setattr(proving, "_look", slow_look)

    assert prove().flaw == Flaw.RUNNING
    assert Proof.objects.get().flaw == Flaw.RUNNING
