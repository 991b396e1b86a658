"""A person whose right or session ends during a sale reads that nothing was sold, and not that no answer came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from ledger.models import Entry
from purchases.models import Order
from staff.models import User
from staff.roles import create_demo_staff
from staff.services import end_sessions
from testing.factories import make_product
from tests.drawers.helpers import begin
from tests.journeys.helpers import OpenWindow, faults_of, sign_in

pytestmark = [pytest.mark.journey, pytest.mark.django_db(transaction=True)]


def _withdraw() -> None:
    User.objects.get(username="cashier").groups.clear()


def _sign_out() -> None:
    cashier = User.objects.get(username="cashier")
    end_sessions(cashier, actor=User.objects.get(username="owner"))


@pytest.fixture
def reviewed(live_server: Any, open_window: OpenWindow) -> Page:
    """The review of a sale at the counter, one Enter before it is sent; the page asks nothing by itself."""
    create_demo_staff()
    begin(User.objects.get(username="cashier"), cash=100_000)
    product = make_product()
    page = open_window(may_complain=True)
    page.route("**/counter/live/**", lambda route: route.abort())
    sign_in(page, live_server.url, "cashier", f"/counter/review/?product={product.code}&q=081234567890")
    expect(page.locator("#counter-review[data-ready]")).to_be_visible()
    return page


@pytest.mark.parametrize(
    ("end", "code", "shows"),
    [(_withdraw, "not_allowed", "#fault-no-access"), (_sign_out, "signed_out", "#id_login")],
    ids=["right", "session"],
)
def test_a_sale_without_the_right_says_that_it_was_not_placed(
    reviewed: Page, end: Callable[[], None], code: str, shows: str
):
    end()

    reviewed.locator("#counter-review [data-send]").press("Enter")

    expect(reviewed.locator(f"[data-code={code}]")).to_be_visible()
    expect(reviewed.locator(shows)).to_be_visible()
    expect(reviewed.locator("[data-no-answer]:visible")).to_have_count(0)
    assert faults_of(reviewed) == []
    assert (Order.objects.count(), Entry.objects.count()) == (0, 0)


def test_a_counter_whose_right_is_gone_does_not_say_that_nothing_answers(reviewed: Page):
    reviewed.unroute("**/counter/live/**")
    _withdraw()

    reviewed.evaluate("htmx.trigger('#live', 'again')")

    expect(reviewed.locator("#fault-no-access")).to_be_visible()
    expect(reviewed.locator("#offline")).to_be_hidden()
