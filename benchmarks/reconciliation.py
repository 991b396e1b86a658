"""Live through many hours of made-up business and print what reconciliation found, and how fast.

    python benchmarks/reconciliation.py [--hours 2.5] [--seeds 10] [--rate 1.5]     the engine alone
    DATABASE_URL=… python benchmarks/reconciliation.py --services [--hours 2]       real services, on a new database

Every outside change must be found with its exact amount and nothing else may be: the first that is not ends it with
exit code 1, and its seed replays it. "single" were told apart, "summed" found as a sum with neighbours too close in
time, "cancelled" had a sum of zero with theirs.
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
    from tests.balance.world import World

# What was found (rupiah, from, to); whether the books agree in the end; how much was done.
Result = tuple[list[tuple[int, float, float]], bool, str]


def main() -> None:
    """Run it; one line a world."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--hours", type=float, default=2.5)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--rate", type=float, action="append", help="Orders a second (default: 0.3, 1.0 and 1.5).")
    parser.add_argument("--services", action="store_true")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backoffice.settings")
    os.environ.setdefault("SECRET_KEY", "only-for-benchmarks-" + "x" * 50)
    django.setup()
    from tests.balance.world import World

    if options.services:
        setup_test_environment()
    live = through_services if options.services else through_engine
    agree = True
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        for rate in options.rate or (0.3, 1.0, 1.5):
            for outage in (False, True):
                world = World(seed, hours=options.hours, rate=rate, outage=outage)
                began = time.perf_counter()
                result = live(world)
                agree &= tell(world, result, time.perf_counter() - began)
    sys.exit(0 if agree else 1)


def through_engine(world: World) -> Result:
    """Live through it with the engine alone: a run a minute, its state through JSON in between."""
    from tests.balance.test_engine import run, seconds

    shop = run(world)
    found = [(found.amount, seconds(found.from_at), seconds(found.to_at)) for found in shop.differences]
    agrees = shop.state is not None and shop.state.base + shop.state.exact == world.closing
    return found, agrees, f"{shop.evaluated} readings"


def through_services(world: World) -> Result:
    """Live through it with the real services, on a new database; in the end two people acknowledge everything."""
    from balance import services as balance
    from tests.balance.shop import ServiceShop

    runner = get_runner(settings)(verbosity=0, interactive=False)
    databases = runner.setup_databases()
    try:
        shop = ServiceShop(world)
        shop.live()
        found = shop.differences()
        shop.acknowledge_everything()
        run, books = balance.reconcile(), balance.books()
        agrees = (run.state, books.balance, books.held) == ("balanced", world.closing, 0)
        return found, agrees, f"{len(shop.orders)} orders, {shop.runs} runs"
    finally:
        runner.teardown_databases(databases)


def tell(world: World, result: Result, took: float) -> bool:
    """Print one line; whether everything was as it must be."""
    from tests.balance.world import grade

    found, agrees, pace = result
    try:
        verdict = str(grade(world.outside, found))
    except AssertionError as fault:
        verdict, agrees = f"WRONG: {fault}", False
    print(
        f"{world}: {len(world.outside)} outside changes, {verdict}, books agree: {agrees}, {pace} in {took:.1f} s",
        flush=True,
    )
    return agrees


if __name__ == "__main__":
    main()
