"""A past day is closed once, pages read it as stored, and a nightly proof compares it with the entries."""

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import ProgrammingError, connection, transaction
from django.test.utils import CaptureQueriesContext

from alerts.models import Alert
from alerts.services import evaluate_alerts
from ledger import services as ledger
from ledger.models import Books, ClosedDay, Entry, Flaw, RunningDay
from ledger.services.closing import closing_of
from reconciliation.services import last_proof, prove, reconcile
from reconciliation.tasks import prove_books
from testing.database import tamper
from testing.orders import at_once
from tests.ledger.helpers import closing_lines, open_books, spend

pytestmark = pytest.mark.django_db(transaction=True)

FIRST = dt.date(2026, 11, 18)
OPENED, PRICE = 1_000_000, 10_500


@pytest.fixture
def clock(time_machine: Any) -> Any:
    """A function that moves the clock to an hour of a day of November 2026 in Jakarta."""

    def at(day: int, hour: int = 12) -> None:
        moment = dt.datetime(2026, 11, day, hour, 30, tzinfo=ZoneInfo("Asia/Jakarta"))
        time_machine.move_to(moment, tick=False)

    return at


@pytest.fixture
def three_days(clock: Any) -> Any:
    """Books opened and one order charged on the 18th; nothing on the 19th; a refund on the 20th; now the 21st."""
    clock(18)
    open_books(OPENED)
    spend(PRICE)
    clock(20)
    spend(PRICE, kind="bill", refunded=True)
    clock(21)
    return clock


def test_each_day_that_is_over_is_kept_once_and_never_changes(three_days: Any):
    prove_books()  # the nightly task
    ledger.close_days()

    assert last_proof().flaw == ""
    kept = {row.day.day: row for row in ClosedDay.objects.all()}
    assert list(kept) == [18, 19, 20]
    assert [row.balance for row in kept.values()] == [OPENED - PRICE] * 3
    assert (kept[19].sums, kept[19].last_entry) == ({}, kept[18].last_entry)
    assert kept[20].last_entry == Entry.objects.latest("pk").pk
    assert kept[20].lowest == OPENED - 2 * PRICE
    assert kept[20].sums["refund:bill"] == {"count": 1, "balance": PRICE, "reserved": 0}
    assert kept[20].sums["hold:bill"] == {"count": 1, "balance": 0, "reserved": PRICE}

    for change in (
        "UPDATE ledger_closedday SET balance = 0",
        "DELETE FROM ledger_closedday",
        "TRUNCATE ledger_closedday",
    ):
        with pytest.raises(ProgrammingError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(change)


def test_two_who_close_at_once_close_each_day_once(three_days: Any):
    at_once(ledger.close_days, ledger.close_days)

    assert list(ClosedDay.objects.values_list("day__day", flat=True)) == [18, 19, 20]
    assert prove(everything=True).flaw == ""


def test_an_entry_is_never_dated_into_a_closed_day(three_days: Any):
    ledger.close_days()
    three_days(20)  # another machine, whose clock is a day behind

    order = spend(PRICE)

    entry = Entry.objects.get(ref_id=order.ref_id, kind="debit")
    assert entry.at == dt.datetime(2026, 11, 21, tzinfo=ZoneInfo("Asia/Jakarta"))
    assert prove(everything=True).flaw == ""


def test_a_page_closes_the_days_that_it_needs_and_reads_those_that_are_kept(three_days: Any, auditor: Any):
    page = auditor.get("/balance/closing/2026-11-20/")

    assert Books.objects.get().closed_day == dt.date(2026, 11, 20)
    assert closing_lines(page)["closing"] == "Rp989.500"
    curve = ledger.balance_curve()
    with CaptureQueriesContext(connection) as queries:
        again = ledger.balance_curve()
    assert again == curve
    assert [day.day.day for day in curve] == [18, 19, 20, 21]
    assert len([query for query in queries if "SUM(" in query["sql"]]) == 1  # today's sum


def test_a_changed_closed_day_is_found(three_days: Any):
    ledger.close_days()
    first = Entry.objects.earliest("pk").pk
    sums = "jsonb_set(sums, '{debit:purchase,balance}', '0')"
    for change, amount in (
        ("UPDATE ledger_closedday SET balance = balance + 250000", 250_000),
        ("UPDATE ledger_closedday SET reserved = reserved - 7", -7),
        ("UPDATE ledger_closedday SET lowest = lowest + 9", 9),
        ("UPDATE ledger_closedday SET last_entry = 1", 0),
        (f"UPDATE ledger_closedday SET sums = {sums}", PRICE),  # noqa: S608
        ("DELETE FROM ledger_closedday", PRICE - OPENED),
    ):
        with transaction.atomic():
            tamper(f"{change} WHERE day = '2026-11-18'")
            proof = prove(everything=True)
            transaction.set_rollback(True)

        assert (proof.flaw, proof.flaw_amount, proof.flaw_entry) == (Flaw.DAY, amount, first), change


def test_an_entry_moved_to_another_day_is_found_and_alarms(three_days: Any):
    ledger.close_days()
    last = Entry.objects.latest("pk")
    tamper("UPDATE ledger_entry SET at = at + interval '1 day' WHERE id = %s", last.pk)

    prove_books()
    evaluate_alerts()

    of_day = Entry.objects.filter(ref_id=last.ref_id).earliest("pk")
    alert = Alert.objects.open().get(kind="books_off")
    assert reconcile().state == "unexplained"
    assert (alert.severity, alert.facts["flaw"]) == (1, "day")
    assert (alert.facts["amount"], alert.facts["entry"]) == (PRICE, of_day.pk)


def test_what_today_comes_to_is_added_up_once(clock: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ledger.services.statements._MOST_ADDED_UP", 3)
    clock(18)
    open_books(OPENED)
    today = FIRST
    for spent in range(1, 4):
        spend(PRICE, kind="bill" if spent == 2 else "purchase", refunded=spent == 3)
        first, again = (ledger.read_days(today, today).closings[0] for _ in range(2))

        assert first == again
        assert (first.closing, first.adds_up) == (Books.objects.get().balance, True)

    kept = RunningDay.objects.get()
    assert (kept.day, kept.last_entry) == (today, Entry.objects.latest("pk").pk)
    closing = closing_of(today)
    assert (kept.sums, kept.lowest) == (closing.sums, closing.lowest)


def test_sums_of_yesterday_are_not_those_of_today(clock: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ledger.services.statements._MOST_ADDED_UP", 0)
    clock(18)
    open_books(OPENED)
    spend(PRICE)
    ledger.read_days(FIRST, FIRST)
    clock(19)
    spend(2 * PRICE)

    closing = ledger.read_days(FIRST, FIRST + dt.timedelta(days=1)).closings[1]

    assert (closing.purchases, closing.counts["purchases"], closing.adds_up) == (-2 * PRICE, 1, True)
