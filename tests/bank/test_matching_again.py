"""A row is free again once its entry is gone from the books, or its file is taken back."""

import pytest

from audit.models import AuditEvent
from bank.errors import BankRefused
from bank.formats import Columns, lines_of
from bank.models import BankFile, BankRow, State
from bank.presenting import statement_of
from bank.services import (
    match_rows,
    read_file,
    take_back,
)
from drawers.services import take_credit_payment, undo_credit_payment
from testing.database import past_triggers, undone
from tests.bank.helpers import ONE_DAY, TODAY, matches, names, paid, read, still_open
from tests.credit.helpers import account_of, give_credit, sell_to

pytestmark = pytest.mark.django_db


def test_given_a_match_that_the_books_no_longer_say_then_it_is_matched_again(owner, seller):
    wrong, right = give_credit("Bu Sri"), give_credit("Pak Budi")
    for customer in (wrong, right):
        sell_to(customer, 50_000, by=seller)
    entered = take_credit_payment(account_of(wrong), amount=50_000, method="transfer", actor=seller)
    paid(seller, 100_000, "qris", days_ago=1)
    rows = [(TODAY(), "TRSF BUDI", "50.000"), (TODAY(), "QR SETTLEMENT", "99.300")]
    assert read(owner, *rows) == (2, 2)

    undo_credit_payment(entered, actor=seller, reason="another customer")
    corrected = take_credit_payment(account_of(right), amount=50_000, method="transfer", actor=seller)
    paid(seller, 30_000, "qris", days_ago=1)

    assert match_rows(TODAY(), TODAY()) == 1
    assert matches() == {f"credit:{corrected.pk}": 50_000}
    assert [(item.key, item.amount) for item in still_open(TODAY() - ONE_DAY)] == [
        (f"qris:{TODAY() - ONE_DAY}", 130_000)
    ]
    assert names(State.UNKNOWN) == ["QR SETTLEMENT"]


def test_given_an_entry_that_is_gone_then_its_own_day_frees_the_row(owner, seller):
    gone = paid(seller, 50_000, "transfer", days_ago=5)
    sold_on = TODAY() - 5 * ONE_DAY
    for days_later in (4, -1):
        with undone():
            read(owner, (sold_on + days_later * ONE_DAY, "BUDI", "50.000"))
            assert matches() == {f"sale:{gone}": 50_000}, days_later
            with past_triggers() as cursor:
                cursor.execute("UPDATE drawers_payment SET method = 'cash', is_cash = true WHERE ref_id = %s", [gone])

            assert match_rows(sold_on, sold_on) == 0
            assert names(State.UNKNOWN) == ["BUDI"], days_later
            assert statement_of(sold_on, sold_on).part(State.MATCHED).count == 0, days_later


def test_given_an_entry_that_is_gone_then_its_row_takes_one_near_the_row(owner, seller):
    gone = paid(seller, 50_000, "transfer", days_ago=5)
    read(owner, (TODAY() - ONE_DAY, "BUDI", "50.000"))
    near = paid(seller, 50_000, "transfer")
    with past_triggers() as cursor:
        cursor.execute("UPDATE drawers_payment SET method = 'cash', is_cash = true WHERE ref_id = %s", [gone])

    assert match_rows(TODAY() - 5 * ONE_DAY, TODAY() - 5 * ONE_DAY) == 1
    assert matches() == {f"sale:{near}": 50_000}


def test_given_a_wrong_file_then_taking_it_back_frees_what_it_matched(owner, seller):
    paid(seller, 50_000, "transfer")
    read(owner, (TODAY(), "TRSF BUDI", "50.000"), account="wrong")

    file = BankFile.objects.get()
    take_back(file.pk, actor=owner)
    with pytest.raises(BankRefused):  # the second of two presses notes nothing
        take_back(file.pk, actor=owner)

    assert not BankRow.objects.exists()
    assert read(owner, (TODAY(), "TRSF BUDI", "50.000"), account="right") == (1, 1)
    assert [*AuditEvent.objects.filter(subject="bank").order_by("pk").values_list("kind", flat=True)] == [
        "bank_file_read",
        "bank_file_taken_back",
        "bank_file_read",
    ]


def test_given_a_file_taken_back_then_another_brings_the_rows_of_both_again(owner):
    one, both, other = (
        (TODAY() - days * ONE_DAY, text, "50.000") for days, text in ((3, "BUDI"), (2, "ANI"), (1, "SRI"))
    )
    read(owner, one, both)
    assert read(owner, both, other)[0] == 1
    first = BankFile.objects.earliest("pk")
    take_back(first.pk, actor=owner)
    assert {*BankRow.objects.values_list("text", flat=True)} == {"SRI"}

    assert read(owner, both, other)[0] == 1

    assert {*BankRow.objects.values_list("text", flat=True)} == {"ANI", "SRI"}
    assert BankFile.objects.get().rows.count() == 2
    with pytest.raises(BankRefused, check=lambda refusal: refusal.reason == "known"):
        read(owner, both, other)


def test_given_a_known_file_with_other_columns_then_no_row_is_added(owner):
    content = f"Hari;Ket;Catatan;Jumlah\n{TODAY():%d/%m/%Y};ANI;SETOR;50.000".encode()
    table = lines_of(content)
    by_text, by_note = (Columns(day=0, text=number, amount=3) for number in (1, 2))
    facts = {"account": "BCA 1", "fee": 100, "actor": owner}
    assert read_file("mutasi.csv", content, table, by_text, **facts)[0] == 1

    with pytest.raises(BankRefused, check=lambda refusal: refusal.reason == "known"):
        read_file("mutasi.csv", content, table, by_note, **facts)

    assert BankRow.objects.get().text == "ANI"
