"""Saturate the rate budget from several processes and print how much of a limit they used and the worst window they
made.

    REDIS_URL=redis://127.0.0.1:6379/0 python benchmarks/budget.py [--rate 120/minute] [--seconds 180] [--processes 4]
    [--lost 0.02]

Each process runs threads that call as often as they are let. Every call takes a log-normal time (median 0.25 s) and
its request arrives at a random moment of it; a share of them loses the answer and counts until its longest life is
over. "Worst window" is the largest number of arrivals in any window of the limit's length, wherever it begins;
"estimate" is the largest value that a limiter sees which weighs the previous fixed window (over 40 phases). Both must
stay at or below the limit.
"""

import argparse
import math
import multiprocessing
import os
import random
import threading
import time
from bisect import bisect_left
from collections import Counter
from multiprocessing.queues import Queue

from upstream.budget import Budget, CallClass
from upstream.config import Config, Rate
from upstream.endpoints import Endpoint
from upstream.errors import Unavailable

THREADS = 8
DEADLINE = 10.0


def main() -> None:
    """Run it and print one line of results per finding; exit 1 if the limit was exceeded."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", default="120/minute")
    parser.add_argument("--seconds", type=float, default=180.0)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--lost", type=float, default=0.02)
    options = parser.parse_args()
    rate = Rate.parse(options.rate)
    config = Config(
        base_url="https://benchmark.invalid",
        secret_id=f"benchmark-{os.getpid()}",
        secret_key="",
        redis_url=os.environ["REDIS_URL"],
        connect_timeout=1.0,
        read_timeout=DEADLINE - 1.0,
        account_rate=rate,
    )
    Budget(config).declare_fresh()

    context = multiprocessing.get_context("spawn")
    queue: Queue[list[float]] = context.Queue()
    ends_at = time.time() + options.seconds
    processes = [
        context.Process(target=saturate, args=(config, ends_at, options.lost, queue)) for _ in range(options.processes)
    ]
    for process in processes:
        process.start()
    arrivals = sorted(moment for _ in processes for moment in queue.get())
    for process in processes:
        process.join()

    worst, estimate = worst_window(arrivals, rate.window), worst_estimate(arrivals, rate.window)
    warm = ends_at - options.seconds + rate.window  # the first window fills up
    used = sum(1 for moment in arrivals if warm <= moment < ends_at)
    possible = (ends_at - warm) / rate.window * rate.calls
    print(f"arrivals      {len(arrivals)}")
    print(f"utilisation   {used / possible:.1%}" if possible > 0 else "utilisation   (longer than a window, please)")
    print(f"worst window  {worst} of {rate.calls}")
    print(f"estimate      {estimate:.1f} of {rate.calls}")
    raise SystemExit(worst > rate.calls or estimate > rate.calls)


def saturate(config: Config, ends_at: float, lost_share: float, queue: "Queue[list[float]]") -> None:
    """Call from several threads until `ends_at` and put the moments of arrival (Unix seconds) into the queue."""
    budget = Budget(config)
    arrivals: list[float] = []

    def caller(seed: int) -> None:
        dice = random.Random(seed)
        while time.time() < ends_at:
            try:
                permit = budget.reserve(Endpoint.TRANSACTION_STATUS, CallClass.INTERACTIVE, wait_seconds=10.0)
            except Unavailable as refused:
                time.sleep(min(refused.retry_after or 0.1, 1.0))
                continue
            lost = dice.random() < lost_share
            duration = DEADLINE if lost else min(dice.lognormvariate(math.log(0.25), 0.5), DEADLINE)
            arrival = dice.random() * duration
            time.sleep(arrival)
            arrivals.append(time.time())
            time.sleep(duration - arrival)
            if not lost:
                permit.complete()

    threads = [threading.Thread(target=caller, args=(os.getpid() * THREADS + number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    queue.put(arrivals)


def worst_window(arrivals: list[float], window: float) -> int:
    """Return the most arrivals in any half-open window."""
    return max((bisect_left(arrivals, start + window) - i for i, start in enumerate(arrivals)), default=0)


def worst_estimate(arrivals: list[float], window: float) -> float:
    """Return the most that a limiter with a weighted previous window would have counted, over 40 phases."""
    worst = 0.0
    for phase in range(40):
        counts: Counter[int] = Counter()
        for moment in arrivals:
            position = moment / window - phase / 40
            number = math.floor(position)
            counts[number] += 1
            worst = max(worst, counts[number - 1] * (1 - (position - number)) + counts[number])
    return worst


if __name__ == "__main__":
    main()
