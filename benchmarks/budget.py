"""Use up the rate budget against a strict limiter, in every case at once, and print how much of the limit was used.

    REDIS_URL=redis://127.0.0.1:6379 python benchmarks/budget.py [--seconds 240] [--only NAME …]

The Redis is a throw-away one: each case has a database of its own there, which is emptied. A case has its own limiter
(an HTTP server, which counts each request when it is read), one or more "machines" (processes with a dispatcher and
eight worker threads, calling through the real client) and, in the last cases, people who click. There is no Celery and
no PostgreSQL.

"least" and "median": arrivals in the full windows, as the limiter counted them. "bound": the most that any rule with
our knowledge can use (docs/rate-budget.md). "Counted soon": UPSTREAM_COUNTS_WITHIN_SECONDS is set. "over": arrivals
beyond the limit in a sliding window or in fixed windows of any of 60 phases; the command ends with 1 if there are any.
"wait": from click to arrival.
"""

import argparse
import json
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
CALLS, WINDOW = 120, 60.0
STALL, SOON = 3.0, 0.25
NOT_FOUND = {"code": 404, "status": "error", "error_code": "TRANSACTION_NOT_FOUND", "message": "no"}


@dataclass(frozen=True)
class Case:
    """One row of the table. Times in seconds.

    `backlog`: due rows; `batch`: a colleague's waiting clicks; `clicks`: a cashier's single clicks, too. `within`:
    UPSTREAM_COUNTS_WITHIN_SECONDS. `stall`: "a machine" or "the upstream" stands still for 3 s.
    """

    latency: tuple[float, float]
    machines: int = 1
    backlog: int = 1_000_000
    batch: int = 0
    clicks: bool = False
    within: float = 0.0
    kill: bool = False
    stall: str = ""


CASES = {
    "0.05 s": Case((0.05, 0.05)),
    "0.5 s": Case((0.5, 0.5)),
    "2 s": Case((2.0, 2.0)),
    "0.05 to 2 s": Case((0.05, 2.0)),
    "2 s, counted soon": Case((2.0, 2.0), within=SOON),
    "0.05 to 2 s, counted soon": Case((0.05, 2.0), within=SOON),
    "two machines": Case((0.5, 0.5), machines=2),
    "one of two machines stalls": Case((0.5, 0.5), machines=2, stall="a machine"),
    "one of two stalls, counted soon": Case((0.5, 0.5), machines=2, stall="a machine", within=SOON),
    "one of two machines is killed": Case((0.5, 0.5), machines=2, kill=True),
    "one of two killed, counted soon": Case((0.5, 0.5), machines=2, kill=True, within=SOON),
    "the upstream stalls": Case((0.5, 0.5), machines=2, stall="the upstream"),
    "clicks beside a backlog": Case((0.5, 0.5), clicks=True),
    "clicks beside 300 of a colleague": Case((0.5, 0.5), backlog=0, batch=300, clicks=True),
    "clicks beside both, two machines": Case((0.5, 0.5), machines=2, batch=300, clicks=True),
}


def main() -> None:
    """Run all cases side by side and print the table; exit 1 if the limit was exceeded anywhere."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=240.0)
    parser.add_argument("--only", nargs="*", default=list(CASES))
    parser.add_argument("--role", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role:
        play(options.role, options.seconds)
        return
    results: dict[str, dict[str, Any]] = {}
    threads = [
        threading.Thread(target=lambda name=name, n=n: results.update({name: run(name, n, options.seconds)}))
        for n, name in enumerate(options.only)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"{'case':32} {'least':>6} {'median':>6} {'bound':>6} {'over':>5} {'estimate':>8} {'wait p50':>8} {'p99':>6}")
    for name in options.only:
        print(row(name, results[name]))
    raise SystemExit(any(over(results[name]["arrivals"]) for name in options.only))


def run(name: str, number: int, seconds: float) -> dict[str, Any]:
    """Run one case in processes of its own; return the arrivals and the waits of its limiter."""
    case = CASES[name]
    server = os.environ["REDIS_URL"].rstrip("/")
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "backoffice.settings",
        "SECRET_KEY": "only-for-a-benchmark-" + "x" * 40,
        "BACKOFFICE_SANDBOX": "1",
        "REDIS_URL": f"{server}/{number}",
        "UPSTREAM_BASE_URL": f"http://127.0.0.1:{9500 + number}",
        "UPSTREAM_SECRET_ID": "benchmark",
        "UPSTREAM_SECRET_KEY": "benchmark-key",
        "UPSTREAM_ACCOUNT_RATE": f"{CALLS}/minute",
        "UPSTREAM_COUNTS_WITHIN_SECONDS": str(case.within),
        "UPSTREAM_CONNECT_TIMEOUT": "2",
        "UPSTREAM_READ_TIMEOUT": "8",
        "LOG_LEVEL": "WARNING",
    }

    def start(role: str) -> subprocess.Popen[str]:
        words = [sys.executable, __file__, "--seconds", str(seconds), "--role", role, name, str(9500 + number)]
        return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)

    start("prepare").wait()
    limiter = start("limiter")
    machines = [start("machine") for _ in range(case.machines)]
    people = [start("people")] if case.clicks or case.batch else []
    began = time.time()
    if case.stall == "a machine":
        time.sleep(seconds / 2)
        machines[0].send_signal(signal.SIGSTOP)
        time.sleep(STALL)
        machines[0].send_signal(signal.SIGCONT)
    if case.kill:
        time.sleep(seconds / 2)
        machines[0].kill()
        machines.append(start("machine"))
    time.sleep(max(0.0, began + seconds - time.time()))
    for process in (*machines, *people):
        process.kill()
        process.wait()
    limiter.terminate()
    seen, _ = limiter.communicate()
    return dict(json.loads(seen))


def row(name: str, result: dict[str, Any]) -> str:
    """One line of the table, in percent of the limit and in seconds."""
    case, arrivals, waits = CASES[name], result["arrivals"], sorted(result["waits"])
    counts = full_windows(arrivals)
    bound = CALLS * WINDOW / (WINDOW + min(sum(case.latency) / 2, case.within or math.inf))
    cells = [f"{name:32}"]
    if not case.clicks and counts:  # the rest steps back while people click
        cells += [f"{value / CALLS:6.1%}" for value in (min(counts), median(counts), bound)]
    else:
        cells += [f"{'':6}"] * 3
    cells += [f"{over(arrivals):5}", f"{worst_estimate(arrivals):8.1f}"]
    if waits:
        cells += [f"{waits[len(waits) // 2]:8.2f}", f"{waits[min(len(waits) - 1, int(len(waits) * 0.99))]:6.2f}"]
    return " ".join(cells) + (f"  ({len(waits)} clicks)" if waits else "")


def full_windows(arrivals: list[float]) -> list[int]:
    """Arrivals in every full window: from the first arrival on, in steps of a tenth of a second."""
    if not arrivals or arrivals[-1] - arrivals[0] < WINDOW:
        return []
    steps = int((arrivals[-1] - arrivals[0] - WINDOW) * 10)
    starts = [arrivals[0] + step / 10 for step in range(steps + 1)]
    return [bisect_left(arrivals, start + WINDOW) - bisect_left(arrivals, start) for start in starts]


def over(arrivals: list[float]) -> int:
    """Arrivals that a strict limiter would have refused: a sliding log, or fixed windows of the worst of 60 phases."""
    sliding = sum(1 for i, at in enumerate(arrivals) if i + 1 - bisect_right(arrivals, at - WINDOW) > CALLS)
    fixed = 0
    for phase in range(60):
        windows = Counter(int((at - phase * WINDOW / 60) // WINDOW) for at in arrivals)
        fixed = max(fixed, sum(max(0, count - CALLS) for count in windows.values()))
    return max(sliding, fixed)


def worst_estimate(arrivals: list[float]) -> float:
    """The most that a limiter which weighs the previous fixed window would have counted, over 40 phases."""
    worst = 0.0
    for phase in range(40):
        counts: Counter[int] = Counter()
        for at in arrivals:
            position = at / WINDOW - phase / 40
            number = int(position // 1)
            counts[number] += 1
            worst = max(worst, counts[number - 1] * (1 - (position - number)) + counts[number])
    return worst


# --- The processes of one case ----------------


def play(role: list[str], seconds: float) -> None:
    """Run as one process of a case."""
    part, name, port = role
    case = CASES[name]
    if part == "limiter":
        be_limiter(case, int(port), seconds)
        return
    from benchmarks import budget_machine

    getattr(budget_machine, part)(backlog=case.backlog, batch=case.batch, clicks=case.clicks)


def be_limiter(case: Case, port: int, seconds: float) -> None:
    """Count each request when it is read, answer it after the latency; print the arrivals when terminated."""
    arrivals: list[float] = []
    waits: list[float] = []
    stalled_from = time.time() + seconds * 0.5 if case.stall == "the upstream" else math.inf

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            if stalled_from <= time.time() < stalled_from + STALL:
                time.sleep(stalled_from + STALL - time.time())
            now = time.time()
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            arrivals.append(now)
            kind, _, clicked_at = str(body["ref_id"]).partition("-")
            if kind == "click":
                waits.append(now - int(clicked_at) / 1000)
            time.sleep(random.uniform(*case.latency))
            answer = json.dumps(NOT_FOUND).encode()
            self.send_response(404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            return

    def finish(*_: Any) -> None:
        print(json.dumps({"arrivals": sorted(arrivals), "waits": waits}), flush=True)
        os._exit(0)

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: Any) -> None:
            """Say nothing: a machine that was killed left its connection."""

    signal.signal(signal.SIGTERM, finish)
    Server(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    main()
