"""Files of few rows come at once, also as a workbook; the menu describes a file before the click."""

import html
import io
import re
from typing import Any

import pytest
from django.test import override_settings
from python_calamine import CalamineWorkbook

from audit.models import AuditEvent
from exports import lists
from exports.models import Export
from exports.services import content_of
from exports.tasks import write_list
from purchases.states import Status
from testing.factories import make_order
from testing.people import browser_of
from tests.core.helpers import has_id, words_at
from tests.exports.helpers import csv_rows
from tests.ledger.helpers import open_books

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


def rows_of(content: bytes) -> list[dict[str, Any]]:
    head, *rows = CalamineWorkbook.from_filelike(io.BytesIO(content)).get_sheet_by_index(0).to_python()
    return [dict(zip(map(str, head), row, strict=True)) for row in rows]


def test_a_workbook_of_few_rows_comes_at_once_and_is_noted():
    orders = [make_order(Status.SUCCESS, destination=f"0812000000{number}1") for number in range(3)]
    browser = browser_of("supervisor")

    for read in (browser.get, browser.post):
        answer = read("/orders/file/?format=xlsx&status=success")

        assert [row["ref_id"] for row in rows_of(answer.content)] == [order.ref_id for order in orders]
        assert answer["Content-Disposition"].endswith('.xlsx"')
        masked = ["0812•••••001", "0812•••••011", "0812•••••021"]
        assert [row["Destination"] for row in rows_of(answer.content)] == masked
    assert not Export.objects.exists()
    noted = [event.facts for event in AuditEvent.objects.filter(kind="export_made")]
    assert [(facts["format"], facts["query"]) for facts in noted] == [("xlsx", "status=success")] * 2
    assert not any("numbers" in facts for facts in noted)


def test_a_workbook_of_more_rows_is_for_the_worker(monkeypatch):
    monkeypatch.setattr(lists, "MOST_IN_BOOK", 2)
    for _number in range(3):
        make_order(Status.SUCCESS)
    browser = browser_of("supervisor")

    asked = browser.get("/orders/file/?format=xlsx")
    answer = browser.post("/orders/file/?format=xlsx")

    assert has_id(asked, "may-ask")
    assert (answer.status_code, answer["Location"]) == (302, "/files/")
    assert Export.objects.count() == 1


def test_a_workbook_with_full_numbers_comes_at_once_after_the_factor():
    make_order(Status.SUCCESS, destination="081200000001")
    browser = browser_of("supervisor")

    refused = browser.post("/orders/file/whole/", {"format": "xlsx"})
    answer = browser.confirm("/orders/file/whole/", {"format": "xlsx"})

    assert has_id(refused, "whole-form")
    assert [row["Destination"] for row in rows_of(answer.content)] == ["081200000001"]
    assert AuditEvent.objects.get(kind="export_made").facts["numbers"] == "whole"


def test_the_page_before_a_file_with_full_numbers_says_its_rows_in_words():
    for _number in range(2):
        make_order(Status.SUCCESS, created_at="2026-11-20T10:00:00+07:00")
    query = "status=success&amount_from=1&amount_to=900000&since=2026-01-01&until=2026-12-31"

    for language, said in (
        ("en", "1 Jan 2026 – 31 Dec 2026, Status: Success, Price: Rp1 to Rp900.000 · 2 rows"),
        ("id", "1 Jan 2026 – 31 Des 2026, Status: Sukses, Harga: Rp1 sampai Rp900.000 · 2 baris"),
    ):
        browser = browser_of("supervisor", username=language, language=language)
        page = browser.get(f"/orders/file/whole/?{query}")
        assert " ".join(words_at(page, 'id="whole-rows"').split()) == said


def test_the_menu_says_days_rows_and_masks_before_the_click(monkeypatch):
    monkeypatch.setattr(lists, "MOST_IN_BOOK", 1)
    for _number in range(2):
        make_order(Status.SUCCESS, created_at="2026-11-20T10:00:00+07:00")
    browser = browser_of("supervisor", language="en")
    at = "/orders/file/about/?since=2026-01-01&until=2026-12-31"

    part = words_at(browser.get(at, headers=HTMX), 'id="file-about"')
    page = browser.get(at)

    assert "1 Jan 2026 – 31 Dec 2026" in part
    assert "2 rows" in part
    assert "masked" in part
    assert "XLSX" in part
    assert has_id(page, "file-about")
    assert f'hx-get="{at.replace("&", "&amp;")}"' in browser.get(at.replace("file/about/", "")).content.decode()


def test_the_menu_leads_to_the_rows_of_this_and_of_the_last_month():
    browser = browser_of("supervisor")

    menu = browser.get("/orders/file/about/?status=success&days=month", headers=HTMX).content.decode()

    assert re.findall(r'href="([^"]*)"\s+data-days="([\w-]+)"( aria-current)?', html.unescape(menu)) == [
        ("/orders/?status=success&days=month#file-about", "month", " aria-current"),
        ("/orders/?status=success&days=last-month#file-about", "last-month", ""),
    ]
    assert 'id="file-periods"' not in browser.get("/customers/file/about/", headers=HTMX).content.decode()


def test_the_menu_says_more_than_so_many_and_nothing_of_masks_where_no_number_stands(monkeypatch):
    monkeypatch.setattr(lists, "MOST_AT_ONCE", 1)
    for _number in range(2):
        make_order(Status.SUCCESS)

    browser = browser_of("admin", language="en")

    orders = browser.get("/orders/file/about/", headers=HTMX)
    differences = browser.get("/balance/differences/file/about/", headers=HTMX)

    assert "more than 1 rows" in words_at(orders, 'id="file-about"')
    assert "masked" not in words_at(differences, 'id="file-about"')


@override_settings(LANGUAGE_CODE="id")
def test_the_workers_file_has_the_language_of_the_page_that_asked(long_books):
    make_order(Status.SUCCESS)
    browser = browser_of("supervisor", language="")  # never chose one

    browser.post("/orders/file/?format=xlsx&columns=paid_by,price", headers={"Accept-Language": "en"})
    browser.post("/orders/file/?format=xlsx&columns=paid_by,price", headers={"Accept-Language": "id"})
    heads = []
    for export in Export.objects.order_by("pk"):
        write_list(export.pk)
        heads.append([*rows_of(b"".join(content_of(export)))[0]])

    assert [head[-2:] for head in heads] == [["Price", "Cost"], ["Harga", "Modal"]]


def test_a_workbook_says_words_where_csv_keeps_codes():
    make_order(Status.SUCCESS)
    browser = browser_of("supervisor", language="id")
    query = "columns=product,status,paid_by"

    book = rows_of(browser.get(f"/orders/file/?format=xlsx&{query}").content)
    table = csv_rows(b"".join(browser.get(f"/orders/file/?format=csv&{query}").streaming_content))

    assert (book[0]["Status"], book[0]["Cara bayar"]) == ("Sukses", "Tunai")
    assert (table[0]["status"], table[0]["paid_by"]) == ("success", "cash")


def test_the_statements_workbook_says_the_kinds_in_words():
    open_books(1_000_000)
    auditor = browser_of("auditor", language="en")

    book = rows_of(auditor.post("/balance/statement/xlsx/").content)
    table = csv_rows(b"".join(auditor.get("/balance/statement/csv/").streaming_content))

    assert (book[0]["Kind"], table[0]["kind"]) == ("Opening balance", "opening")


def test_a_file_is_named_by_its_days(monkeypatch):
    make_order(Status.SUCCESS)
    browser = browser_of("supervisor")

    for query, name in (
        ("since=2026-10-01&until=2026-10-31", r"orders-2026-10"),
        ("since=2026-11-01&until=2026-11-20", r"orders-2026-11-01_2026-11-20"),
        ("since=2026-11-20&until=2026-11-20", r"orders-2026-11-20"),
        ("days=last-month", r"orders-\d{4}-\d\d"),
        ("status=success", r"orders-\d{4}-\d\d-\d\d-\d{4}"),
    ):
        answer = browser.get(f"/orders/file/?format=csv&{query}")
        assert re.search(rf'filename="{name}\.csv"$', answer["Content-Disposition"])
        with monkeypatch.context() as long_books:
            long_books.setattr(lists, "MOST_IN_BOOK", -1)
            browser.post(f"/orders/file/?format=xlsx&{query}")
        assert re.fullmatch(rf"{name}\.xlsx", Export.objects.get().file_name)
        Export.objects.all().delete()
