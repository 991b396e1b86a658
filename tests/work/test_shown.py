"""The rows that the list of work and its part of the overview show: their number, names and order."""

import datetime as dt
import re

import pytest
from django.utils import timezone

from complaints.models import Complaint
from purchases.states import ActionReason, Status
from testing.factories import make_order
from testing.people import browser_of, make_person
from tests.approvals.helpers import ask_purchase, cashier
from tests.core.helpers import cells, counts_at, has_id, words_at
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


def test_the_overview_counts_in_one_line_what_is_due_later():
    # given two complaints that are due in two days, and later an order that is due today
    browser, now = browser_of("admin"), timezone.now()
    facts = {"opened_at": now, "due_at": now + dt.timedelta(days=2), "opened_by": make_person("cashier")}
    for _ in range(2):
        order = make_order(Status.SUCCESS)
        Complaint.objects.create(order=order, **facts)
    quiet = browser.get("/work/first/")
    held = make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT)

    page = browser.get("/work/first/")

    assert has_id(quiet, "nothing-due")
    assert (has_id(page, "nothing-due"), has_id(page, "nothing-waits")) == (False, False)
    assert [task.pk for task in page.context["table"].rows] == [f"order-{held.pk}"]
    for seen in (quiet, page):
        assert re.findall(r"\d+ \w+", words_at(seen, 'id="due-later"')) == ["2 complaints"]
    assert page.context["count"] == counts_at(browser.get("/work/"), 'id="count-work"')[0] == 3


def test_a_row_says_in_red_that_a_customer_waits():
    ask_purchase(cashier(own_approval_above=10_000), "081234567890")
    make_order(Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT)

    browser = browser_of("admin")
    work, overview = (browser.get(page).content.decode() for page in ("/work/", "/work/first/"))

    assert re.findall(r'class="sub why">(<strong>)?', work) == ["<strong>", ""]
    assert re.findall(r'class="sub why">(<strong>)?', overview) == ["<strong>", ""]


@pytest.mark.parametrize(
    ("reason", "says"),
    [(ActionReason.NEVER_ARRIVED, "Never arrived?"), (ActionReason.PRICE_CHANGED, "Price has risen")],
)
def test_two_orders_that_need_action_say_why_on_the_overview_too(reason: ActionReason, says: str):
    make_order(Status.NEEDS_ACTION, action_reason=reason)

    browser = browser_of("admin")

    for page in ("/work/", "/work/first/"):
        assert words_at(browser.get(page), 'class="sub why"') == says, page


def test_filters_by_kind_have_the_names_of_the_rows_in_their_order():
    # given: the sale is due in minutes, the refund in a day, and there is no incident
    ask_purchase(cashier(own_approval_above=10_000), "081234567890")
    make_order(Status.REVERSED)
    make_difference(-1_000, "unexplained_debit")

    page = browser_of("admin").get("/work/")

    chips = re.findall(r'data-kind="(\w+)"[^>]*>([^<(]+) \(1\)</a>', page.content.decode())
    assert [code for code, _words in chips] == ["approval", "difference", "refund"]
    assert [words for _code, words in chips] == [words.strip() for words in cells(page, "kind")]
