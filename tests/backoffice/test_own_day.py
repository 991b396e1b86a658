"""A cashier's overview: their own drawer, orders and sales, and nothing of the shop as a whole."""

import datetime as dt

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from backoffice import own_day
from purchases.states import ActionReason, Status
from staff.models import User
from testing.factories import make_order, make_product
from testing.people import browser_of, make_person
from tests.core.helpers import has_id, next_question
from tests.drawers.helpers import begin, end, sell

pytestmark = pytest.mark.django_db

SHOP_WIDE = ("balance-title", "today-title", "catalogue-title", "latest-title", "limit-use")


def me() -> User:
    return User.objects.get(username="cashier")


def rows(page, panel: str) -> list[str]:
    """The orders in a panel of the page, by ref_id."""
    content = page.content.decode()
    part = content.split(f'id="{panel}"')[1].split("</section>", maxsplit=1)[0] if f'id="{panel}"' in content else ""
    return [piece.split('"', maxsplit=1)[0] for piece in part.split('data-own-order="')[1:]]


def test_a_cashier_sees_nothing_of_the_shop_as_a_whole(cashier):
    other = make_person("cashier", username="other")
    make_order(Status.SUCCESS, placed_by=other)
    make_order(Status.PENDING, placed_by=other, destination="081234567891")

    page = cashier.get("/")

    assert not [name for name in SHOP_WIDE if has_id(page, name)]
    assert rows(page, "own-open") == rows(page, "own-latest") == []
    assert 'data-sold="0"' in page.content.decode()


def test_given_more_open_orders_than_are_listed_then_their_number_says_so(cashier, monkeypatch):
    monkeypatch.setattr(own_day, "_MOST_OPEN", 2)
    own_day._questions.cache_clear()
    for shown in ("1", "2", "2+"):
        make_order(Status.PENDING, placed_by=me())

        assert f'data-count="{shown[0]}">{shown}</span>' in cashier.get("/").content.decode()
    own_day._questions.cache_clear()


def test_own_orders_and_sales_of_today_are_there(cashier):
    product = make_product(price=10_500)
    mine = {"placed_by": me(), "product": product, "selling_price": 12_000}
    open_one = make_order(Status.PENDING, **mine)
    waits = make_order(Status.NEEDS_ACTION, action_reason=ActionReason.CUT_OFF, destination="081234567891", **mine)
    done = make_order(Status.SUCCESS, destination="081234567892", **mine)
    failed = make_order(Status.FAILED, destination="081234567893", **mine)
    yesterday = timezone.now() - dt.timedelta(days=1)
    make_order(Status.SUCCESS, destination="081234567894", created_at=yesterday, **mine)

    page = cashier.get("/")

    assert set(rows(page, "own-open")) == {open_one.ref_id, waits.ref_id}
    assert set(rows(page, "own-latest")) == {done.ref_id, failed.ref_id}
    content = page.content.decode()
    assert 'data-sold="1" data-amount="12000"' in content
    assert 'data-in-vain="1"' in content


def test_the_drawer_holds_what_its_page_says_with_a_sale_of_a_moment_ago(cashier):
    assert has_id(cashier.get("/"), "own-drawer-closed")
    begin(me(), cash=200_000)
    sell(me(), 10_500)

    overview, drawer = cashier.get("/").content.decode(), cashier.get("/drawer/").content.decode()

    assert 'id="own-expected"' in overview
    assert 'data-amount="210500"' in overview
    assert 'id="expected-now" data-amount="210500"' in drawer


def test_it_is_sent_again_when_an_own_order_ends_and_only_then(cashier):
    order = sell(me(), 10_500)
    ask, delay = next_question(cashier.get("/"))
    assert delay <= 10

    assert 'id="own-day"' not in cashier.get(ask).content.decode()
    end(order, "success")

    news = cashier.get(ask)
    assert 'id="own-day" hx-swap-oob="true"' in news.content.decode()
    assert (rows(news, "own-open"), rows(news, "own-latest")) == ([], [order.ref_id])
    assert next_question(news)[1] == 30


def test_the_shop_stays_before_the_own_day_for_who_sees_it():
    browser = browser_of("supervisor")
    assert not has_id(browser.get("/"), "own-sales")

    end(sell(begin(User.objects.get(username="supervisor")).cashier, 10_500), "success")

    page = browser.get("/").content.decode()
    parts = [page.index(f'id="{name}"') for name in ("balance-title", "latest-title", "own-expected", "own-sales")]
    assert parts == sorted(parts)
    assert not has_id(browser.get("/"), "own-open")
    assert not has_id(browser.get("/"), "own-latest")


def test_it_takes_few_queries_however_much_was_sold(cashier):
    begin(me())
    for orders in (range(1), range(1, 15)):
        for number in orders:
            end(sell(me(), 10_500, destination=f"0812345678{number:02}"), "success" if number % 2 else "failed")
        cashier.get("/")
        ask, _delay = next_question(cashier.get("/"))

        with CaptureQueriesContext(connection) as page:
            cashier.get("/")
        with CaptureQueriesContext(connection) as poll:
            cashier.get(ask)

        assert (len(page), len(poll)) == (4, 3), orders
