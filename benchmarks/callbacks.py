"""Send signed callbacks to the real web process, process them by the real worker, and print tables.

    python benchmarks/callbacks.py [--pairs 6] [--backlog 3000] [--rate 200] [--seconds 120] [--web-processes 2]

It starts PostgreSQL, Valkey, the web process and the worker by itself, everything durable and on one machine.

1. Storing: as many callbacks as get through, in turns with a bare DRF view that inserts a row as wide, served by the
   same server with the same connections. "CPU" is the web process's, which says more than the rate on a busy machine.
2. Processing: a backlog of callbacks that settle pending orders.
3. Both for some minutes at a steady rate, while people open pages, and with as many web processes as `./run` has.
   A callback's time counts from the moment at which it was to be sent. The pages' times are compared with those just
   before and just after, of the same orders, because a shared machine is not equally fast all the time.
"""

from __future__ import annotations

import argparse
import http.client
import multiprocessing
import os
import signal
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.callback_sender import Facts, send_at, shoot
from benchmarks.shop import ROOT, Shop, cpu_of, open_shop, print_table

PAGES = ("/", "/orders/", "/products/")


def main() -> None:
    """Run the three parts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--backlog", type=int, default=3000)
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--web-processes", type=int, default=min(os.cpu_count() or 1, 4))
    options = parser.parse_args()
    with open_shop() as shop:
        shop.fleet.start("web")
        compare_storing(shop, options.pairs)
        process_backlog(shop, options.backlog)
        if options.seconds:
            webs = serve_with(shop, options.web_processes)
            keep_a_rate(shop, options.rate, options.seconds, webs)


def compare_storing(shop: Shop, pairs: int) -> None:
    """Part 1."""
    from django.db import connection

    from testing.database import APP_ROLE

    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bare_row (LIKE callbacks_callback INCLUDING ALL)")
        cursor.execute(f"GRANT ALL ON bare_row TO {APP_ROLE}")
    bare, bare_port = start_bare(shop)
    try:
        facts = ("B000000-NOBODYS", "P1", "081234567890", 10_500)
        ours_pid = shop.fleet.processes["web"].pid
        rates: tuple[list[float], list[float]] = ([], [])
        costs: tuple[list[float], list[float]] = ([], [])
        for number in range(-1, pairs):  # the first pair warms up
            for side, (port, pid) in enumerate([(shop.fleet.port, ours_pid), (bare_port, bare.pid)]):
                before = cpu_of(pid)
                result = shoot(port, [facts] * 600)
                if number >= 0:
                    rates[side].append(600 / result["seconds"])
                    costs[side].append((cpu_of(pid) - before) / 600 * 1000)
                assert result["statuses"] == {200: 600}, result["statuses"]
    finally:
        bare.kill()
        bare.wait()
    rows = []
    for name, side in (("callbacks stored", 0), ("bare DRF insert", 1)):
        rows.append([name, f"{statistics.median(rates[side]):.0f}/s", f"{statistics.median(costs[side]):.2f} ms"])
    ratio = statistics.median(ours / theirs for ours, theirs in zip(*rates, strict=True))
    cheaper = statistics.median(theirs / ours for ours, theirs in zip(*costs, strict=True))
    rows.append(["ours ÷ bare, median of the pairs", f"**{ratio:.2f}**", f"**{cheaper:.2f}**"])
    print_table(["storing", "rate", "CPU each"], rows)


def start_bare(shop: Shop) -> tuple[subprocess.Popen[bytes], int]:
    """Start the bare view behind the same server; returns its process and port."""
    from testing.sandbox_process import eventually, free_port

    port = free_port()
    env = {**shop.fleet.env, "DJANGO_SETTINGS_MODULE": "benchmarks.bare_settings"}
    command = [sys.executable, "-m", "backoffice.web", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    eventually(lambda: is_open(port), within=60)
    return process, port


def is_open(port: int) -> bool:
    """Whether a server answers at that port."""
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/healthz")
        return connection.getresponse().status > 0
    except OSError:
        return False


def process_backlog(shop: Shop, count: int) -> None:
    """Part 2."""
    from callbacks.models import Callback, CallbackState
    from core.publish import publish

    waiting = Callback.objects.filter(state=CallbackState.RECEIVED)
    waiting.update(state=CallbackState.UNMATCHED, processed_at="2026-01-01T00:00:00Z")  # those of part 1
    shop.fleet.start("worker")
    wait_for_worker()
    worker = shop.fleet.processes["worker"]
    worker.send_signal(signal.SIGSTOP)  # it is there, and begins when all of them wait
    result = shoot(shop.fleet.port, pending_orders(count))
    assert result["statuses"] == {200: count}, result["statuses"]
    names = ("worker", "postgres")
    used, began = [shop.cpu(name) for name in names], time.monotonic()
    worker.send_signal(signal.SIGCONT)
    publish("callbacks.tasks.process_waiting")
    while waiting.exists():
        time.sleep(0.05)
    took = time.monotonic() - began
    cost = [(shop.cpu(name) - before) / count * 1000 for name, before in zip(names, used, strict=True)]
    assert not Callback.objects.filter(ref_id__startswith="B", tries__gt=0).exists()
    rows = [[f"{count}", f"**{count / took:.0f}/s**", f"{cost[0]:.2f} ms", f"{cost[1]:.2f} ms"]]
    print_table(["processing a backlog", "rate, one worker", "CPU of the worker each", "of PostgreSQL"], rows)


def wait_for_worker() -> None:
    """Wait until the worker takes tasks."""
    from celery import current_app

    import backoffice.celery  # noqa: F401 - so that `current_app` is ours
    from testing.sandbox_process import eventually

    eventually(lambda: current_app.control.ping(timeout=1.0), within=120)


def serve_with(shop: Shop, processes: int) -> list[str]:
    """Start so many web processes on one socket, as the launcher does; returns their names in the fleet."""
    from backoffice.web import listening
    from testing.sandbox_process import eventually

    shop.fleet.kill("web")
    names = [f"web{number}" for number in range(1, processes + 1)]
    with listening(shop.fleet.port) as listener:
        command = [sys.executable, "-m", "backoffice.web", "--fd", str(listener.fileno())]
        for name in names:
            shop.fleet.processes[name] = subprocess.Popen(
                command,
                cwd=ROOT,
                env=shop.fleet.env,
                pass_fds=[listener.fileno()],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
    eventually(lambda: is_open(shop.fleet.port), within=60)
    time.sleep(5)  # until each of them accepts
    return names


def keep_a_rate(shop: Shop, rate: float, seconds: float, webs: list[str]) -> None:
    """Part 3."""
    from callbacks.models import Callback, CallbackState

    cookie = sign_in()
    shop.fleet.start("background", "beat")
    orders, before = pending_orders(int(rate * seconds)), Callback.objects.count()
    time.sleep(15)
    quiet = browse(shop.fleet.port, cookie, min(seconds, 60.0))
    queue: multiprocessing.Queue[dict[str, Any]] = multiprocessing.get_context("spawn").Queue()
    sender = multiprocessing.get_context("spawn").Process(target=send_at, args=(rate, shop.fleet.port, orders, queue))
    names = (webs, ["worker"], ["background", "beat"], ["postgres"], ["valkey"])
    used = [shop.cpu(*name) for name in names]
    sender.start()
    busy = browse(shop.fleet.port, cookie, seconds)
    result = queue.get(timeout=60)  # else the sender has failed
    sender.join()
    ended = time.monotonic()
    waiting = Callback.objects.filter(state=CallbackState.RECEIVED)
    backlog = waiting.count()
    while waiting.exists() and time.monotonic() - ended < 300:
        time.sleep(0.1)
    gone = time.monotonic() - ended
    cpu = [(shop.cpu(*name) - was) / result["seconds"] for name, was in zip(names, used, strict=True)]
    quiet = sorted(quiet + browse(shop.fleet.port, cookie, min(seconds, 60.0)))
    lost = len(orders) - (Callback.objects.count() - before)
    settled = Callback.objects.filter(result="pending → success").order_by("-pk")[: len(orders)].count()
    times = sorted(result["times"])
    rows = [
        ["sent", f"{len(orders)} in {result['seconds']:.0f} s, answers {result['statuses']}"],
        ["lost", f"{lost}; settled {settled}"],
        [
            "p50, p99, longest",
            ", ".join(f"{at * 1000:.0f} ms" for at in (quantile(times, 0.5), quantile(times, 0.99), times[-1])),
        ],
        ["backlog at the end", f"{backlog}, gone after {gone:.1f} s"],
        ["pages' p95, quiet → busy", f"{quantile(quiet, 0.95) * 1000:.0f} → {quantile(busy, 0.95) * 1000:.0f} ms"],
        ["ratio", f"**{quantile(busy, 0.95) / quantile(quiet, 0.95):.2f}**"],
        ["cores: web, worker, background and beat, PostgreSQL, Valkey", ", ".join(f"{used:.2f}" for used in cpu)],
    ]
    print_table([f"{rate:.0f}/s for {seconds:.0f} s", ""], rows)


def pending_orders(count: int) -> list[Facts]:
    """So many orders that the upstream has accepted, debited in the books; returns the bodies of its callbacks."""
    from django.utils import timezone

    from drawers.models import Payment
    from ledger import services as ledger
    from ledger.models import Entry
    from purchases.models import Order
    from purchases.states import Status
    from testing.factories import make_product

    product, now = make_product(), timezone.now()
    ref_ids = [f"B{uuid.uuid4().hex[:15].upper()}" for _ in range(count)]
    payments = [Payment(ref_id=ref_id, at=now, amount=product.sells_for) for ref_id in ref_ids]
    Payment.objects.bulk_create(payments, batch_size=2000)
    orders = [
        Order(
            ref_id=payment.ref_id,
            payment=payment,
            idempotency_key=uuid.uuid4().hex,
            product=product,
            product_code=product.code,
            product_name=product.name,
            destination=f"08{number:011d}",
            max_price=product.price,
            price=product.price,
            status=Status.PENDING,
            trx_id="T",
            sent_at=now,
            sent_no=1,
            accepted_no=2,
            attempt=1,
            next_poll_at="2030-01-01T00:00:00Z",
        )
        for number, payment in enumerate(payments)
    ]
    Order.objects.bulk_create(orders, batch_size=2000)
    ledger.post(
        [
            ledger.Step(
                kind=Entry.Kind.DEBIT,
                ref_id=order.ref_id,
                order_kind="purchase",
                amount=order.max_price,
                is_new=True,
            )
            for order in orders
        ]
    )
    return [(order.ref_id, product.code, order.destination, product.price) for order in orders]


def sign_in() -> str:
    """The cookie of a browser in which a cashier is signed in."""
    from testing.people import browser_of

    return str(browser_of("cashier").cookies["sessionid"].value)


def browse(port: int, cookie: str, seconds: float) -> list[float]:
    """Open pages, five a second, one after the other; returns their times, sorted."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    times: list[float] = []
    ends, number = time.monotonic() + seconds, 0
    while time.monotonic() < ends:
        began = time.monotonic()
        connection.request("GET", PAGES[number % len(PAGES)], headers={"Cookie": f"sessionid={cookie}"})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, answer.status
        times.append(time.monotonic() - began)
        number += 1
        time.sleep(max(0.0, 0.2 - times[-1]))
    return sorted(times)


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which this share lies."""
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    main()
