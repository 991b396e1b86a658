"""Fifty people at work: pages a second and p99, with two web processes and with one.

    python benchmarks/processes.py [--processes 1 2] [--orders 0] [--alerts 0] [--seconds 30] [--rounds 2]
    python benchmarks/processes.py --processes 2 --orders 1000000 --alerts 71 --seconds 60

Starts the demo (`./run`) in a throw-away folder, fills it with so many orders and open alerts, and starts it again for
each measurement, the numbers of processes in turns, so that other work of the machine affects all. The people
(`benchmarks/crowd.py`) are threads of this process, each with an account, a role and a connection that stays open; they
also take CPU time, as PostgreSQL and the workers do. `--think`: how long a person looks at a page on average (seconds),
between nothing and twice that; with 0, as many pages as possible. "Share": the requests of each process. "CPU":
milliseconds for each request, whatever else the machine does: of the web processes, of PostgreSQL, of the other
processes of the demo, and of the people themselves.
Exit code 1 when the largest number of processes shows fewer than 45 pages a second or has a p99 above 1.2 s; with one
process to compare, also when it shows less than 1.6 times the pages of one.
"""

import argparse
import contextlib
import gzip
import http.client
import json
import os
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psycopg
from prometheus_client import Metric
from prometheus_client.multiprocess import MultiProcessCollector

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.shop import cpu_of, print_table
from launcher.postgresql import SUPERUSER

ROOT = Path(__file__).resolve().parent.parent
PORT = 18700
LEAST_RATE, MOST_SECONDS, LEAST_RATIO = 45, 1.2, 1.6
WARMING_SECONDS = 10
PRODUCT = "TSEL10"
# The pages that each role opens again and again. SELL: review and send. ORDER: an order of the list shown last.
SELL, ORDER = "sell", "order"
WALKS = {
    "cashier": (
        *("/", "/counter/", "/counter/?q=tel+10", SELL, "/counter/", "/counter/?q=0812", SELL, "/orders/", ORDER),
        *("/bills/", "/customers/", "/drawer/", "/products/"),
    ),
    "supervisor": (
        *("/", "/orders/", ORDER, "/orders/?status=attention", ORDER, "/balance/alerts/mine/", "/approvals/"),
        *("/complaints/", "/refunds/", "/customers/", "/shifts/", "/counter/", SELL),
    ),
    "owner": (
        *("/", "/balance/alerts/", "/orders/", ORDER, "/balance/", "/approvals/", "/bills/", "/shifts/", "/customers/"),
        *("/credit/", "/products/"),
    ),
}


@contextlib.contextmanager
def demo(folder: Path, processes: int) -> Iterator[int]:
    """Run `./run` with so many web processes; gives the port of its pages."""
    known = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    environment = {
        **known,
        "BACKOFFICE_DATA": str(folder),
        "WEB_PROCESSES": str(processes),
        "SANDBOX_OPENING_BALANCE": "1000000000000",
        "LOG_LEVEL": "WARNING",
    }
    command = [sys.executable, str(ROOT / "run"), "--empty", "--port", str(PORT)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        said = []
        for line in process.stdout:
            said.append(line)
            if "stop: Ctrl-C" in line:
                break
        else:
            sys.exit("".join(said))
        port = re.search(r"Pages are served on port (\d+)", "".join(said))
        assert port
        try:
            yield int(port[1])
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def run(folder: Path, *words: str, tries: int = 1) -> str:
    """The output of a command of the demo, once it succeeds."""
    environment = {**os.environ, "BACKOFFICE_DATA": str(folder)}
    command = [sys.executable, str(ROOT / "run"), *words]
    for _ in range(tries):
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=ROOT)
        if ended.returncode == 0:
            return ended.stdout
    sys.exit(f"{words}: {ended.stdout}{ended.stderr}")


def status(folder: Path) -> dict[str, dict[str, Any]]:
    """The rows of `./run status`, by name, once every process gives a heartbeat."""
    return {row["name"]: row for row in json.loads(run(folder, "status", "--json", tries=20))["processes"]}


def superuser(folder: Path) -> psycopg.Connection[Any]:
    """A connection to the demo's database as the superuser."""
    password, port = json.loads((folder / "secrets.json").read_text())["postgres"], status(folder)["postgres"]["port"]
    address = f"postgresql://{SUPERUSER}:{password}@127.0.0.1:{port}/backoffice"
    return psycopg.connect(address, autocommit=True)


def fill(folder: Path, orders: int) -> None:
    """Give the demo, which is not running, a history of so many orders."""
    command = [sys.executable, str(ROOT / "benchmarks/history.py"), "--orders", str(orders)]
    subprocess.run(command, env={**os.environ, "BACKOFFICE_DATA": str(folder)}, check=True, stdout=sys.stderr)


def alarm(folder: Path, alerts: int) -> None:
    """Open so many alerts in the demo, which is running, and let PostgreSQL count its rows."""
    if alerts:
        run(folder, "manage", "shell", "-c", f"from benchmarks.crowd import *; open_alerts({alerts})")
    with superuser(folder) as connection:
        connection.execute("VACUUM ANALYZE")  # as a shop's server does by itself within minutes


def sign_in(folder: Path, people: int) -> list[tuple[str, str]]:
    """The role and the session of each of so many people."""
    shown = run(folder, "manage", "shell", "-c", f"from benchmarks.crowd import *; sign_in({people})")
    return re.findall(r"^session (\S+) (\S+)$", shown, re.MULTILINE)


class Person:
    """A staff member on one connection."""

    def __init__(self, port: int, role: str, session: str) -> None:
        self._walk = WALKS[role]
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._cookie = f"sessionid={session}"
        self._page = ""
        self._orders: list[str] = []
        #: The time at which each page had come, and its seconds.
        self.pages: list[tuple[float, float]] = []
        self.wrong: list[str] = []

    def work(self, until: float, think: float) -> None:
        """Open page after page of the role's pages, from any of them on, until then."""
        place = random.randrange(len(self._walk))
        while time.monotonic() < until:
            step = self._walk[place % len(self._walk)]
            place += 1
            if step == SELL:
                self._review(think)
                self._send(think)
            elif step == ORDER:
                self._ask(random.choice(self._orders or ["/orders/"]), think)
            else:
                self._ask(step, think)
                self._orders = re.findall(r'href="(/orders/[A-Z0-9-]{10,}/)"', self._page) or self._orders

    def _review(self, think: float) -> None:
        self._ask(f"/counter/review/?product={PRODUCT}&q=0812{random.randrange(10**9):09d}", think)

    def _send(self, think: float) -> None:
        form = dict(re.findall(r'type="hidden" name="([a-z_]+)" value="([^"]*)"', self._page))
        self._ask("/counter/send/", think, {**form, "token": str(uuid.uuid4()), "confirm": "1"})

    def _ask(self, path: str, think: float, form: dict[str, str] | None = None) -> None:
        time.sleep(random.uniform(0, 2 * think))
        headers = {"Cookie": self._cookie, "Host": "localhost", "Accept-Encoding": "gzip"}
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        began = time.monotonic()
        body = None if form is None else urlencode(form)
        self._connection.request("GET" if form is None else "POST", path, body=body, headers=headers)
        answer = self._connection.getresponse()
        content = answer.read()
        self.pages.append((time.monotonic(), time.monotonic() - began))
        is_packed = answer.headers.get("Content-Encoding") == "gzip"
        self._page = (gzip.decompress(content) if is_packed else content).decode()
        if answer.status != (200 if form is None else 302):
            self.wrong.append(f"{answer.status} {path}")
        if cookie := answer.headers.get("Set-Cookie"):
            self._cookie = f"{self._cookie.split(';')[0]}; {cookie.split(';')[0]}"


class Machine:
    """The processes of a demo, and the people's own."""

    def __init__(self, folder: Path) -> None:
        pids = {name: row["pid"] for name, row in status(folder).items()}
        self._web = [pid for name, pid in pids.items() if name.startswith("web")]
        self._postgres = pids["postgres"]
        known = {*self._web, self._postgres, pids["launcher"]}  # the launcher's CPU time would count its children again
        self._others = [pid for pid in pids.values() if pid not in known]
        self._metrics = folder / "metrics"

    def served(self) -> list[int]:
        """The number of requests that each web process has answered so far."""
        merge: Callable[[list[str]], Iterable[Metric]] = MultiProcessCollector.merge
        return [
            sum(
                int(sample.value)
                for metric in merge([str(self._metrics / f"histogram_{pid}.db")])
                for sample in metric.samples
                if sample.name == "backoffice_page_seconds_count"
            )
            for pid in self._web
        ]

    def cpu(self) -> list[float]:
        """CPU seconds so far: of the web processes, PostgreSQL, the others and the people."""
        return [
            sum(map(cpu_of, self._web)),
            cpu_of(self._postgres),
            sum(map(cpu_of, self._others)),
            time.process_time(),
        ]


def measure(folder: Path, port: int, options: argparse.Namespace) -> dict[str, Any]:
    """The people's pages in so many seconds. The first pages fill caches, and are not counted."""
    people = [Person(port, role, session) for role, session in sign_in(folder, options.people)]
    machine = Machine(folder)
    since = time.monotonic() + WARMING_SECONDS
    until = since + options.seconds
    threads = [threading.Thread(target=person.work, args=[until, options.think]) for person in people]
    for thread in threads:
        thread.start()
    time.sleep(WARMING_SECONDS)
    served, used = machine.served(), machine.cpu()
    time.sleep(until - time.monotonic())
    served = [now - before for now, before in zip(machine.served(), served, strict=True)]
    used = [now - before for now, before in zip(machine.cpu(), used, strict=True)]
    for thread in threads:
        thread.join()
    times = sorted(took for person in people for at, took in person.pages if since <= at < until)
    wrong = sorted(fault for person in people for fault in person.wrong)
    if wrong:
        print(f"wrong: {wrong[:5]}", file=sys.stderr)
    return {
        "pages": len(times),
        "rate": len(times) / options.seconds,
        **{f"p{percent}": times[len(times) * percent // 100] for percent in (50, 95, 99)},
        "share": " : ".join(f"{100 * count / sum(served):.0f}" for count in served),
        "cpu": " + ".join(f"{1000 * seconds / sum(served):.1f}" for seconds in used),
        "wrong": len(wrong),
    }


def main() -> None:
    """Measure in turns and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--orders", type=int, default=0)
    parser.add_argument("--alerts", type=int, default=0)
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--think", type=float, default=0.5)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="processes-"))
    folder.chmod(0o711)  # as root, PostgreSQL runs as another user
    found: dict[int, list[dict[str, Any]]] = {processes: [] for processes in options.processes}
    try:
        if options.orders:
            fill(folder, options.orders)
        with demo(folder, 1):
            alarm(folder, options.alerts)
        for _ in range(options.rounds):
            for processes in options.processes:
                with demo(folder, processes) as port:
                    found[processes].append(measure(folder, port, options))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print_table(
        ["web processes", "pages", "pages/s", "p50 s", "p95 s", "p99 s", "share %", "CPU ms", "wrong"],
        [
            [f"{processes}", f"{one['pages']}", f"{one['rate']:.1f}", *(f"{one[p]:.2f}" for p in ("p50", "p95", "p99")),
             one["share"], one["cpu"], f"{one['wrong']}"]
            for processes, rounds in found.items() for one in rounds
        ],
    )  # fmt: skip
    rates = {processes: statistics.mean(one["rate"] for one in rounds) for processes, rounds in found.items()}
    most = max(rates)
    longest = max(one["p99"] for one in found[most])
    ratio = rates[most] / rates.get(1, rates[most])
    print(f"{most} web processes: {rates[most]:.1f} pages/s, {ratio:.2f} × one, p99 {longest:.2f} s at most")
    is_slow = rates[most] < LEAST_RATE or longest > MOST_SECONDS
    sys.exit(1 if is_slow or (most > 1 in rates and ratio < LEAST_RATIO) else 0)


if __name__ == "__main__":
    main()
