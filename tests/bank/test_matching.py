"""The bank's rows find the books' entries: each once, and with a fee."""

import datetime as dt
from collections import Counter

import pytest
from django.db import transaction
from django.utils import timezone

from bank.errors import BankRefused
from bank.models import BankRow, State
from bank.presenting import BEYOND, MISSING, statement_of
from bank.services import (
    items_near,
    match_by_hand,
    set_aside,
)
from bank.services.items import items_of, sums_by_day
from customers.services import erase
from drawers.models import Payment, Shift
from drawers.services import close_shift, follow_price, give_back, take_credit_payment
from ledger.models import Entry
from purchases.models import Order, OrderEvent
from reconciliation.models import ExpectedTopUp
from testing.database import past_triggers, undone
from tests.bank.helpers import ONE_DAY, TODAY, matches, names, paid, read, still_open
from tests.credit.helpers import account_of, give_credit, sell_to
from tests.drawers.helpers import end, pieces_of, sell

pytestmark = pytest.mark.django_db


def test_given_a_busy_day_then_each_kind_of_money_is_matched_once_and_the_books_stay(owner, seller):
    transfer = paid(seller, 50_000, "transfer", days_ago=2)
    gone = paid(seller, 70_000, "transfer", days_ago=2)
    for _number in range(2):
        paid(seller, 100_000, "qris", days_ago=3)
    end(sell(seller, 12_000), "success")  # in cash
    topup = ExpectedTopUp.objects.create(
        amount=1_000_123, announced_by=owner, announced_at=timezone.now() - 2 * ONE_DAY
    )
    books = [[*model.objects.order_by("pk").values()] for model in (Order, OrderEvent, Payment, Entry)]

    result = read(
        owner,
        (TODAY() - 2 * ONE_DAY, "QR SETTLEMENT", "198.600,00"),
        (TODAY() - ONE_DAY, "TRSF BUDI", "50.000,00 CR"),
        (TODAY() - ONE_DAY, "TRSF PROVIDER", "1.000.123,00 DB"),
        (TODAY() - ONE_DAY, "BIAYA ADM", "15.000,00 DB"),
    )

    assert result == (4, 3)
    day = TODAY() - 3 * ONE_DAY
    assert matches() == {f"sale:{transfer}": 50_000, f"topup:{topup.pk}": -1_000_123, f"qris:{day}": 198_600}
    assert names(State.UNKNOWN) == ["BIAYA ADM"]
    assert names(MISSING) == [f"sale:{gone}"]
    assert [[*model.objects.order_by("pk").values()] for model in (Order, OrderEvent, Payment, Entry)] == books
    parts = {part.name: (part.came, part.left) for part in statement_of(day, TODAY()).parts}
    assert parts == {
        "unknown": (0, 15_000),
        "missing": (70_000, 0),
        "matched": (250_000, 1_000_123),
        "aside": (0, 0),
    }


def test_the_sums_of_each_part_are_those_of_its_lines_and_the_first_are_the_earliest(owner, seller):
    opened = [
        paid(seller, amount, "transfer", days_ago=days) for amount, days in [(51_000, 4), (52_000, 3), (53_000, 2)]
    ]
    paid(seller, 50_000, "transfer", days_ago=2)  # matched
    paid(seller, 12_000, "qris", days_ago=2)
    paid(seller, 13_000, "qris", days_ago=1)  # is paid out today, and no statement has today
    paid(seller, 14_000, "transfer")
    give_back(end(sell(seller, 9_000), "failed").payment, method="transfer", actor=seller)
    debtor = give_credit()
    end(sell_to(debtor, 20_000, by=seller), "success")
    take_credit_payment(account_of(debtor), amount=15_000, method="transfer", actor=seller)
    ExpectedTopUp.objects.create(amount=70_000, announced_by=owner, announced_at=timezone.now() - 3 * ONE_DAY)
    yesterday, days = TODAY() - ONE_DAY, (TODAY() - 6 * ONE_DAY, TODAY())
    rows = [(yesterday, "TRSF BUDI", "50.000"), (yesterday, "ADM", "15.000 DB"), (yesterday, "WHO", "77.000")]
    read(owner, (TODAY() - 5 * ONE_DAY, "BUNGA", "100"), *rows)
    set_aside(BankRow.objects.get(text="BUNGA").pk, reason="interest", actor=owner)

    statement = statement_of(*days)

    assert {part.name: (part.count, part.came, part.left) for part in statement.parts} == {
        "unknown": (2, 77_000, 15_000),
        "missing": (5, 51_000 + 52_000 + 53_000 + 12_000, 70_000),
        "matched": (1, 50_000, 0),
        "aside": (1, 100, 0),
    }
    for part in statement.parts:
        amounts = [line.amount if line.item_amount is None else line.item_amount for line in part.lines()]
        came, left = (sum(max(sign * amount, 0) for amount in amounts) for sign in (1, -1))
        assert (len(amounts), came, left) == (part.count, part.came, part.left), part.name
    # yesterday's QRIS, and today's sale, refund and payment of credit
    beyond = statement.part(BEYOND)
    assert (beyond.count, beyond.came, beyond.left) == (4, 13_000 + 14_000 + 15_000, 9_000)
    assert [(line.item_day, line.amount) for line in beyond.lines()] == [
        (yesterday, 13_000),
        (TODAY(), 15_000),
        (TODAY(), -9_000),
        (TODAY(), 14_000),
    ]
    assert [line.key for line in statement.part(MISSING).lines(1)] == [f"sale:{opened[0]}"]
    assert [line.row.text for line in statement.part(State.UNKNOWN).lines(1) if line.row] == ["ADM"]


def test_what_is_matched_missing_and_in_no_statement_yet_is_what_is_expected(owner, seller):
    def ago(days: int) -> dt.date:
        return TODAY() - days * ONE_DAY

    for days in (4, 3, 2, 1, 0):
        paid(seller, 100_000 + days * 10_000, "qris", days_ago=days)
    for days in (4, 3, 1):
        paid(seller, 50_000 + days, "transfer", days_ago=days)
    by_hand = paid(seller, 60_000, "transfer", days_ago=1)
    paid_out = [(ago(3), "QR", "139.500"), (ago(2), "QR", "129.500"), (TODAY(), "QR", "109.500")]
    read(owner, (ago(4), "TRSF", "50.004"), (ago(1), "TRSF", "50.001"), (TODAY(), "SARI", "59.000"), *paid_out)
    (item,) = (item for item in still_open(ago(1)) if item.key == f"sale:{by_hand}")
    match_by_hand(BankRow.objects.get(text="SARI").pk, item, reason="less a fee", actor=owner)

    # then: QRIS counts on the day of its sales with their sum, not on the day of the payout
    statement = statement_of(ago(3), ago(1))
    matched = statement.part(State.MATCHED)
    assert sorted((line.item_amount, line.less) for line in matched.lines()) == [
        (50_001, 0),
        (60_000, 1_000),
        (110_000, 500),
        (130_000, 500),
    ]
    assert (matched.count, matched.came, matched.left, matched.less) == (4, 350_001, 0, 2_000)
    assert (statement.part(MISSING).came, statement.beyond.came) == (120_000 + 50_003, 0)
    for last in (ago(1), TODAY()):
        statement = statement_of(ago(3), last)
        parts = [statement.part(name) for name in (State.MATCHED, MISSING, BEYOND)]
        assert sum(part.came for part in parts) == sum(came for came, _left in sums_by_day(ago(3), last).values())


def test_given_the_same_file_then_it_is_refused_and_overlapping_days_add_only_what_is_new(owner):
    first = (TODAY() - ONE_DAY, "TRSF BUDI", "50.000,00 CR")
    assert read(owner, first, first) == (2, 0)

    with pytest.raises(BankRefused, check=lambda refusal: refusal.reason == "known"):
        read(owner, first, first)
    assert read(owner, first, first, first, (TODAY(), "TRSF SARI", "50.000,00 CR")) == (2, 0)
    assert BankRow.objects.count() == 4
    assert read(owner, first, first, account="BRI 2") == (2, 0)


def test_given_equal_amounts_then_each_row_takes_one_and_a_reference_goes_first(owner, seller):
    paid(seller, 50_000, "transfer", days_ago=1)
    named = paid(seller, 50_000, "transfer", days_ago=1, reference="INV-0077")

    assert read(owner, (TODAY() - ONE_DAY, "TRSF INV-0077", "50.000,00 CR")) == (1, 1)

    assert matches() == {f"sale:{named}": 50_000}
    assert read(owner, *[(TODAY(), f"TRSF {number}", "50.000,00 CR") for number in range(3)]) == (3, 1)


def test_given_a_day_of_qris_then_only_a_fee_within_the_bound_matches(owner, seller):
    paid(seller, 100_000, "qris", days_ago=1)
    sold_on = TODAY() - ONE_DAY

    for amount, fee, matched in (("99.300", 100, 1), ("99.300", 50, 0), ("100.001", 100, 0)):
        with undone():
            assert read(owner, (TODAY(), "QR", amount), fee=fee) == (1, matched), (amount, fee)
            assert [line.fee for line in statement_of(sold_on, sold_on).part(State.MATCHED).lines()] == [700] * matched


def test_given_a_row_far_from_the_day_or_the_other_way_then_it_is_unknown(owner, seller):
    paid(seller, 50_000, "transfer", days_ago=9)
    paid(seller, 60_000, "transfer", days_ago=1)

    assert read(owner, (TODAY(), "LATE", "50.000"), (TODAY(), "OUT", "60.000 DB")) == (2, 0)
    assert names(State.UNKNOWN) == ["LATE", "OUT"]


def test_given_a_sale_that_nobody_paid_then_nothing_is_expected(owner, seller):
    ref_id = paid(seller, 50_000, "transfer")
    with past_triggers() as cursor:
        cursor.execute("UPDATE drawers_payment SET outcome = 'nothing', cost = NULL WHERE ref_id = %s", [ref_id])

    assert still_open(TODAY()) == []


def test_given_money_back_for_a_paid_sale_on_credit_then_the_bank_should_have_it_once(owner, seller):
    customer = give_credit()
    order = sell_to(customer, 50_000, by=seller)
    take_credit_payment(account_of(customer), amount=50_000, method="cash", actor=seller)
    give_back(end(order, "failed").payment, method="transfer", actor=seller)

    assert [item.amount for item in still_open(TODAY())] == [-50_000]
    assert [item.amount for item in items_near(-50_000, TODAY(), ONE_DAY, most=30)] == [-50_000]
    assert read(owner, (TODAY(), "TRSF SRI", "50.000 DB")) == (1, 1)
    assert names(MISSING) == []


def test_given_a_dearer_debt_given_back_then_the_bank_has_its_price(owner, seller):
    customer = give_credit()
    order = sell_to(customer, 50_000, by=seller)
    close_shift(Shift.objects.get(), pieces=pieces_of(200_000), actor=seller)
    with transaction.atomic():
        follow_price(order.payment_id, 52_000, actor=seller)
    take_credit_payment(account_of(customer), amount=52_000, method="qris", actor=seller)
    end(order, "failed")
    erase(customer.pk, actor=owner)
    give_back(Payment.objects.get(), method="transfer", actor=seller)

    (near,) = items_near(-52_000, TODAY(), ONE_DAY, most=30)
    assert (near.key, near.amount) == (f"given:{order.ref_id}", -52_000)
    assert sums_by_day(TODAY(), TODAY()) == {(TODAY(), "qris"): (52_000, 0), (TODAY(), "transfer"): (0, 52_000)}


def test_what_the_bank_said_never_changes(owner):
    read(owner, (TODAY(), "TRSF BUDI", "50.000"))

    with pytest.raises(Exception, match="Cannot update"), transaction.atomic():
        BankRow.objects.update(amount=60_000)


def test_the_sums_of_two_days_are_those_of_their_items_also_of_matched_ones(owner, seller):
    paid(seller, 50_000, "transfer")
    paid(seller, 70_000, "transfer", days_ago=1)
    paid(seller, 12_000, "qris", days_ago=1)
    end(sell(seller, 12_000), "success")  # in cash
    give_back(end(sell(seller, 9_000), "failed").payment, method="transfer", actor=seller)
    customer = give_credit()
    end(sell_to(customer, 20_000, by=seller), "success")
    take_credit_payment(account_of(customer), amount=15_000, method="transfer", actor=seller)
    ExpectedTopUp.objects.create(amount=1_000_000, announced_by=owner, announced_at=timezone.now())
    read(owner, (TODAY(), "TRSF BUDI", "50.000,00 CR"))
    yesterday = TODAY() - ONE_DAY
    came: Counter[tuple[dt.date, str]] = Counter()
    left: Counter[tuple[dt.date, str]] = Counter()
    for item in items_of(yesterday, TODAY()):
        (came if item.amount > 0 else left)[item.day, item.method] += abs(item.amount)

    sums = sums_by_day(yesterday, TODAY())

    assert sums == {key: (came[key], left[key]) for key in {*came, *left}}
    assert sums[TODAY(), "transfer"] == (65_000, 9_000)
    assert sums[yesterday, "qris"] == (12_000, 0)
