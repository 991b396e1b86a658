"""The columns of the orders list are chosen, ordered, kept for a person and in a view, and the same in a file."""

import re

import pytest

from exports.models import Export, SavedView
from exports.services import content_of
from exports.tasks import write_list
from purchases.states import Status
from testing.factories import make_order
from testing.people import browser_of, make_person
from tests.exports.helpers import csv_rows

pytestmark = pytest.mark.django_db

USUAL = ["status", "product", "destination", "sn", "price", "time"]


@pytest.fixture(autouse=True)
def order():
    return make_order(Status.SUCCESS, selling_price=12_000, placed_by=make_person(username="sari"))


def choose(browser, *columns, query="", **fields):
    return browser.post(f"/orders/columns/?{query}", {"column": columns, **fields})


def shown(browser, query=""):
    return [column.name for column in browser.get(f"/orders/?{query}").context["table"].columns]


def test_a_person_keeps_columns_in_their_order_and_others_keep_theirs(supervisor, cashier):
    answer = choose(supervisor, "cashier", "product", "nonsense", "price", query="status=success&columns=sn")

    assert answer["Location"] == "/orders/?status=success"
    assert shown(supervisor) == ["cashier", "product", "price"]
    assert shown(supervisor, "columns=paid_by,ended,nonsense") == ["product", "paid_by", "ended"]  # the address wins
    assert "sari" in supervisor.get("/orders/").content.decode().partition("<tbody>")[2]
    assert shown(cashier) == USUAL

    choose(supervisor, "product", "sn", "price", up="price")  # as without JavaScript
    assert shown(supervisor) == ["product", "price", "sn"]

    choose(supervisor)
    assert shown(supervisor) == USUAL
    assert not SavedView.objects.exists()


def test_profit_is_a_column_for_people_who_see_costs_and_a_phone_offers_what_it_shows(supervisor, cashier):
    def left_out(browser):
        page = browser.get("/orders/").content.decode()
        return re.findall(r'<div data-place class="not-narrow">.*?value="(\w+)"', page, re.DOTALL)

    assert shown(supervisor, "columns=product,profit,trx_id") == ["product", "profit", "trx_id"]
    assert shown(cashier, "columns=product,profit,trx_id") == ["product", "trx_id"]
    assert 'value="profit"' not in cashier.get("/orders/").content.decode()
    assert left_out(supervisor) == ["profit", "cashier", "paid_by", "ended", "trx_id"]
    assert left_out(cashier) == ["cashier", "paid_by", "ended", "trx_id"]


def test_a_view_keeps_the_columns_of_its_maker(supervisor):
    choose(supervisor, "product", "cashier")

    answer = supervisor.post("/orders/views/save/?status=success", {"name": "Mine", "is_shared": "on"})

    assert answer["Location"] == "/orders/?status=success&columns=product%2Ccashier"
    views = browser_of("auditor").get("/orders/views/").context["views"]
    assert [(view.name, view.query) for view in views][1:] == [("Mine", "status=success&columns=product%2Ccashier")]


def test_a_file_has_the_chosen_columns(supervisor, order):
    choose(supervisor, "cashier", "product", "price")
    expected = {"cashier": "sari", "product_code": order.product_code, "product": order.product_name}
    expected |= {"price": "12000", "cost": str(order.shown_price)}

    now = supervisor.get("/orders/file/?status=success&format=csv")
    supervisor.post("/orders/file/?format=csv&q=")
    export = Export.objects.get()
    write_list(export.pk)
    ticked = supervisor.post("/orders/bulk/", {"act": "file", "order": [order.ref_id]})

    for content in (b"".join(now.streaming_content), b"".join(content_of(export)), b"".join(ticked.streaming_content)):
        [row] = csv_rows(content)
        assert list(row.items()) == list(expected.items())


def test_a_row_that_changes_keeps_its_columns(supervisor):
    open_one = make_order(Status.PENDING, destination="081234567899")
    choose(supervisor, "product", "trx_id")

    assert "columns=product%2Ctrx_id" in supervisor.get("/orders/").context["live"].ask
    answer = supervisor.get(f"/orders/live/?columns=product,trx_id&seen=row-{open_one.pk}~old")

    assert 'class="c-trx_id' in answer.content.decode()
    assert 'class="c-destination' not in answer.content.decode()
