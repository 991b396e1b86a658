"""The orders list with its filters; it follows the open orders."""

import datetime as dt
import html
import re
from urllib.parse import unquote

import pytest
from django.utils import timezone

from purchases.states import Status
from testing.factories import make_order, make_product
from testing.orders import report
from tests.core.helpers import has_id, next_question, words
from tests.purchases.helpers import listed
from upstream.error_codes import meaning_of

pytestmark = pytest.mark.django_db


def test_the_list_shows_the_newest_first_why_one_was_rejected_and_whether_there_are_none(cashier):
    assert has_id(cashier.get("/orders/"), "none-yet")
    facts = {"error_code": "INVALID_DESTINATION", "created_at": timezone.now() - dt.timedelta(hours=2)}
    old = make_order(Status.REJECTED, **facts)
    new = make_order(Status.SUCCESS)

    page = cashier.get("/orders/")

    assert listed(page) == [new.ref_id, old.ref_id]
    assert str(meaning_of("INVALID_DESTINATION").words) in words(page)
    assert next_question(page) is None  # of final orders it asks nothing
    assert has_id(cashier.get("/orders/?q=zzz"), "none-matches")


def test_an_order_is_found_by_destination_sn_or_ref_id(cashier):
    make_order(Status.SUCCESS)
    facts = {"ref_id": "B260101-ABCDEFGHJK", "destination": "081234567891", "sn": "SN-FIND-ME"}
    wanted = make_order(Status.SUCCESS, **facts)

    for query in ["081234567891", "4567891", "SN-FIND-ME", "sn-find", "b260101-abc"]:
        assert listed(cashier.get("/orders/", {"q": query})) == [wanted.ref_id], query


def test_status_and_the_two_groups_narrow(cashier):
    orders = {status: make_order(status) for status in (Status.SUCCESS, Status.PENDING, Status.NEEDS_ACTION)}
    long_unknown = make_order(Status.UNKNOWN, sent_at=timezone.now() - dt.timedelta(minutes=5))

    def with_status(status):
        return set(listed(cashier.get("/orders/", {"status": status})))

    assert with_status("success") == {orders[Status.SUCCESS].ref_id}
    assert with_status("open") == {
        orders[Status.PENDING].ref_id,
        orders[Status.NEEDS_ACTION].ref_id,
        long_unknown.ref_id,
    }
    assert with_status("attention") == {orders[Status.NEEDS_ACTION].ref_id, long_unknown.ref_id}


def test_days_are_days_in_jakarta(cashier):
    jakarta = dt.timezone(dt.timedelta(hours=7))
    late = make_order(Status.SUCCESS, created_at=dt.datetime(2026, 8, 21, 23, 59, tzinfo=jakarta))
    early = make_order(Status.SUCCESS, created_at=dt.datetime(2026, 8, 22, 0, 1, tzinfo=jakarta))

    assert listed(cashier.get("/orders/?since=2026-08-22")) == [early.ref_id]
    assert listed(cashier.get("/orders/?until=2026-08-21")) == [late.ref_id]
    assert listed(cashier.get("/orders/?since=2026-08-21&until=2026-08-22")) == [early.ref_id, late.ref_id]


def test_brand_and_product_narrow(cashier):
    axis = make_product(brand="axis", name="Axis 5.000")
    axis.brand.name = "Axis"
    axis.brand.save()
    wanted = make_order(Status.SUCCESS, product=axis)
    make_order(Status.SUCCESS)

    assert listed(cashier.get("/orders/?brand=Axis")) == [wanted.ref_id]
    assert listed(cashier.get(f"/orders/?product={axis.code}")) == [wanted.ref_id]


def test_a_filter_that_makes_no_sense_is_said_and_left_out_and_no_query_breaks_the_list(cashier):
    order = make_order(Status.SUCCESS)

    answer = cashier.get("/orders/?since=yesterday&status=nonsense")

    assert has_id(answer, "filter-faults")
    assert listed(answer) == [order.ref_id]
    for query in ["q=%00", "older=x", "newer=99999999999-1", "older=20260101T000000.000000-0", "q=%25"]:
        assert cashier.get(f"/orders/?{query}").status_code == 200, query
    for seen in ["", "x~y", "row-1", "row-99999999999999999999~a", "row-²~a", ",,,"]:
        assert cashier.get("/orders/live/", {"seen": seen, "quiet": "²"}).status_code == 200, seen


def test_pages_follow_both_ways_at_one_moment_and_as_orders_come(cashier):
    product, moment = make_product(), timezone.now() - dt.timedelta(minutes=5)
    orders = [
        make_order(Status.SUCCESS, product=product, destination=f"0812{i:08}", created_at=moment) for i in range(101)
    ]
    expected = [order.ref_id for order in reversed(orders)]

    def neighbour(answer, word):
        link = re.search(rf'href="(\?[^"]*{word}=[^"]+)"', answer.content.decode())
        return cashier.get("/orders/" + html.unescape(link.group(1))) if link else None

    first = cashier.get("/orders/?status=success")
    make_order(Status.SUCCESS, product=product, destination="081299999999")
    second = neighbour(first, "older")
    third = neighbour(second, "older")
    back = neighbour(second, "newer")

    assert listed(first) == expected[:50]
    assert listed(second) == expected[50:100]
    assert listed(third) == expected[100:]
    assert neighbour(third, "older") is None
    assert listed(back) == expected[:50]
    assert "status=success" in second.request["QUERY_STRING"]


def test_the_list_asks_about_open_orders_and_gets_changed_rows(cashier):
    product = make_product()
    moving = make_order(Status.PENDING, product=product, destination="081200000001")
    waiting = make_order(Status.PENDING, product=product, destination="081200000002")
    make_order(Status.SUCCESS, product=product)
    ask, delay = next_question(cashier.get("/orders/"))
    assert delay == 2

    calm = cashier.get(ask)
    assert listed(calm) == []

    report(moving)
    changed = cashier.get(ask)
    assert listed(changed) == [moving.ref_id]
    assert f'id="row-{moving.pk}" hx-swap-oob="true"' in changed.content.decode()
    assert f"row-{waiting.pk}~" in unquote(next_question(changed)[0])
    assert f"row-{moving.pk}~" not in unquote(next_question(changed)[0])
