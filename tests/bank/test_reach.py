"""The days that the statements have: only their entries can be missing."""

import datetime as dt

import pytest

from bank.models import BankFile
from bank.presenting import BEYOND, MISSING, statement_of
from tests.bank.helpers import ONE_DAY, TODAY, names, paid, read

pytestmark = pytest.mark.django_db


def test_given_nothing_read_of_a_day_then_its_sales_are_not_missing(owner, seller):
    paid(seller, 50_000, "transfer", days_ago=1)
    read(owner, (TODAY() - 3 * ONE_DAY, "BIAYA ADM", "15.000 DB"))

    statement = statement_of(TODAY() - 30 * ONE_DAY, TODAY())

    assert (statement.part(MISSING).lines(), statement.part(MISSING).count, statement.beyond.count) == ([], 0, 1)


def test_given_days_between_two_statements_then_their_entries_are_in_none_yet(owner, seller):
    # given: a statement of six and five days ago, one of two days ago, and none for the days between
    def ago(days: int) -> dt.date:
        return TODAY() - days * ONE_DAY

    between = [paid(seller, 10_000 + days, "transfer", days_ago=days) for days in (4, 3)]
    missing = [paid(seller, 20_000 + days, "transfer", days_ago=days) for days in (6, 5, 2)]
    paid(seller, 30_000, "qris", days_ago=5)  # is paid out on a day without a statement
    read(owner, (ago(6), "ADM", "15.000 DB"), (ago(5), "BUNGA", "100"))
    read(owner, (ago(2), "ADM", "25.000 DB"))

    statement = statement_of(ago(6), TODAY())

    assert statement.reaches == {"BCA 1": [(ago(6), ago(5)), (ago(2), ago(2))]}
    assert {line.key for line in statement.part(MISSING).lines()} == {f"sale:{ref_id}" for ref_id in missing}
    beyond = {f"sale:{ref_id}" for ref_id in between} | {f"qris:{ago(5)}"}
    assert {line.key for line in statement.beyond.lines()} == beyond
    assert (statement.part(MISSING).count, statement.beyond.count) == (3, 3)
    # and a file with the days between closes the gap, although every row of it was known
    read(owner, (ago(6), "ADM", "15.000 DB"), (ago(2), "ADM", "25.000 DB"))
    assert statement_of(ago(6), TODAY()).reaches == {"BCA 1": [(ago(6), ago(2))]}


def test_given_two_accounts_then_a_day_is_read_once_both_have_it(owner, seller):
    def ago(days: int) -> dt.date:
        return TODAY() - days * ONE_DAY

    sales = {days: f"sale:{paid(seller, 20_000 + days, 'transfer', days_ago=days)}" for days in (5, 3, 1)}
    read(owner, (ago(6), "ADM", "1 DB"), (ago(1), "BUNGA", "1"))
    assert names(MISSING) == [*sales.values()]
    read(owner, (ago(4), "ADM", "1 DB"), (ago(2), "BUNGA", "1"), account="BRI 2")

    # then: later sales may have been paid to the second account; earlier ones do not wait for it
    assert names(MISSING) == [sales[5], sales[3]]
    assert names(BEYOND) == [sales[1]]
    assert statement_of(ago(6), TODAY()).reaches == {"BCA 1": [(ago(6), ago(1))], "BRI 2": [(ago(4), ago(2))]}
    assert "every account" in str(statement_of(ago(1), ago(1)).no_missing_words)


def test_given_an_account_without_files_for_months_then_it_is_not_waited_for(owner, seller):
    missing = paid(seller, 50_000, "transfer", days_ago=1)
    read(owner, (TODAY() - 3 * ONE_DAY, "ADM", "1 DB"), (TODAY() - ONE_DAY, "BUNGA", "1"))
    for days, expected in [(50, []), (90, [f"sale:{missing}"])]:
        BankFile.objects.filter(account__name="closed").delete()
        read(owner, (TODAY() - days * ONE_DAY, "ADM", "1 DB"), account="closed")

        assert names(MISSING) == expected, days


def test_given_days_before_and_after_the_statements_then_their_entries_are_in_none_yet(owner, seller):
    paid(seller, 50_000, "qris", days_ago=5)
    before, after = paid(seller, 60_000, "transfer", days_ago=4), paid(seller, 70_000, "transfer", days_ago=1)
    missing = paid(seller, 80_000, "transfer", days_ago=3)
    read(owner, (TODAY() - 3 * ONE_DAY, "ADM", "1 DB"), (TODAY() - 2 * ONE_DAY, "ADM", "1 DB"))

    assert names(BEYOND) == [f"qris:{TODAY() - 5 * ONE_DAY}", f"sale:{before}", f"sale:{after}"]
    assert names(MISSING) == [f"sale:{missing}"]
