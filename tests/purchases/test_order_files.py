"""The files of the orders list hold exactly its rows, for the person who made them."""

import pytest
from django.utils import timezone

from exports import lists
from purchases.states import Status
from testing.factories import make_order
from testing.people import browser_of
from tests.exports.helpers import by_the_worker, csv_rows, sheet_text
from tests.purchases.helpers import listed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("long_books")]

QUERIES = [
    "",
    "status=success",
    "amount_from=12000&amount_to=14000",
    "days=today&q=0812",
    "q=08120000",
    "ends=3",
    "profit=loss",
    "payment=cash&status=open",
]
# The worker reads the stored filter: none, several fields, and digits that some people may not search for.
BY_THE_WORKER = {"", "days=today&q=0812", "q=08120000"}
DIGITS = ["q=08120000", "ends=3"]


@pytest.fixture(autouse=True)
def orders():
    for number in range(12):
        status = [Status.SUCCESS, Status.PENDING, Status.FAILED][number % 3]
        facts = {"destination": f"0812{number:08}", "selling_price": 9_000 + 1_000 * number, "price": 10_000}
        make_order(status, sn=f"SN/0812{number:08}" if status == Status.SUCCESS else "", **facts)


def now_as_csv(browser, query):
    """The rows of the file that comes at once."""
    answer = browser.get(f"/orders/?{query}&format=csv", follow=True)
    return csv_rows(b"".join(answer.streaming_content))


def test_a_file_holds_exactly_the_rows_of_the_list():
    for role, queries in (("supervisor", QUERIES), ("auditor", DIGITS)):
        browser = browser_of(role)

        for query in queries:
            shown = listed(browser.get(f"/orders/?{query}"))[::-1]

            assert [row["ref_id"] for row in now_as_csv(browser, query)] == shown, query
            if query not in BY_THE_WORKER:
                continue
            assert [row["ref_id"] for row in csv_rows(by_the_worker(browser, "orders", query, "csv"))] == shown, query
            sheet = sheet_text(by_the_worker(browser, "orders", query, "xlsx"))
            assert [ref_id for ref_id in shown if ref_id not in sheet] == [], query
            assert sheet.count("<row ") == len(shown) + 1, query


def test_a_row_of_the_file_says_what_the_order_came_to_and_full_numbers_take_a_factor():
    browser = browser_of("supervisor")
    row = now_as_csv(browser, "q=081200000009")[0]

    assert {name: row[name] for name in ("status", "price", "cost", "profit", "paid_by", "destination", "sn")} == {
        "status": "success",
        "price": "18000",
        "cost": "10000",
        "profit": "8000",
        "paid_by": "cash",
        "destination": "0812•••••009",
        "sn": "SN/0812•••••009",
    }
    assert row["placed"].startswith(timezone.localdate().isoformat())

    refused = browser.post("/orders/file/whole/?q=081200000009", {"format": "csv"})
    answer = browser.confirm("/orders/file/whole/?q=081200000009", {"format": "csv"})
    assert not refused.streaming
    assert [row["destination"] for row in csv_rows(b"".join(answer.streaming_content))] == ["081200000009"]


def test_a_long_file_is_for_the_worker(monkeypatch):
    monkeypatch.setattr(lists, "MOST_AT_ONCE", 3)
    browser = browser_of("supervisor")

    answer = browser.get("/orders/file/?status=success&format=csv")

    assert 'action="/orders/file/?status=success&amp;format=csv"' in answer.content.decode()
    assert len(csv_rows(by_the_worker(browser, "orders", "status=success", "csv"))) == 4


def test_people_who_may_not_see_costs_get_no_file():
    for role in ["viewer", "cashier"]:
        browser = browser_of(role)

        assert browser.get("/orders/?format=csv", follow=True).status_code == 403, role
        assert 'id="make-csv"' not in browser.get("/orders/").content.decode(), role
