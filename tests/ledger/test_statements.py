"""Statement, daily closing and curve agree with the entries, by days of the shop's own time, and add up."""

import csv
import datetime as dt
import io
import json
import tracemalloc
from typing import Any
from unittest import mock
from zoneinfo import ZoneInfo

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from exports import formats
from ledger import services as ledger
from ledger.models import Entry
from ledger.tables import StatementTable
from reconciliation import services as reconciliation
from testing.factories import make_order
from tests.gateway.helpers import read_balance
from tests.ledger.helpers import open_books, post

pytestmark = pytest.mark.django_db(transaction=True)

JAKARTA = ZoneInfo("Asia/Jakarta")
FIRST = dt.date(2026, 11, 18)


@pytest.fixture
def three_days(time_machine: Any, django_user_model: Any) -> Any:
    """Books opened on the 18th; sold, refunded and topped up on the 19th around midnight; adjusted on the 20th."""
    admin = django_user_model.objects.create_superuser("admin")

    def at(day: int, hour: int, minute: int = 0) -> None:
        time_machine.move_to(dt.datetime(2026, 11, day, hour, minute, tzinfo=JAKARTA), tick=False)

    at(18, 9)
    open_books(1_000_000)
    at(18, 23, 59)
    with transaction.atomic():
        post("hold", "P1", 10_500)
        post("debit", "P1", 10_000)
    at(19, 0, 1)
    with transaction.atomic():
        post("refund", "P1")
        post("debit", "B1", 300_000, order_kind="bill")
        ledger.post_top_up(amount=500_000, actor=admin, reason="=cmd|' /C calc'!A0")
    at(20, 12)
    with transaction.atomic():
        ledger.post_adjustment(amount=-1, actor=admin, reason="bought by hand")
    return admin


def test_each_day_opens_as_the_one_before_closed_and_adds_up(three_days: Any):
    days = ledger.read_days(FIRST - dt.timedelta(days=1), FIRST + dt.timedelta(days=3)).closings

    assert all(day.adds_up for day in days)
    assert [day.opening for day in days[1:]] == [day.closing for day in days[:-1]]
    assert [(d.opened_with, d.purchases, d.bills, d.refunds, d.top_ups, d.adjustments, d.closing) for d in days] == [
        (0, 0, 0, 0, 0, 0, 0),
        (1_000_000, -10_000, 0, 0, 0, 0, 990_000),
        (0, 0, -300_000, 10_000, 500_000, 0, 1_200_000),
        (0, 0, 0, 0, 0, -1, 1_199_999),
        (0, 0, 0, 0, 0, 0, 1_199_999),
    ]
    assert days[2].lowest == 700_000
    assert days[2].counts == {
        **dict.fromkeys(["opened_with", "purchases", "reversals", "adjustments"], 0),
        **dict.fromkeys(["bills", "refunds", "top_ups"], 1),
    }


def test_the_curve_begins_with_the_books_and_a_day_that_does_not_add_up_would_say_so(three_days: Any):
    curve = ledger.balance_curve(days=30)

    assert [(day.day.day, day.closing) for day in curve] == [(18, 990_000), (19, 1_200_000), (20, 1_199_999)]
    assert ledger.balance_curve(days=2)[0].day.day == 19
    (day,) = ledger.read_days(FIRST, FIRST).closings
    assert day.adds_up
    assert not type(day)(**{**vars(day), "refunds": 1}).adds_up


def test_a_month_of_entries_is_not_read_into_memory(three_days: Any):
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO ledger_entry"
            " (kind, amount, balance_change, reserved_change, balance_after, reserved_after,"
            " ref_id, order_kind, reason, at)"
            " SELECT 'topup', 1, 1, 0, 1199999 + n, 0, '', '', '', now() + n * interval '1 second'"
            " FROM generate_series(1, 30000) n"
        )
    ledger.balance_curve()
    tracemalloc.start()
    curve = ledger.balance_curve()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert Entry.objects.count() > 30_000
    assert curve[0].closing == 990_000
    assert peak < 1_000_000


def test_the_statement_is_filtered_by_days_kinds_and_order(three_days: Any):
    def lines(*arguments: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in run("statement", "--format", "json", *arguments).splitlines()]

    def kinds(*arguments: str) -> list[str]:
        return [line["kind"] for line in lines(*arguments)]

    assert kinds() == ["opening", "hold", "release", "debit", "refund", "debit", "topup", "adjustment"]
    assert kinds("--from", str(FIRST), "--to", str(FIRST))[0] == "opening"
    assert kinds("--ref-id", "P1") == ["hold", "release", "debit", "refund"]
    assert kinds("--ref-id", "P" * 100) == []
    assert kinds("--kind", "topup", "--kind", "adjustment") == ["topup", "adjustment"]
    assert kinds("--from", str(FIRST + dt.timedelta(days=2))) == ["adjustment"]
    debits = [(line["ref_id"], line["balance_change"]) for line in lines("--kind", "debit")]
    assert debits == [("P1", -10_000), ("B1", -300_000)]


def test_csv_comes_in_large_blocks_of_whole_lines(three_days: Any):
    entries = Entry.objects.order_by("pk")
    whole = "".join(formats.csv_blocks(entries, StatementTable.export))

    with mock.patch.object(formats, "BLOCK_SIZE", 200):
        blocks = list(formats.csv_blocks(entries, StatementTable.export))

    assert formats.BLOCK_SIZE >= 64 * 1024
    assert "".join(blocks) == whole
    assert len(blocks) > 1
    assert all(len(block) >= 200 and block.endswith("\n") for block in blocks[:-1])


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_the_statement_as_csv_has_every_entry_and_no_formula(three_days: Any):
    rows = list(csv.DictReader(io.StringIO(run("statement", "--from", "2026-11-18", "--to", "2026-11-20"))))

    assert len(rows) == Entry.objects.count()
    assert [int(row["balance_after"]) - int(row["balance_before"]) for row in rows] == [
        int(row["balance_change"]) for row in rows
    ]
    top_up = next(row for row in rows if row["kind"] == "topup")
    assert top_up["reason"].startswith("'=cmd")
    assert (top_up["actor"], top_up["at"]) == ("admin", "2026-11-19T00:01:00+07:00")


def test_a_text_that_a_spreadsheet_would_run_is_made_text():
    for text in ("=1+1", "+1", "-1", "@a", "\t=1", "\r=1"):
        assert formats.cell(text) == f"'{text}"
    assert formats.cell(-5) == -5
    assert formats.cell("plain = text") == "plain = text"


def test_a_day_that_is_none_is_a_usage_fault():
    for day in ("yesterday", "2026-02-30", "9999-12-31", "0001-01-01", ""):
        for option in ("--from", "--to"):
            with pytest.raises(CommandError, match="is not a valid day") as fault:
                run("statement", option, day)
            assert fault.value.returncode == 2, day


def test_the_balance_command_before_anything_is_known():
    assert ledger.balance_curve() == []
    assert json.loads(run("balance", "--json")) == {
        "reported": None,
        "reported_at": None,
        "expected": None,
        "available": None,
        "held": 0,
        "difference": None,
        "between": None,
        "state": "waiting",
    }


def test_the_balance_command_prints_all_four_balances():
    open_books(1_000_000)
    order = make_order(max_price=999)
    with transaction.atomic():
        post("hold", order.ref_id, 999)
    reading = read_balance(1_000_500)

    before = json.loads(run("balance", "--json"))
    reconciliation.reconcile()
    facts = json.loads(run("balance", "--json"))

    assert facts == {
        "reported": 1_000_500,
        "reported_at": reading.answered_at.isoformat(),
        "expected": 1_000_000,
        "available": 999_501,
        "held": 999,
        "difference": 500,
        "between": None,
        "state": "topup_unacknowledged",
    }
    assert before == {**facts, "available": 999_001}  # money that no run has found yet is not available
    assert "Rp1.000.500" in run("balance")
