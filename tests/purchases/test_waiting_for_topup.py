"""If the balance is short, the order is refused before anything is stored, or it waits and is then sent by itself."""

import re

import pytest

from purchases.models import Order
from purchases.services.waiting import queue_waiting_orders
from testing.factories import make_check, make_product
from testing.orders import NUMBER, confirm, review
from tests.core.helpers import codes, has_id, hidden, words
from tests.ledger.helpers import open_books, spend, upstream_tells

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("costs_shown")]


def wait(client, product, fields):
    return client.post("/counter/send/", {**fields, "product": product.code, "confirm": "wait"}, follow=True)


def test_a_waiting_order_says_so_and_goes_after_a_top_up(cashier):
    product = make_product(price=10_500)
    open_books(10_000)

    shown = review(cashier, product)
    page, _again = (wait(cashier, product, hidden(shown)) for _pressed in range(2))

    assert has_id(shown, "short-to-wait")
    assert "Rp500" in words(shown).split()
    assert re.findall(r'name="confirm" value="(\w+)"', shown.content.decode()) == ["wait"]
    order = Order.objects.get()
    assert (order.status, order.action_reason, order.waits_for_topup) == ("needs_action", "balance_short", True)
    assert codes(page) >= {"placed_to_wait"}
    assert "waits_for_topup" in codes(cashier.get(order.get_absolute_url()))

    upstream_tells(50_000)
    queue_waiting_orders()
    order.refresh_from_db()
    assert order.status == "queued"


def test_a_balance_taken_meanwhile_is_refused_and_may_wait(cashier):
    product = make_product(price=10_500)
    open_books(15_000)
    asked = review(cashier, product)
    spend(10_000)

    answer = confirm(cashier, product, hidden(asked))

    assert not Order.objects.filter(destination=NUMBER, product=product).exists()
    assert has_id(answer, "short")
    assert codes(answer) == {"BalanceShort"}
    assert {"Rp10.500", "Rp5.000"} <= set(words(answer).split())
    wait(cashier, product, hidden(answer))
    assert Order.objects.get(product=product).waits_for_topup


def test_waiting_with_enough_available_by_now_is_sent_at_once(cashier):
    product = make_product(price=10_500)
    open_books(10_000)
    fields = hidden(review(cashier, product))
    upstream_tells(50_000)

    page = wait(cashier, product, fields)

    assert Order.objects.get().status == "queued"
    assert "placed" in codes(page)


def test_a_bill_above_available_is_refused_and_stays_payable(cashier):
    open_books(100_000)
    check = make_check()

    before = cashier.get(f"/counter/bills/{check.ref_id}/")
    answer = cashier.post(f"/counter/bills/{check.ref_id}/pay/", {"amount": check.total})

    assert has_id(before, "bill-short")
    assert "Rp2.500" in words(before).split()
    assert not Order.objects.exists()
    assert has_id(answer, "refusal")
    assert {"Rp102.500", "Rp100.000"} <= set(words(answer).split())
    assert has_id(answer, "counter-pay")
