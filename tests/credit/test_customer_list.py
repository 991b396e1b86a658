"""The list of customers shows each customer's debt to people who may see all debts."""

import pytest
from django.contrib.auth.models import Permission
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from testing.people import browser_of, make_person, signed_in
from tests.credit.helpers import give_credit, sell_to
from tests.customers.helpers import make_customer
from tests.drawers.helpers import begin
from tests.exports.helpers import csv_rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def customers() -> None:
    """Three customers: one owes Rp25.000, one has an account without a debt, one has no account."""
    seller = begin(make_person("cashier", username="seller")).cashier
    sell_to(give_credit("Bu Ani"), 25_000, by=seller)
    give_credit("Bu Budi")
    make_customer("Bu Cici")


def debts_shown(browser: Client, query: str = "") -> list[str]:
    """The texts of the column by customer's name; empty without the column."""
    table = browser.get(f"/customers/?{query}").context["table"]
    return [str(content) for row in table for column, content in row.cells if column.name == "debt"]


def files_debts(browser: Client, query: str = "") -> list[str | None]:
    file = browser.get(f"/customers/file/?format=csv&{query}")
    return [row.get("debt") for row in csv_rows(b"".join(file.streaming_content))]


def test_debts_stand_in_the_list_and_its_file_for_people_who_see_all_debts(customers):
    supervisor = browser_of("supervisor")

    shown = debts_shown(supervisor)

    assert ["Rp25.000" in text for text in shown] == [True, False, False]
    assert shown[1:] == ["", ""]
    assert files_debts(supervisor) == ["25000", "0", "0"]
    assert debts_shown(supervisor, "columns=name,note") == []
    assert files_debts(supervisor, "columns=name,debt") == ["25000", "0", "0"]
    assert files_debts(supervisor, "columns=name,note") == [None] * 3


def test_a_person_without_the_right_has_no_debt_in_list_choice_or_file(customers):
    cashier = make_person("cashier", username="reader")
    cashier.user_permissions.add(Permission.objects.get(codename="view_shifts"))
    browser = signed_in(cashier)

    page = browser.get("/customers/")

    assert [column.name for column, _is_shown in page.context["columns"]] == ["name", "note", "count", "bills", "saved"]
    assert debts_shown(browser) == debts_shown(browser, "columns=name,debt") == []
    assert files_debts(browser) == files_debts(browser, "columns=name,debt") == [None] * 3
    rows = csv_rows(b"".join(browser.get("/customers/file/?format=csv").streaming_content))
    assert list(rows[0]) == ["name", "note", "numbers", "bill_numbers", "saved"]


def test_debts_of_more_customers_take_no_more_queries(customers):
    supervisor = browser_of("supervisor")

    with CaptureQueriesContext(connection) as few:
        supervisor.get("/customers/")
    for number in range(12):
        give_credit(f"Bu {number}")
    with CaptureQueriesContext(connection) as many:
        supervisor.get("/customers/")

    assert len(many) == len(few) <= 15
