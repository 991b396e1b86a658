"""A workbook is read by people, so its first row has the words of the list; CSV keeps the names that scripts read."""

import io
import re
from typing import Any

import pytest
from django.core.management import call_command
from python_calamine import CalamineWorkbook

from audit.facts import value_words
from batches.tables import BatchRowTable
from core.tables import Table
from exports.events import EXPORT_MADE
from purchases.states import Status
from testing.factories import make_order
from testing.people import browser_of
from tests.core.helpers import cells
from tests.exports.helpers import ask, by_the_worker, csv_rows, made
from tests.ledger.helpers import open_books

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("long_books")]

# Fields with the same name for people and scripts.
SAME = {"id", "ref_id", "trx_id", "request_id"}


def first_row(content: bytes) -> list[str]:
    sheet = CalamineWorkbook.from_filelike(io.BytesIO(content)).get_sheet_by_index(0)
    return [str(cell) for cell in sheet.to_python()[0]]


def test_the_first_row_has_the_words_of_the_columns_in_the_readers_language():
    make_order(Status.SUCCESS)
    query = "columns=status,product,price,paid_by"
    for language, words in (
        ("en", ["Status", "Product code", "Product", "Price", "Cost", "Paid by"]),
        ("id", ["Status", "Kode produk", "Produk", "Harga", "Modal", "Cara bayar"]),
    ):
        browser = browser_of("admin", username=language, language=language)

        book, table = (by_the_worker(browser, "orders", query, file_format) for file_format in ("xlsx", "csv"))

        assert first_row(book) == words
        assert list(csv_rows(table)[0]) == ["status", "product_code", "product", "price", "cost", "paid_by"]


def test_a_file_says_in_words_what_it_holds():
    for language, words in (
        ("en", ["Statement, from 1 Oct 2026", "Orders, 5 Oct 2026, “0812”, Status: Failed", "Orders, 1–27 Nov 2026"]),
        (
            "id",
            ["Mutasi, mulai 1 Okt 2026", "Transaksi, 5 Okt 2026, “0812”, Status: Gagal", "Transaksi, 1–27 Nov 2026"],
        ),
    ):
        browser = browser_of("admin", username=language, language=language)
        for query in (
            "since=2026-11-01&until=2026-11-27&columns=status,product",
            "since=2026-10-05&until=2026-10-05&status=failed&q=0812",
        ):
            browser.post(f"/orders/file/?format=csv&{query}")
        ask(browser, "csv", "since=2026-10-01")

        shown = cells(browser.get("/files/"), "file")

        assert [re.split("orders-|statement-", cell)[0] for cell in shown] == words


def test_the_activity_log_says_the_days_of_a_file():
    for query, said in (
        ("since=2026-11-01&until=2026-11-27", "1–27 Nov 2026"),
        ("since=2026-10-28&until=2026-11-03&status=failed", "28 Oct 2026 – 3 Nov 2026, status: failed"),
        ("since=2026-11-01", "from 1 Nov 2026"),
        ("until=2026-11-01&columns=a", "until 1 Nov 2026"),
        ("since=nonsense&until=9999-99-99", ""),
        ("", "–"),
    ):
        assert value_words("query", query, EXPORT_MADE.key) == said


def test_the_statements_workbook_has_words_and_its_csv_names(auditor):
    open_books(1_000_000)

    book, table = (made(auditor, file_format) for file_format in ("xlsx", "csv"))

    assert first_row(book)[:3] == ["id", "Time", "Kind"]
    assert list(csv_rows(table)[0])[:3] == ["id", "at", "kind"]


def tables(parent: type[Table[Any]] = Table) -> list[type[Table[Any]]]:
    return [table for child in parent.__subclasses__() for table in (child, *tables(child))]


def test_every_field_of_a_workbook_has_words_and_a_batch_keeps_its_names():
    call_command("check")  # loads every room
    with_words = [table for table in tables() if table.export_words is not None]

    assert {table.__name__.removesuffix("Table") for table in with_words} == {
        *("Order", "Bill", "Complaint", "Difference", "Customer", "Audit", "Statement")
    }
    for table in with_words:
        words = table.file_words()
        assert [name for name in table.export if words.get(name, name) == name and name not in SAME] == [], table
    assert BatchRowTable.file_words() == {}
