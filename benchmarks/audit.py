"""The cost of the audit: orders a second with and without it, in pairs side by side, and the speed of verification.

    python benchmarks/audit.py [--pairs 8] [--seconds 4] [--rows 1000000]

"Without" means no triggers that copy, no sealer, and connections that do not say for whom they write; all else is the
same. It has a durable PostgreSQL of its own.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.shop import Shop, open_shop

THREADS = 4
_NUMBERS = itertools.count(1)  # two threads never get the same number
_COPIES = "SELECT tgrelid::regclass::text, tgname FROM pg_trigger WHERE tgname LIKE 'pgtrigger_history_%'"
_EVENTS = """
    INSERT INTO audit_auditevent (at, kind, role, address, request_id, subject, txid)
    SELECT now(), 'sign_in', 'cashier', '203.0.113.7', 'request', 'R' || i, transaction_number()
    FROM generate_series(1, {count}) i
"""


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    with open_shop(LOG_LEVEL="ERROR") as shop:
        from audit.services import close_way_past_triggers

        close_way_past_triggers()
        compare(shop, options.pairs, options.seconds)
        verify_many(options.rows)


def compare(shop: Shop, pairs: int, seconds: float) -> None:
    """Orders a second, and CPU an order of Python and PostgreSQL together, each pair one after the other, in turns.

    On a busy machine the CPU time says more than the rate.
    """
    from django.db import transaction

    from ledger.services.posting import open_books
    from testing.factories import make_product

    with transaction.atomic():
        open_books(10**12)
    product = make_product()
    speed_ratios, cpu_ratios = [], []
    for pair in range(-1, pairs):
        speeds, costs = {}, {}
        for is_on in (True, False) if pair % 2 else (False, True):
            switch_copies(is_on)
            seal_rest()
            with sealing() if is_on else silent():
                began = cpu(shop)
                count, speeds[is_on] = orders_sold(product, seconds)
            costs[is_on] = (cpu(shop) - began) / count
        if pair >= 0:  # the first one warms up
            speed_ratios.append(speeds[True] / speeds[False])
            cpu_ratios.append(costs[False] / costs[True])
            print(
                f"with {speeds[True]:6.1f} orders/s, {costs[True] * 1000:.1f} ms CPU an order;"
                f" without {speeds[False]:6.1f}, {costs[False] * 1000:.1f} ms;"
                f" ratio {speed_ratios[-1]:.3f} and {cpu_ratios[-1]:.3f}",
                flush=True,
            )
    for name, ratios in (("orders a second", speed_ratios), ("orders a CPU second", cpu_ratios)):
        print(f"{name}: median ratio {statistics.median(ratios):.3f}, from {min(ratios):.3f} to {max(ratios):.3f}")
    switch_copies(True)


def cpu(shop: Shop) -> float:
    """CPU seconds of Python and PostgreSQL until now."""
    while True:
        try:
            return shop.cpu("postgres") + time.process_time()
        except psutil.NoSuchProcess:  # a connection has just ended
            continue


def orders_sold(product: object, seconds: float) -> tuple[int, float]:
    """The number of orders that the services placed, sent, answered and ended, and the number a second."""
    counts = [0] * THREADS
    end = time.perf_counter() + seconds
    threads = [threading.Thread(target=_sell, args=[product, counts, place, end]) for place in range(THREADS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts), sum(counts) / (time.perf_counter() - began)


def _sell(product: object, counts: list[int], place: int, end: float) -> None:
    from django.db import connections
    from structlog.contextvars import bound_contextvars

    from purchases.services.sending import claim
    from purchases.states import Status
    from testing import orders as helpers

    try:
        while time.perf_counter() < end:
            with bound_contextvars(
                user_id=1, ip="203.0.113.7", request_id=str(uuid.uuid4()), trace_id=uuid.uuid4().hex
            ):
                # a number of its own: a random number repeats some day, and then the sale asks a question
                destination = f"0812{next(_NUMBERS):08d}"
                order = helpers.place(product, destination=destination)  # type: ignore[arg-type]
                claim(order.pk)
                helpers.answer(order, Status.PENDING)
                helpers.report(order, price=order.max_price, sn="SN1")
            counts[place] += 1
    finally:
        connections.close_all()


@contextmanager
def sealing() -> Iterator[None]:
    """Run a sealer meanwhile, as often as in the shop or more often."""
    ended = threading.Event()

    def seal() -> None:
        from django.db import connections

        from audit.tasks import seal_rows

        while not ended.wait(2):
            seal_rows()
        connections.close_all()

    thread = threading.Thread(target=seal)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def silent() -> mock._patch[object]:
    """Keep connections that are opened inside from saying for whom a statement writes."""
    return mock.patch("audit.database.base.say_who", lambda execute, *statement: execute(*statement))


def seal_rest() -> None:
    """Seal the rows that are left, so that no run pays for the rows of another."""
    from audit.services import seal

    while seal():
        pass


def switch_copies(is_on: bool) -> None:
    """Switch the triggers that copy rows on or off."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(_COPIES)
        for table, name in cursor.fetchall():
            cursor.execute(f"ALTER TABLE {table} {'ENABLE' if is_on else 'DISABLE'} TRIGGER {name}")


def verify_many(rows: int) -> None:
    """Seal and verify so many rows more."""
    from django.db import connection

    from audit.services import seal, verify

    seal_rest()
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(_EVENTS.format(count=rows))
        cursor.execute("ANALYZE audit_auditevent")
    began, sealed = time.perf_counter(), 0
    while count := seal():
        sealed += count
    took = time.perf_counter() - began
    print(f"sealed {sealed} rows in {took:.1f} s: {sealed / took:.0f} a second", flush=True)
    began = time.perf_counter()
    result = verify()
    took = time.perf_counter() - began
    wrong = {flaw.reason for flaw in result.flaws}
    print(f"verified {result.rows} rows in {took:.1f} s: {result.rows / took:.0f} a second")
    assert wrong == {"live_unrecorded"}, wrong  # the rows sold without triggers, and nothing else


if __name__ == "__main__":
    main()
