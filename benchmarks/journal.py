"""The cost of the journal of sent orders for a sending: with and without it, in turns, on a durable PostgreSQL.

    python benchmarks/journal.py [--orders 400] [--threads 4]

The upstream answers at once, so that nothing hides the difference. Exit code 1 above 1 ms in the middle.
"""

import argparse
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.shop import open_shop, print_table

MOST_MS = 1.0


def main() -> None:
    """Measure, and print both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--orders", type=int, default=400)
    parser.add_argument("--threads", type=int, default=4)
    options = parser.parse_args()
    with open_shop():
        times = measure(options.orders, options.threads)
    rows = [[name, *(f"{value * 1000:.2f}" for value in shown(some))] for name, some in times.items()]
    print_table(["sending", "p50 ms", "p95 ms"], rows)
    more = (shown(times["with the journal"])[0] - shown(times["without"])[0]) * 1000
    print(f"{more:.2f} ms more in the middle")
    sys.exit(0 if more <= MOST_MS else 1)


def shown(times: list[float]) -> tuple[float, float]:
    """Median and 95th percentile."""
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


def measure(orders: int, threads: int) -> dict[str, list[float]]:
    """The seconds of each claim until its request may leave."""
    from django.conf import settings
    from django.db import connections

    from purchases.services.sending import claim
    from purchases.services.sent import end_line
    from testing.factories import make_product
    from testing.orders import place

    settings.SENT_FOLDER = settings.DATA_DIR / "sent"
    product = make_product()
    names = {True: "with the journal", False: "without"}
    times: dict[str, list[float]] = {name: [] for name in names.values()}
    keys = [place(product).pk for _ in range(orders)]
    is_on = False

    def send(key: int) -> None:
        started = time.perf_counter()
        claimed = claim(key, journal=is_on)
        assert claimed
        if claimed.line:
            end_line(claimed.line, claimed.order)
        times[names[is_on]].append(time.perf_counter() - started)

    with ThreadPoolExecutor(threads, initializer=connections.close_all) as pool:
        for first in range(0, orders, 20):
            is_on = not is_on
            list(pool.map(send, keys[first : first + 20]))
        list(pool.map(lambda _: connections.close_all(), range(threads)))
    return times


if __name__ == "__main__":
    main()
