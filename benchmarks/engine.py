"""Count the cost of an order from the click to its final status, and print tables.

    python benchmarks/engine.py [--pairs 8] [--orders 25] [--clicks 100]

It starts PostgreSQL, Valkey, the web process, the worker and a small upstream by itself. The upstream answers at once,
with success or with "pending"; then a callback ends the order.

1. SQL statements, step by step (BEGIN and COMMIT are the driver's and not counted).
2. The services in this process (place, send, apply the answer) against a bare loop that makes the same HTTP call and
   writes the same rows by the ORM, in the same three transactions, and checks nothing. In pairs of so many orders.
3. Clicks over HTTP to the real processes: CPU time of web and worker together, idle time deducted.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.buyer import Buyer, new_destination
from benchmarks.shop import Shop, open_shop, print_table

if TYPE_CHECKING:
    from django.test import Client

    from catalogue.models import Product

PENDING_DESTINATION = "0812777"  # orders for numbers with this beginning are answered "pending", others "success"


def main() -> None:
    """Run the three parts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--orders", type=int, default=25)
    parser.add_argument("--clicks", type=int, default=100)
    options = parser.parse_args()
    port = multiprocessing.Value("i", 0)
    upstream = multiprocessing.get_context("fork").Process(target=serve_upstream, args=(port,), daemon=True)
    upstream.start()
    while not port.value:
        time.sleep(0.01)
    with open_shop(UPSTREAM_BASE_URL=f"http://127.0.0.1:{port.value}") as shop:
        quiet_log()
        product = open_for_business()
        count_statements(product)
        compare_with_bare_loop(product, options.pairs, options.orders)
        measure_clicks(shop, product, options.clicks)
    upstream.terminate()


class Upstream(BaseHTTPRequestHandler):
    """Answers /v1/transaction/create as the upstream does."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Accept every request."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        is_pending = asked["destination"].startswith(PENDING_DESTINATION)
        data = {
            "trx_id": f"T-{asked['ref_id']}",
            "ref_id": asked["ref_id"],
            "product_code": asked["product_code"],
            "product_name": "Telkomsel 10.000",
            "destination": asked["destination"],
            "price": asked["max_price"],
            "status": "pending" if is_pending else "success",
            "sn": None if is_pending else "SN-1",
            "message": "ok",
            "balance": 1_000_000,
        }
        body = json.dumps({"code": 200, "status": "success", "message": "ok", "data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


def serve_upstream(port: Any) -> None:
    """Serve on a free port, until ended."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    server.daemon_threads = True
    port.value = server.server_port
    server.serve_forever()


def quiet_log() -> None:
    """Write the log as in the shop, to where nobody reads it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)


def open_for_business() -> Product:
    """Open the books, tie the database to the upstream, make a product."""
    from django.db import transaction

    from gateway.services import bind_to_upstream
    from ledger import services as ledger
    from testing.factories import make_product
    from upstream.client import get_client

    bind_to_upstream(has_orders=False)
    get_client().budget.declare_fresh()
    with transaction.atomic():
        ledger.open_books(1_000_000_000)
    return make_product()


def count_statements(product: Product) -> None:
    """Part 1: the statements of the second order, when all is warm."""
    from callbacks.services import process_batch
    from purchases.models import Order
    from purchases.services import submit
    from testing.callbacks import body_for, post
    from testing.database import statements
    from testing.people import browser_of
    from upstream.budget import CallClass

    browser = browser_of("cashier")
    rows: list[list[str]] = []
    for destination, path in (("081200000001", 0), (f"{PENDING_DESTINATION}00001", 1)) * 2:
        number = f"{destination[:-2]}{len(rows):02d}"
        counts = []
        with statements() as sent:
            click(browser, product, number)
        counts.append(len(sent))
        order = Order.objects.get(destination=number)
        with statements() as sent:
            submit(order.pk, call_class=CallClass.INTERACTIVE)
        counts.append(len(sent))
        order.refresh_from_db()
        if path:
            body = body_for(order, trx_id=order.trx_id, price=order.price)
            for step in (
                lambda body=body: post(body, headers={"X-Delivery-Id": uuid.uuid4().hex}),
                lambda: process_batch(50),
            ):
                with statements() as sent:
                    step()
                counts.append(len(sent))
            order.refresh_from_db()
        assert order.status == "success"
        counts += [0] * (4 - len(counts))
        rows.append([("by the answer", "by a callback")[path], *map(str, counts), f"**{sum(counts)}**"])
    print_table(["SQL statements", "click", "sending", "callback stored", "processed", "in all"], rows[-2:])


def click(browser: Client, product: Product, destination: str) -> None:
    """Confirm the purchase."""
    form = {"product": product.code, "destination": destination, "token": str(uuid.uuid4()), "price": product.price}
    answer = browser.post("/counter/send/", form)
    assert answer.status_code == 302, answer.content


def compare_with_bare_loop(product: Product, pairs: int, orders: int) -> None:
    """Part 2."""
    from testing.people import make_person

    person = make_person("cashier", username="second")
    rates: tuple[list[float], list[float]] = ([], [])
    costs: tuple[list[float], list[float]] = ([], [])
    for number in range(-1, pairs):  # the first pair warms up
        for side, run in enumerate((run_services, run_bare_loop)):
            began, used = time.monotonic(), time.process_time()
            for _ in range(orders):
                run(product, person)
            if number >= 0:
                rates[side].append(orders / (time.monotonic() - began))
                costs[side].append((time.process_time() - used) / orders * 1000)
    rows = []
    for name, side in (("services", 0), ("bare loop", 1)):
        rows.append([name, f"{statistics.median(rates[side]):.0f}/s", f"{statistics.median(costs[side]):.1f} ms"])
    ratio = statistics.median(ours / theirs for ours, theirs in zip(*rates, strict=True))
    cheaper = statistics.median(theirs / ours for ours, theirs in zip(*costs, strict=True))
    rows.append(["services ÷ bare, median of the pairs", f"**{ratio:.2f}**", f"**{cheaper:.2f}**"])
    print_table(["place, send, success", "rate, one thread", "CPU each"], rows)


def run_services(product: Product, person: Any) -> None:
    """Make one order by the services."""
    from purchases.services import place_order, submit
    from upstream.budget import CallClass

    order = place_order(
        product=product,
        destination=new_destination(),
        max_price=product.price,
        idempotency_key=str(uuid.uuid4()),
        placed_by=person,
        enqueue=False,
    )
    submit(order.pk, call_class=CallClass.INTERACTIVE)


def run_bare_loop(product: Product, person: Any) -> None:
    """Write the same rows and make the same call."""
    import requests
    from django.conf import settings
    from django.db import transaction
    from django.db.models import F
    from django.utils import timezone

    from drawers.models import Payment
    from gateway.models import Exchange
    from gateway.services import next_number
    from ledger.models import Books, Entry
    from purchases.models import Order, OrderEvent
    from purchases.services.placing import new_ref_id

    def post_entry(kind: str, order: Order, balance: int = 0, reserved: int = 0) -> None:
        Books.objects.filter(only=True).update(balance=F("balance") + balance, reserved=F("reserved") + reserved)
        books = Books.objects.get()
        Entry.objects.create(
            kind=kind,
            amount=order.max_price,
            balance_change=balance,
            reserved_change=reserved,
            balance_after=books.balance,
            reserved_after=books.reserved,
            ref_id=order.ref_id,
            order_kind="purchase",
            actor=person,
        )

    def note(order: Order, before: str) -> None:
        OrderEvent.objects.create(order=order, from_status=before, to_status=order.status, source="submit")

    with transaction.atomic():
        ref_id = new_ref_id()
        order = Order.objects.create(
            ref_id=ref_id,
            payment=Payment.objects.create(ref_id=ref_id, seller=person, at=timezone.now(), amount=product.sells_for),
            idempotency_key=str(uuid.uuid4()),
            product=product,
            product_code=product.code,
            product_name=product.name,
            destination=new_destination(),
            max_price=product.price,
            placed_by=person,
            next_poll_at=timezone.now(),
        )
        note(order, "")
        post_entry("hold", order, reserved=order.max_price)
    number = next_number()
    with transaction.atomic():
        order.status, order.sent_no, order.sent_at, order.attempt = "sending", number, timezone.now(), 1
        order.save(update_fields=["status", "sent_no", "sent_at", "attempt"])
        note(order, "queued")
    asked = {
        "ref_id": order.ref_id,
        "product_code": order.product_code,
        "destination": order.destination,
        "max_price": order.max_price,
    }
    answer = requests.post(f"{settings.UPSTREAM_BASE_URL}/v1/transaction/create", json=asked, timeout=30).json()
    Exchange.objects.create(
        pk=number,
        endpoint="transaction/create",
        ref_id=order.ref_id,
        sent_at=order.sent_at,
        answered_at=timezone.now(),
        outcome="answer",
        status="success",
        trx_id=answer["data"]["trx_id"],
        balance=answer["data"]["balance"],
        raw=answer,
    )
    with transaction.atomic():
        number = next_number()
        order.status, order.accepted_no, order.ended_no, order.final_at = "success", number, number, timezone.now()
        order.trx_id, order.sn, order.price = answer["data"]["trx_id"], "SN-1", order.max_price
        order.next_poll_at = None
        order.save(
            update_fields=[
                *("status", "accepted_no", "ended_no", "final_at"),
                *("trx_id", "sn", "price", "next_poll_at"),
            ]
        )
        note(order, "sending")
        post_entry("release", order, reserved=-order.max_price)
        post_entry("debit", order, balance=-order.max_price)


def measure_clicks(shop: Shop, product: Product, clicks: int) -> None:
    """Part 3."""
    from purchases.models import Order
    from testing.sandbox_process import eventually

    shop.fleet.start("web", "worker")
    buyer = Buyer(shop, product, username="third")

    def final(destinations: list[str]) -> bool:
        return Order.objects.filter(destination__in=destinations, status="success").count() == len(destinations)

    first = [buyer.buy() for _ in range(10)]  # warms up
    eventually(lambda: final(first), within=120)
    names = ("web", "worker", "postgres", "valkey")
    idle_used, idle_began = [shop.cpu(name) for name in names], time.monotonic()
    time.sleep(5)
    idle = [
        (shop.cpu(name) - was) / (time.monotonic() - idle_began) for name, was in zip(names, idle_used, strict=True)
    ]
    used, began = [shop.cpu(name) for name in names], time.monotonic()
    bought = [buyer.buy() for _ in range(clicks)]
    eventually(lambda: final(bought), within=300, every=0.2)
    took = time.monotonic() - began
    each = [
        (shop.cpu(name) - was - rest * took) / clicks * 1000 for name, was, rest in zip(names, used, idle, strict=True)
    ]
    row = [f"{clicks}", *(f"{milliseconds:.1f} ms" for milliseconds in each), f"**{each[0] + each[1]:.1f} ms**"]
    print_table(["clicks", "web", "worker", "PostgreSQL", "Valkey", "web and worker"], [row])


if __name__ == "__main__":
    main()
