"""Live through many hours of made-up business and print what reconciliation found, and how fast.

    python benchmarks/reconciliation.py [--hours 2.5] [--seeds 10] [--rate 1.5]     the method alone
    python benchmarks/reconciliation.py --growth      25, 50 and 100 thousand orders, and 60 that wait for a person
    DATABASE_URL=… python benchmarks/reconciliation.py --services [--hours 2]       real services, on a new database

Every outside change must be found with its exact amount and nothing else may be: the first that is not ends it with
exit code 1, and its seed replays it. "single" were found apart, "summed" found as a sum with neighbours too close in
time, "cancelled" had a sum of zero with theirs. With `--hidden`, half of the orders that seem never to have arrived
were charged: there a coincidence of amounts may shift a sum from one difference to its neighbour, in 1 world of 25.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import django
from django.conf import settings
from django.test.utils import get_runner, setup_test_environment

if TYPE_CHECKING:
    from testing.world import World

# Orders that wait for a person, beside the others.
WAITING = 60

# The differences (rupiah, from, to); whether the books agree in the end; how much was done.
Result = tuple[list[tuple[int, float, float]], bool, str]


def main() -> None:
    """Run it; one line a world."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--hours", type=float, default=2.5)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--rate", type=float, action="append", help="Orders a second (default: 0.3, 1.0 and 1.5).")
    parser.add_argument("--hidden", action="store_true")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--services", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backoffice.settings")
    os.environ.setdefault("SECRET_KEY", "only-for-benchmarks-" + "x" * 50)
    django.setup()
    from testing.world import World

    if options.growth:
        print_growth()
        return
    if options.services:
        setup_test_environment()
    live = through_services if options.services else through_method
    agree = True
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        for rate in options.rate or (0.3, 1.0, 1.5):
            for outage in (False, True):
                world = World(seed, hours=options.hours, rate=rate, outage=outage, hidden=options.hidden)
                began = time.perf_counter()
                result = live(world)
                agree &= show(world, result, time.perf_counter() - began)
    sys.exit(0 if agree else 1)


def print_growth() -> None:
    """Judge a backlog of 25, 50 and 100 thousand orders in one go; the CPU time grows in proportion.

    Then the same with 60 orders that wait for a person, sent all over that time: they cost nothing.
    """
    from reconciliation.quiet import Known, Order, judge
    from testing.method_shop import MethodShop
    from testing.world import World

    for orders in (25_000, 50_000, 100_000):
        shop = MethodShop()
        for what in World(0, hours=orders / 3600 + 0.25, rate=1.0, hidden=True).happenings():
            if what.kind != "reconcile":
                shop.see(what)
        assert shop.progress is not None
        known = shop.known()
        waiting = [
            Order(ref_id=f"W{n}", sent_no=reading.no, next_change=-10_000 - n)
            for n, reading in enumerate(shop.readings[:: max(1, len(shop.readings) // WAITING)][:WAITING])
        ]
        for more in ([], waiting):
            began = time.process_time()
            judgement = judge(shop.progress, shop.readings, Known(known.entries, [*known.orders, *more]))
            took = time.process_time() - began
            print(
                f"{len(shop.orders)} orders, {len(more)} more wait for a person, {len(shop.readings)} readings,"
                f" {judgement.quiet} quiet: {took:.1f} s CPU",
                flush=True,
            )


def through_method(world: World) -> Result:
    """Live through it with the method alone: a run a minute."""
    from testing.method_shop import MICRO, MethodShop

    shop = MethodShop().live(world)
    differences = [
        (difference.amount, difference.from_no / MICRO, difference.to_no / MICRO) for difference in shop.differences
    ]
    agrees = shop.progress is not None and shop.progress.booked + shop.progress.outside == world.closing
    return differences, agrees, f"{shop.quiet} quiet readings"


def through_services(world: World) -> Result:
    """Live through it with the real services, on a new database; in the end two people acknowledge everything."""
    from ledger import services as ledger
    from reconciliation import services as reconciliation
    from testing.service_shop import ServiceShop

    runner = get_runner(settings)(verbosity=0, interactive=False)
    databases = runner.setup_databases()
    try:
        shop = ServiceShop(world)
        shop.live()
        differences = shop.differences()
        shop.acknowledge_everything()
        run, books = reconciliation.reconcile(), ledger.books()
        agrees = (run.state, books.balance, books.reserved) == ("balanced", world.closing, 0)
        return differences, agrees, f"{len(shop.orders)} orders, {shop.runs} runs"
    finally:
        runner.teardown_databases(databases)


def show(world: World, result: Result, took: float) -> bool:
    """Print one line; whether everything was as it must be."""
    from testing.world import grade

    differences, agrees, pace = result
    try:
        verdict = str(grade(world.outside, differences))
    except AssertionError as fault:
        verdict, agrees = f"WRONG: {fault}", False
    print(
        f"{world}: {len(world.outside)} outside changes, {verdict}, books agree: {agrees}, {pace} in {took:.1f} s",
        flush=True,
    )
    return agrees


if __name__ == "__main__":
    main()
