"""A killed process or an emptied store only delays: every order reaches its true state, charged once."""

import hashlib
import hmac
import os
import signal
import uuid

import redis
import requests
from django.utils import timezone

from callbacks.models import Callback, CallbackState
from catalogue.models import Product
from purchases.models import Order
from purchases.states import Status
from testing.callbacks import body_for
from testing.factories import moves
from testing.fleet import Fleet
from testing.orders import place
from testing.people import browser_of
from testing.sandbox_process import eventually
from tests.conftest import Upstream
from tests.purchases import magic

CREATE = "/v1/transaction/create"


def place_magic(number: int) -> Order:
    """A queued order for magic destination `number`, due at once, as if its message were lost."""
    order = magic.place(number)
    Order.objects.filter(pk=order.pk).update(next_poll_at=timezone.now())
    return order


def status(order: Order) -> str:
    return Order.objects.values_list("status", flat=True).get(pk=order.pk)


def test_workers_killed_after_the_claim_then_it_is_charged_once(upstream: Upstream, fleet: Fleet):
    # No process gives up or polls before the kill.
    fleet.env |= {"UPSTREAM_READ_TIMEOUT": "30", "ORDER_CHECK_FIRST_SECONDS": "30"}
    fleet.start("worker", "background", "beat")
    order = place_magic(6)  # accepted, then no answer
    eventually(lambda: status(order) == Status.SENDING and upstream.ledger(order), within=30)

    fleet.kill("worker", "background", "beat")
    assert status(order) == Status.SENDING
    Order.objects.update(next_poll_at=timezone.now())  # the 30 s are over
    fleet.start("worker", "background", "beat")

    eventually(lambda: status(order) == Status.SUCCESS, within=60)
    order.refresh_from_db()
    assert upstream.ledger(order) == [("debit", -order.max_price)]
    assert upstream.calls(order, "create") == [CREATE]
    assert ("queued", "sending", "submit") in moves(order)


def test_redis_emptied_with_orders_queued_then_all_succeed(upstream: Upstream, fleet: Fleet):
    product = Product.objects.get(name="Telkomsel 10.000")
    orders = [place(product, destination=f"08121234{number:04d}", enqueue=True) for number in range(12)]
    Order.objects.update(next_poll_at=timezone.now())
    fleet.env |= {"ORDER_LEASE_SECONDS": "3"}
    fleet.start("worker", "background", "beat")
    eventually(lambda: Order.objects.exclude(status=Status.QUEUED).exists(), within=30)

    redis.Redis.from_url(fleet.env["REDIS_URL"]).flushall()

    eventually(lambda: Order.objects.filter(status=Status.SUCCESS).count() == len(orders), within=60)
    for order in orders:
        assert upstream.ledger(order) == [("debit", -product.price)]
        assert upstream.calls(order, "create") == [CREATE]


def test_broker_frozen_then_stopped_delays_a_purchase_and_a_callback(upstream: Upstream, fleet: Fleet, valkey):
    fleet.start("web")
    product = Product.objects.get(name="Telkomsel 10.000")
    cashier = browser_of("cashier", username="till")
    cashier.get(f"/counter/review/?product={product.code}&q=081200000000")
    cookies = {name: morsel.value for name, morsel in cashier.cookies.items()}
    form = {"destination": "081212340001", "price": product.price, "token": uuid.uuid4(), "confirm": "1"}
    form |= {"product": product.code, "csrfmiddlewaretoken": cookies["csrftoken"]}

    # when: a purchase while Valkey is frozen
    os.kill(valkey.child.pid, signal.SIGSTOP)
    try:
        answer = requests.post(f"{fleet.url}/counter/send/", form, cookies=cookies, allow_redirects=False, timeout=60)
    finally:
        os.kill(valkey.child.pid, signal.SIGCONT)
    bought = Order.objects.get()
    assert (answer.status_code, bought.status) == (302, Status.QUEUED)

    # when: a callback while Valkey has ended
    order = place_magic(3)  # stays pending until it is settled
    Order.objects.filter(pk=order.pk).update(status=Status.SENDING, attempt=1, sent_at=timezone.now(), sent_no=1)
    Order.objects.filter(pk=order.pk).update(status=Status.PENDING, next_poll_at="2030-01-01T00:00:00Z")
    body = body_for(order)
    signature = hmac.new(fleet.env["UPSTREAM_SECRET_KEY"].encode(), body, hashlib.sha256).hexdigest()
    headers = {"Content-Type": "application/json", "X-Signature": signature, "X-Delivery-Id": "d-1"}
    valkey.stop()
    answer = requests.post(f"{fleet.url}/callbacks/upstream/", data=body, headers=headers, timeout=20)
    assert answer.status_code == 200
    assert Callback.objects.get().state == CallbackState.RECEIVED
    assert requests.get(f"{fleet.url}/healthz", timeout=5).status_code == 200

    # then: both reach their state once it is back; the head start of the lost message is over
    valkey.start()
    valkey.wait_ready()
    Order.objects.filter(pk=bought.pk).update(next_poll_at=timezone.now())
    fleet.start("worker", "background", "beat")
    eventually(lambda: (status(order), status(bought)) == (Status.SUCCESS, Status.SUCCESS), within=90)
    assert Callback.objects.get().state == CallbackState.APPLIED
    assert upstream.ledger(bought) == [("debit", -product.price)]
