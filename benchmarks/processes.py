"""Fifty people browse and buy: pages a second and p99 with two web processes against one.

    python benchmarks/processes.py [--people 50] [--seconds 30] [--rounds 2] [--think 0.5]

Starts the demo (`./run`) in a throw-away folder for each measurement, one and two web processes in turns, so that what
else the machine does falls on both. `--think`: how long somebody looks at a page on average (seconds), anything from
nothing to twice that; with 0 as many pages are shown as can be. The people are threads of this process, and take
CPU time beside the processes that they measure, as PostgreSQL and the workers do.
Exit code 1 when two processes show less than 1.6 times the pages of one, or their p99 is above 1.5 s.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
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
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parent.parent
PORT = 18700
LEAST_RATIO, MOST_SECONDS = 1.6, 1.5
PRODUCT = "TSEL10"
SESSIONS = """
from django.conf import settings
from django.test import Client
from staff.models import User
for _ in range({people}):
    client = Client()
    client.force_login(User.objects.get(username="cashier"))
    print("session", client.cookies[settings.SESSION_COOKIE_NAME].value)
"""


@contextlib.contextmanager
def demo(folder: Path, processes: int) -> Iterator[int]:
    """`./run` with so many web processes; the port of its pages."""
    known = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    environment = {
        **known,
        "BACKOFFICE_DATA": str(folder),
        "WEB_PROCESSES": str(processes),
        "SANDBOX_OPENING_BALANCE": "1000000000000",
        "LOG_LEVEL": "WARNING",
    }
    command = [sys.executable, str(ROOT / "run"), "--port", str(PORT)]
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


def sign_in(folder: Path, people: int) -> list[str]:
    """A session for each of them."""
    environment = {**os.environ, "BACKOFFICE_DATA": str(folder)}
    code = SESSIONS.format(people=people)
    command = [sys.executable, str(ROOT / "run"), "manage", "shell", "-c", code]
    shown = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, cwd=ROOT)
    return [line.split()[1] for line in shown.stdout.splitlines() if line.startswith("session ")]


class Person:
    """Somebody at the counter, on one connection."""

    def __init__(self, port: int, session: str, number: int, think: float) -> None:
        self.think = think
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.cookie = f"sessionid={session}"
        self.destination = 10_000_000 * number
        self.seconds: list[float] = []
        self.wrong: list[str] = []

    def ask(self, path: str, form: dict[str, str] | None = None) -> http.client.HTTPResponse:
        """One page, its time noted."""
        time.sleep(random.uniform(0, 2 * self.think))
        headers = {"Cookie": self.cookie, "Host": "localhost"}
        body = None
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = urlencode(form)
        began = time.perf_counter()
        self.connection.request("GET" if form is None else "POST", path, body=body, headers=headers)
        answer = self.connection.getresponse()
        self.page = answer.read().decode()
        self.seconds.append(time.perf_counter() - began)
        if answer.status not in {200, 302}:
            self.wrong.append(f"{answer.status} {path}")
        return answer

    def buy(self) -> None:
        """The catalogue, the review, the order, its page, the list."""
        self.destination += 1
        destination = f"0812{self.destination % 10**9:09d}"
        review = f"/counter/review/?product={PRODUCT}&q={destination}"
        self.ask("/products/")
        answer = self.ask(review)
        if cookie := answer.headers.get("Set-Cookie"):
            self.cookie = f"{self.cookie.split(';')[0]}; {cookie.split(';')[0]}"
        hidden = dict(re.findall(r'name="(csrfmiddlewaretoken|price)" value="([^"]+)"', self.page))
        form = {**hidden, "product": PRODUCT, "destination": destination, "token": str(uuid.uuid4()), "confirm": "1"}
        placed = self.ask("/counter/send/", form)
        self.ask(placed.headers.get("Location") or "/orders/")
        self.ask("/orders/")


def measure(port: int, sessions: list[str], seconds: float, think: float) -> tuple[float, list[float], list[str]]:
    """Pages a second, the time of each page in order of size, and what was wrong."""
    people = [Person(port, session, number, think) for number, session in enumerate(sessions, start=1)]
    until = [time.monotonic() + 10]  # the first pages fill caches, and are not counted

    def live(person: Person) -> None:
        while time.monotonic() < until[0]:
            person.buy()

    for counted in (False, True):
        until[0] = time.monotonic() + (seconds if counted else 10)
        for person in people:
            person.seconds.clear()
        began = time.monotonic()
        threads = [threading.Thread(target=live, args=[person]) for person in people]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.monotonic() - began
    times = sorted(second for person in people for second in person.seconds)
    return len(times) / took, times, [fault for person in people for fault in person.wrong]


def main() -> None:
    """Measure in turns and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--think", type=float, default=0.5)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="processes-"))
    folder.chmod(0o711)
    rates: dict[int, list[float]] = {1: [], 2: []}
    longest = 0.0  # p99 of two processes
    print(
        "| round | web processes | pages | pages/s | p50 s | p99 s | wrong | load |\n|---|---|---|---|---|---|---|---|"
    )
    try:
        for number in range(1, options.rounds + 1):
            for processes in (1, 2):
                with demo(folder, processes) as port:
                    rate, times, wrong = measure(port, sign_in(folder, options.people), options.seconds, options.think)
                rates[processes].append(rate)
                p50, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
                longest = max(longest, p99) if processes == 2 else longest
                load = os.getloadavg()[0]
                print(
                    f"| {number} | {processes} | {len(times)} | {rate:.1f} | {p50:.2f} | {p99:.2f} | {len(wrong)} "
                    f"| {load:.0f} |",
                    flush=True,
                )
                if wrong:
                    print(f"wrong: {sorted(set(wrong))[:5]}", file=sys.stderr)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    ratio = statistics.mean(rates[2]) / statistics.mean(rates[1])
    print(f"\ntwo processes: {ratio:.2f} × one, p99 {longest:.2f} s at most")
    sys.exit(1 if ratio < LEAST_RATIO or longest > MOST_SECONDS else 0)


if __name__ == "__main__":
    main()
