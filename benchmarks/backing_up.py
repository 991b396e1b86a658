"""The cost of `./run backup` for a sale: the button's answer while nothing else runs, and during backups, in turns.

    python benchmarks/backing_up.py [--orders 100000] [--sales 300] [--rounds 3] [--to FOLDER]

One web process on a durable PostgreSQL with so many orders, and one cashier who presses the button again and again.
Backups go to FOLDER, best on another disk; without FOLDER to the temporary folder. Exit code 1 when p95 during a
backup is more than 1.3 times the quiet p95.
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.buyer import Buyer
from benchmarks.engine import quiet_log
from benchmarks.shop import ROOT, open_shop, print_table
from launcher.data_folder import kept_secrets, read_json, write_state
from launcher.database_roles import BACKUP, SECRETS, make_roles
from launcher.output import last_lines
from launcher.processes import NICENESS, ProcessGroup

MOST = 1.3
QUIET, BESIDE = "quiet", "beside a backup"


def main() -> None:
    """Measure, and print both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--orders", type=int, default=100_000, help="in the database, before the first sale")
    parser.add_argument("--sales", type=int, default=300, help="of a round, quiet and beside backups each")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--to", type=Path, help="a folder, made if it is not there")
    parser.add_argument("--log", action="store_true", help="show what the processes say")
    options = parser.parse_args()
    if options.to:
        options.to.mkdir(parents=True, exist_ok=True)
    target = Path(tempfile.mkdtemp(prefix="backups-", dir=options.to))
    try:
        times = measure(options, target)
    finally:
        shutil.rmtree(target)
    rows = []
    for name, some in times.items():
        p50, p95 = statistics.median(some), statistics.quantiles(some, n=20)[-1]
        rows.append([name, str(len(some)), f"{p50 * 1000:.1f}", f"{p95 * 1000:.1f}"])
    print_table(["sale", "n", "p50 ms", "p95 ms"], rows)
    ratio = float(rows[1][3]) / float(rows[0][3])
    print(f"p95 beside a backup: {ratio:.2f} times the quiet one")
    sys.exit(0 if ratio <= MOST else 1)


def measure(options: argparse.Namespace, target: Path) -> dict[str, list[float]]:
    """Seconds of each sale, until the button is answered."""
    times: dict[str, list[float]] = {QUIET: [], BESIDE: []}
    with open_shop() as shop:
        from catalogue.models import Product
        from gateway.services import bind_to_upstream
        from testing.books import make_books
        from upstream.client import get_client

        if not options.log:
            quiet_log()
        make_books(options.orders)
        bind_to_upstream(has_orders=True)
        get_client().budget.declare_fresh()
        say_it_serves()
        shop.fleet.start("web")
        buyer = Buyer(shop, Product.objects.get(), username="buyer")
        for _ in range(20):
            buyer.buy()
        for _ in range(options.rounds):
            times[QUIET] += [sale(buyer) for _ in range(options.sales)]
            with backups(target):
                times[BESIDE] += [sale(buyer) for _ in range(options.sales)]
    return times


def sale(buyer: Buyer) -> float:
    """The seconds of one sale."""
    began = time.perf_counter()
    buyer.buy()
    return time.perf_counter() - began


def say_it_serves() -> None:
    """Let `./run backup` find the database that runs, as it finds a shop's, and sign in to copy it."""
    data = Path(os.environ["BACKOFFICE_DATA"])
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as superuser:
        make_roles(superuser, {BACKUP: kept_secrets(data)[SECRETS[BACKUP]]})
    port = read_json(data / "ports.json")["postgres"]
    write_state(data, {"doing": "serving", "pid": os.getpid(), "processes": [{"name": "postgres", "port": port}]})


@contextmanager
def backups(target: Path) -> Iterator[None]:
    """Make one backup after another; the block begins when the first copies files. Each is deleted at its end."""
    environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}}
    command: list[str | Path] = [sys.executable, ROOT / "run", "backup", target]
    is_over, group, log = threading.Event(), ProcessGroup(), target / "backup.log"
    faults: list[str] = []

    def make() -> None:
        while not is_over.is_set():
            made = group.start("backup", command, env=environment, cwd=ROOT, log=log, niceness=NICENESS)
            if group.finish(made):
                faults.append(f"{made.process.returncode} {last_lines(log)}")
                return
            for backup in target.glob("*Z"):
                shutil.rmtree(backup)

    maker = threading.Thread(target=make)
    maker.start()
    try:
        while maker.is_alive() and not [*target.glob(".*.new/database/PG_VERSION")]:
            time.sleep(0.01)
        yield
    finally:
        is_over.set()
        maker.join()
        group.close()
    if faults:
        sys.exit(faults[0])


if __name__ == "__main__":
    main()
