"""Refusals come before anything is stored or sent; an order is placed once."""

import uuid
from typing import Any

import pytest
import time_machine

from catalogue.models import Product
from purchases.errors import NotForSale, OpenDuplicate, PriceMoved, RepeatToday, TokenUsed
from purchases.models import Order
from purchases.states import OPEN, Status
from testing.factories import make_order, make_product, moves
from testing.orders import place

pytestmark = pytest.mark.django_db

NUMBER = "081234567890"


def _place(product: Product, **facts: Any) -> Order:
    return place(product, **{"destination": NUMBER, "enqueue": True, **facts})


def test_a_placed_order_has_ref_id_and_is_due_before_sending():
    product = make_product(price=10_500)

    order = _place(product, destination="+62 812 3456 7890")

    assert (order.status, order.destination, order.max_price, order.price) == ("queued", NUMBER, 10_500, None)
    assert order.next_poll_at is not None
    assert 1 <= len(order.ref_id) <= 64
    assert moves(order) == [("", "queued", "staff")]


def test_a_confirmed_form_cannot_be_used_for_something_else():
    key = str(uuid.uuid4())
    _place(make_product(), idempotency_key=key)

    with pytest.raises(TokenUsed):
        _place(make_product(), idempotency_key=key, destination="081299999999")


def test_an_open_order_for_the_same_purchase_refuses_a_second():
    for status in sorted(OPEN):
        product = make_product()
        first = make_order(status, product=product, destination=NUMBER)
        with pytest.raises(OpenDuplicate, match=first.ref_id) as refusal:
            _place(product, confirm_repeat=True)
        assert (refusal.value.order, Order.objects.filter(product=product).count()) == (first, 1), status


def test_the_same_bought_today_warns_and_is_placed_when_meant_and_a_failure_is_no_repeat():
    product, failing = make_product(), make_product()
    first = make_order(Status.SUCCESS, product=product, destination=NUMBER)
    make_order(Status.FAILED, product=failing, destination=NUMBER)

    with pytest.raises(RepeatToday) as refusal:
        _place(product)
    assert refusal.value.order == first

    assert _place(product, confirm_repeat=True).status == Status.QUEUED
    assert _place(failing).status == Status.QUEUED


def test_the_same_bought_yesterday_is_a_repeat_for_an_hour():
    product = make_product()
    with time_machine.travel("2026-08-21T23:59:00+07:00", tick=False):
        make_order(Status.SUCCESS, product=product, destination=NUMBER)

    with time_machine.travel("2026-08-22T00:58:00+07:00", tick=False), pytest.raises(RepeatToday, match="23:59"):
        _place(product)
    with time_machine.travel("2026-08-22T01:00:00+07:00", tick=False):
        assert _place(product).status == Status.QUEUED


def test_a_price_other_than_the_one_seen_is_confirmed_again():
    product = make_product(price=10_700)

    with pytest.raises(PriceMoved) as refusal:
        _place(product, max_price=10_500)

    assert refusal.value.price == 10_700
    assert "Rp10.700" in str(refusal.value)
    assert not Order.objects.exists()


def test_what_is_not_for_sale_is_not_placed():
    for facts, reason in (
        ({"is_listed": False}, "delisted"),
        ({"availability": "inactive"}, "unavailable"),
        ({"type": "postpaid"}, "postpaid"),
        ({"price": 0}, "unavailable"),
    ):
        with pytest.raises(NotForSale) as refusal:
            _place(make_product(**facts))
        assert refusal.value.reason == reason, facts
    assert not Order.objects.exists()


def test_a_cut_off_may_pass_midnight_and_nothing_is_placed_in_it():
    product = make_product(cut_off_start="23:45", cut_off_end="00:30")
    product.refresh_from_db()
    closed = {"23:44": False, "23:45": True, "00:10": True, "00:30": False, "12:00": False}

    for time, is_closed in closed.items():
        with time_machine.travel(f"2026-08-22T{time}:00+07:00", tick=False):
            assert product.in_cut_off() is is_closed, time
    with time_machine.travel("2026-08-22T23:50:00+07:00", tick=False), pytest.raises(NotForSale) as refusal:
        _place(product)
    assert refusal.value.reason == "cut_off"


def test_an_order_is_found_by_its_number_in_every_notation():
    order = make_order(Status.SUCCESS, destination=NUMBER)
    make_order(Status.SUCCESS, destination="085799999999")

    for typed in ("081234567890", "0812-3456-7890", "+62 812-3456-7890", "6281234567890", "34567890"):
        assert list(Order.objects.matching(typed)) == [order], typed


@pytest.mark.parametrize("sn", [f"{NUMBER}/BUDI/REF99", NUMBER, f"{NUMBER}/{'x' * 50}", f"SN{NUMBER}"])
def test_without_numbers_an_sn_is_found_whole_only(sn):
    order = make_order(Status.SUCCESS, destination=NUMBER, sn=sn)
    first = sn.partition("/")[0]

    for part in (sn[:1], first[:-1], f"{first}/B", sn[:40], "".join([*first[:4], "-", *first[4:-1]])):
        if part not in {first, sn}:
            assert not Order.objects.matching(part, by_part=False).exists()
    assert list(Order.objects.matching(sn.lower(), by_part=False)) == [order]
    assert list(Order.objects.matching(first, by_part=False)) == [order]


def test_without_numbers_a_token_is_found_in_its_groups():
    order = make_order(Status.SUCCESS, destination=NUMBER, sn="12345678901234567890/SARI/R1/1300VA")

    assert list(Order.objects.matching("1234-5678-9012-3456-7890", by_part=False)) == [order]
    assert not Order.objects.matching("1234-5678-9012-3456-789", by_part=False).exists()
