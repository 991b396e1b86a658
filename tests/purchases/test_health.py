"""A product's health: counted from our orders in the background, shown on tile and page, over by itself."""

import datetime as dt
from types import SimpleNamespace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from time_machine import travel

from backoffice.celery import app
from catalogue.models import ProductHealth
from core import recount
from core.stores import hurried
from purchases.models import OrderEvent
from purchases.services import count_health, count_health_if_due
from purchases.services.health import recount_when_committed
from purchases.services.moving import Cause, lock_order_for_move, move
from purchases.states import Status
from testing.factories import make_biller, make_order, make_product

pytestmark = pytest.mark.django_db

MINUTE = dt.timedelta(minutes=1)


@pytest.fixture(autouse=True)
def _nothing_noted():
    hurried().delete(recount._DUE)


def ended(product, status, *, ago=1.0, took=0.1, **facts):
    """An order that ended so many minutes ago, and took so many minutes."""
    final_at = timezone.now() - ago * MINUTE
    sent_at = final_at - took * MINUTE
    return make_order(status, product=product, sent_at=sent_at, created_at=sent_at, final_at=final_at, **facts)


def on_its_way(product, *, minutes, number):
    at = timezone.now() - minutes * MINUTE
    destination = f"08120000{number:04}"
    return make_order(Status.PENDING, product=product, sent_at=at, created_at=at, destination=destination)


def marks(browser, product, page="/products/"):
    """The marks of health on a page: "failing", "slow"."""
    text = browser.get(page.format(code=product.code)).content.decode()
    return [part.partition('"')[0] for part in text.split('data-health="')[1:]]


# --- failing --------------------------------------------------------------------------------------------------------


def test_given_five_of_ten_failed_then_tile_and_page_say_so_and_of_no_other_product(cashier):
    product, _other = make_product(), make_product(name="Telkomsel 20.000")
    for at in range(10):
        ended(product, Status.FAILED if at % 2 else Status.SUCCESS, ago=at + 1)

    count_health()

    row = ProductHealth.objects.get()
    assert (row.product, row.failed, row.ended) == (product, 5, 10)
    assert marks(cashier, product) == ["failing"]
    assert marks(cashier, product, "/counter/?product={code}") == ["failing"]
    assert "5 of the last 10 failed" in cashier.get("/products/").content.decode()


def test_given_a_biller_that_fails_then_its_pages_say_so(cashier):
    biller = make_biller()
    for _ in range(3):
        ended(biller, Status.FAILED, kind="bill", max_price=102_500)

    count_health()

    assert marks(cashier, biller) == ["failing"]
    assert marks(cashier, biller, "/counter/?product={code}") == ["failing"]


def test_few_failures_are_not_worth_a_word():
    said = {(2, 0): False, (3, 0): True, (3, 7): True, (2, 8): False, (0, 10): False}
    products = {}
    for failed, succeeded in said:
        product = products[failed, succeeded] = make_product()
        for number in range(failed + succeeded):
            ended(product, Status.FAILED if number < failed else Status.SUCCESS)

    count_health()

    failing = ProductHealth.objects.filter(failing_until__gt=timezone.now())
    assert {many: failing.filter(product=product).exists() for many, product in products.items()} == said


def test_the_words_are_gone_when_nothing_is_sold_for_an_hour_or_the_last_ones_succeed(cashier):
    product = make_product()
    for _ in range(5):
        ended(product, Status.FAILED, ago=10)
    count_health()
    assert marks(cashier, product) == ["failing"]

    with travel(timezone.now() + 51 * MINUTE, tick=False):
        assert marks(cashier, product) == []

    for _ in range(10):
        ended(product, Status.SUCCESS)
    count_health()
    assert marks(cashier, product) == []


# --- slow -----------------------------------------------------------------------------------------------------------


def test_given_two_that_wait_for_minutes_then_it_is_slow_until_they_end(cashier):
    product = make_product()
    waiting = [on_its_way(product, minutes=3, number=at) for at in range(2)]
    count_health()
    assert marks(cashier, product) == ["slow"]

    for order in waiting:
        type(order).objects.filter(pk=order.pk).update(
            status="success", final_at=timezone.now(), sent_at=timezone.now() - MINUTE, ended_no=9, next_poll_at=None
        )
    count_health()

    assert marks(cashier, product) == []


def test_young_ones_and_a_single_one_are_not_slow():
    for minutes, many in ((1, 5), (3, 1)):
        product = make_product()
        for number in range(many):
            on_its_way(product, minutes=minutes, number=number)

    count_health()

    assert not ProductHealth.objects.exists()


def test_slow_ones_that_have_ended_are_forgotten_and_quick_ones_end_the_words_at_once():
    product = make_product()
    for _ in range(3):
        ended(product, Status.SUCCESS, ago=2, took=4)
    count_health()
    assert ProductHealth.objects.get().is_slow

    with travel(timezone.now() + 14 * MINUTE, tick=False):
        assert not ProductHealth.objects.get().is_slow

    for _ in range(2):
        ended(product, Status.SUCCESS)
    count_health()
    assert not ProductHealth.objects.get().is_slow


# --- in the background ----------------------------------------------------------------------------------------------


def test_when_an_order_ends_then_it_is_counted_once(django_capture_on_commit_callbacks, django_assert_num_queries):
    with django_assert_num_queries(0):  # at rest
        count_health_if_due()
    product = make_product()
    for _ in range(3):
        ended(product, Status.FAILED)
    order = make_order(Status.UNKNOWN, product=product, sent_at=timezone.now())

    with django_capture_on_commit_callbacks(execute=True):
        cause = Cause(source=OrderEvent.Source.POLL)
        move(lock_order_for_move(order.pk), Status.REJECTED, cause, sent_no=None)
    count_health_if_due()

    assert ProductHealth.objects.get().is_failing
    with django_assert_num_queries(0):
        count_health_if_due()


def test_an_order_that_is_sent_is_looked_at_when_it_gets_slow(django_capture_on_commit_callbacks, monkeypatch):
    now = 1_000_000.0
    monkeypatch.setattr(recount, "time", SimpleNamespace(time=lambda: now, monotonic=lambda: now))

    with django_capture_on_commit_callbacks(execute=True):
        recount_when_committed([Status.SENDING])
    assert not recount.is_due("product-health")
    now += 121

    assert recount.is_due("product-health")


def test_the_count_reads_and_writes_little_however_many_products(django_assert_max_num_queries):
    for at in range(12):
        product = make_product(name=f"Telkomsel {at}.000")
        for _ in range(3):
            ended(product, Status.FAILED)

    with django_assert_max_num_queries(3):
        count_health()
    with CaptureQueriesContext(connection) as queries:
        count_health()

    assert all(query["sql"].startswith("SELECT") for query in queries)
    assert len(queries) == 2


def test_a_page_asks_as_often_with_health_on_every_tile(cashier):
    products = [make_product(name=f"Telkomsel {at}.000") for at in range(8)]
    cashier.get("/products/")
    with CaptureQueriesContext(connection) as before:
        cashier.get("/products/")
    for product in products:
        for _ in range(3):
            ended(product, Status.FAILED)
    count_health()

    with CaptureQueriesContext(connection) as after:
        page = cashier.get("/products/").content.decode()

    assert page.count('data-health="failing"') == 8
    assert len(after) == len(before)


def test_the_background_counts_within_thirty_seconds():
    schedule = app.conf.beat_schedule["count-health"]

    assert schedule["task"] == "purchases.tasks.count_health"
    assert schedule["schedule"] <= 15
