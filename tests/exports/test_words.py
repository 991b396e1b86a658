"""A workbook is read by people, so its first row has the words of the list; CSV keeps the names that scripts read."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import call_command
from python_calamine import CalamineWorkbook

from batches.tables import BatchRowTable
from core.tables import Table
from exports.models import Export
from exports.services import content_of
from exports.tasks import write_list
from purchases.states import Status
from testing.factories import make_order
from testing.people import browser_of
from tests.exports.helpers import csv_rows, made
from tests.ledger.helpers import open_books

pytestmark = pytest.mark.django_db

# What people and scripts call alike.
SAME = {"id", "ref_id", "trx_id", "request_id"}


def first_row(content: bytes) -> list[str]:
    sheet = CalamineWorkbook.from_filelike(io.BytesIO(content)).get_sheet_by_index(0)
    return [str(cell) for cell in sheet.to_python()[0]]


def file_of_orders(browser: Any, file_format: str, query: str = "") -> bytes:
    browser.post(f"/orders/file/?format={file_format}&{query}")
    export = Export.objects.first()
    write_list(export.pk)
    return b"".join(content_of(export))


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ["Status", "Product code", "Product", "Price", "Cost", "Paid by"]),
        ("id", ["Status", "Kode produk", "Produk", "Harga", "Modal", "Cara bayar"]),
    ],
)
def test_the_first_row_has_the_words_of_the_columns_in_the_readers_language(language, words):
    make_order(Status.SUCCESS)
    browser = browser_of("admin", language=language)
    query = "columns=status,product,price,paid_by"

    book, table = (file_of_orders(browser, file_format, query) for file_format in ("xlsx", "csv"))

    assert first_row(book) == words
    assert list(csv_rows(table)[0]) == ["status", "product_code", "product", "price", "cost", "paid_by"]


def test_the_statements_workbook_has_words_and_its_csv_names(auditor):
    open_books(1_000_000)

    book, table = (made(auditor, file_format) for file_format in ("xlsx", "csv"))

    assert first_row(book)[:3] == ["id", "Time", "Kind"]
    assert list(csv_rows(table)[0])[:3] == ["id", "at", "kind"]


def tables(parent: type[Table[Any]] = Table) -> list[type[Table[Any]]]:
    return [table for child in parent.__subclasses__() for table in (child, *tables(child))]


def test_every_field_of_a_workbook_has_words_and_a_batch_keeps_its_names():
    call_command("check")  # reads every room
    with_words = [table for table in tables() if table.export_words is not None]

    assert {table.__name__.removesuffix("Table") for table in with_words} == {
        *("Order", "Bill", "Complaint", "Difference", "Customer", "Audit", "Statement")
    }
    for table in with_words:
        words = table.file_words()
        assert [name for name in table.export if words.get(name, name) == name and name not in SAME] == [], table
    assert BatchRowTable.file_words() == {}
