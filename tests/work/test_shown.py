"""What the list of work and its part of the overview show of the rows: how many, under which names, in which order."""

import re

import pytest

from purchases.states import ActionReason, Status
from testing.factories import make_order
from testing.people import browser_of
from tests.approvals.helpers import ask_purchase, cashier
from tests.core.helpers import cells, counts_at, has_id
from tests.reconciliation.helpers import make_difference

pytestmark = pytest.mark.django_db


def test_the_overview_shows_eight_rows_and_says_how_many_more_wait():
    browser = browser_of("admin")
    for _ in range(8):
        make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT)
    eight = browser.get("/work/first/")
    make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT)
    nine = browser.get("/work/first/")

    assert [len(page.context["table"]) for page in (eight, nine)] == [8, 8]
    assert not has_id(eight, "waits-more")
    assert counts_at(nine, 'id="waits-more"') == [1]


def test_a_row_says_in_red_that_a_customer_waits():
    ask_purchase(cashier(own_approval_above=10_000), "081234567890")
    make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT)

    page = browser_of("admin").get("/work/first/").content.decode()

    assert re.findall(r'class="sub why">· (<strong>)?', page) == ["<strong>", ""]


def test_filters_by_kind_have_the_names_of_the_rows_in_their_order():
    # given: the sale is due in minutes, the refund in a day, and there is no incident
    ask_purchase(cashier(own_approval_above=10_000), "081234567890")
    make_order(Status.REVERSED)
    make_difference(-1_000, "unexplained_debit")

    page = browser_of("admin").get("/work/")

    chips = re.findall(r'data-kind="(\w+)"[^>]*>([^<(]+) \(1\)</a>', page.content.decode())
    assert [code for code, _words in chips] == ["approval", "difference", "refund"]
    assert [words for _code, words in chips] == [words.strip() for words in cells(page, "kind")]
