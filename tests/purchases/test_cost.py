"""The statements of an order, from the click to its final status: no new statement goes unnoticed."""

import uuid

from callbacks.services import process_batch
from catalogue.models import Product
from purchases.models import Order
from purchases.services import submit
from purchases.states import Status
from testing.callbacks import body_for, post
from testing.database import statements
from testing.people import browser_of
from tests.conftest import Upstream
from upstream.budget import CallClass


def test_an_order_takes_30_statements_from_click_to_callback(upstream: Upstream):
    browser, product = browser_of("cashier"), Product.objects.get(name="Telkomsel 10.000")
    counts = []
    for number in ("081212345670", "081212345671"):  # the first order makes the rows that later orders find
        form = {"product": product.code, "destination": number, "token": str(uuid.uuid4()), "price": product.price}
        with statements() as click:
            assert browser.post("/counter/send/", form).status_code == 302
        order = Order.objects.get(destination=number)
        with statements() as sending:
            submit(order.pk, call_class=CallClass.INTERACTIVE)
        order.refresh_from_db()
        assert order.status == Status.PENDING
        body = body_for(order, trx_id=order.trx_id, price=order.price)
        with statements() as storing:
            post(body, headers={"X-Delivery-Id": number})
        with statements() as settling:
            process_batch(50)
        order.refresh_from_db()
        assert order.status == Status.SUCCESS
        counts = [len(sent) for sent in (click, sending, storing, settling)]

    # click: session, person, product, earlier orders; open drawer, buyer, payment, order, event, books
    # sending: kind, account; lock, move, event; exchange, account; lock, trx_id elsewhere, move, event, entries, books
    # callback: store; lock it, lock the order, move, event, payment, the same SN elsewhere, note the result
    assert counts == [10, 12, 1, 7]
