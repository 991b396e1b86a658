"""The web process of a former release beside this tree's workers, on one database with this tree's tables.

    .venv/bin/poe old-web REF [--forms 280] [--log]

For a release, with the tag of the one before: while several machines change one after the other, pages of the former
code and workers of the new one sell together (docs/deployment.md). REF is checked out into a scratch folder, makes its
tables and serves; then this tree changes the tables and starts. Forms come from the pages of both, and each is sent
twice at once, mostly to the former code; the sandbox plays its faults (magic destinations) and reports to the former
code, and a Celery process is killed every few seconds. Exit code 1 unless each form is one order, each order is charged
at most once, and books and upstream agree to the rupiah.

It runs on today's packages, because the former ones are not installed: if a package changed, read its notes, too.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import requests

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.shop import open_shop, print_table
from launcher import ROOT

if TYPE_CHECKING:
    from testing.fleet import Fleet
    from testing.sandbox_process import SandboxProcess

_AT_ONCE = 4
_KILL_EVERY_SECONDS = 6.0
_MOST_SECONDS = 300.0
# All that may happen to a sent order, except those that wait for a person (03) or are refused before sending.
_SCENARIOS = [1, 2, *range(4, 19)]
_PREFIXES = ("0811", "0812", "0813", "0821", "0822", "0823", "0852", "0853")
_SETTINGS = {
    "ORDER_CHECK_FIRST_SECONDS": "1",
    "ORDER_LEASE_SECONDS": "10",
    "ORDER_NOT_FOUND_GRACE_SECONDS": "40",  # longer than the 20 s after which scenario 12 arrives
    "UPSTREAM_CONNECT_TIMEOUT": "2",
    "UPSTREAM_READ_TIMEOUT": "5",
}


def main() -> None:
    """Sell, compare, and print the faults."""
    parser = argparse.ArgumentParser()
    parser.add_argument("ref", help="the former release: a tag, or any commit")
    parser.add_argument("--forms", type=int, default=280)
    parser.add_argument("--log", action="store_true", help="show what this process logs")
    options = parser.parse_args()
    settings = _SETTINGS | {"LOG_LEVEL": "INFO" if options.log else "CRITICAL"}
    with (
        checkout(options.ref) as former,
        Former(former) as old,
        open_shop(before_tables=old.serve, **settings) as shop,
    ):
        faults = sell(shop.fleet, old, forms=options.forms)
    print("\n".join(faults) or f"{options.ref} beside this tree: every form is one order, and nothing differs.")
    sys.exit(1 if faults else 0)


@contextlib.contextmanager
def checkout(ref: str) -> Iterator[Path]:
    """The files of a commit in a scratch folder, with this tree's packages of the front end."""
    folder = Path(tempfile.mkdtemp(prefix="old-web-"))
    try:
        archive = subprocess.run(["git", "-C", ROOT, "archive", ref], stdout=subprocess.PIPE, check=False)
        if archive.returncode != 0:
            sys.exit(f"{ref} names no commit of this repository.")
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        (folder / "node_modules").symlink_to(ROOT / "node_modules")
        yield folder
    finally:
        shutil.rmtree(folder)


class Former:
    """The code of the former release, whose web process serves on its own tables, and the sandbox of both releases."""

    def __init__(self, code: Path) -> None:
        self.account: dict[str, str] = {}  # the settings with which the sandbox is the upstream
        self._code = code
        self._ends = contextlib.ExitStack()

    def __enter__(self) -> Former:
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.close()

    def serve(self) -> None:
        """Start the sandbox, make the tables of the former release, and start its web process."""
        from testing.database import make_app_role
        from testing.fleet import Fleet
        from testing.sandbox_process import SandboxProcess

        self.sandbox = SandboxProcess.fresh("old_web")
        self._ends.callback(self.sandbox.kill)
        self.account = {
            "UPSTREAM_BASE_URL": self.sandbox.url,
            "UPSTREAM_SECRET_ID": self.sandbox.secret_id,
            "UPSTREAM_SECRET_KEY": self.sandbox.secret_key,
        }
        for words in (["compile_po"], ["migrate", "--no-input"], ["createcachetable"]):
            command = [sys.executable, "manage.py", *words, "--verbosity", "0"]
            subprocess.run(command, cwd=self._code, check=True)
        make_app_role()
        fleet = Fleet(**self.account)
        self._ends.callback(fleet.kill_all)
        fleet.project = self._code
        fleet.start("web")
        self.url = fleet.url
        self.sandbox.control("account", callback_url=f"{self.url}/callbacks/upstream/")
        self.sandbox.control("topup", amount=1_000_000_000)  # enough for every form


def sell(fleet: Fleet, old: Former, *, forms: int) -> list[str]:
    """Sell with both, and return every fault as a sentence."""
    from django.conf import settings

    from catalogue.models import Product
    from catalogue.services import sync_catalogue
    from reconciliation.services.on_demand import reconcile_now
    from testing.people import make_person
    from testing.sandbox_process import eventually
    from upstream.client import get_client

    for name, value in old.account.items():
        setattr(settings, name, value)
    fleet.env |= old.account
    get_client().budget.declare_fresh()
    sync_catalogue()
    reconcile_now(seconds=10)  # opens the books
    make_person("cashier")
    fleet.start("web", "worker", "background", "beat")
    with killing(fleet):
        answers = sell_forms(old.url, fleet.url, Product.objects.get(name="Telkomsel 10.000").code, forms=forms)
    eventually(are_settled, within=_MOST_SECONDS, every=1.0)
    run, fault = reconcile_now(seconds=60)
    return compared(old.sandbox, answers, forms=forms, difference=run.difference, fault=fault)


@contextlib.contextmanager
def killing(fleet: Fleet) -> Iterator[None]:
    """`kill -9` the worker and the background in turns until the block ends; both run then."""
    is_over = threading.Event()

    def kill_on() -> None:
        names = ["worker", "background"]
        while not is_over.wait(_KILL_EVERY_SECONDS):
            fleet.kill(names[0])
            fleet.begin(names[0])
            names.reverse()

    killer = threading.Thread(target=kill_on)
    killer.start()
    try:
        yield
    finally:
        is_over.set()
        killer.join()


def sell_forms(old: str, new: str, product: str, *, forms: int) -> Counter[str]:
    """Send the forms of many numbers, each twice at once; returns how often each answer came."""
    cookies = signed_in_at(old)

    def send(number: int) -> list[str]:
        # three of four pages, and three of four first sendings, are those of the former code
        page_of, first, second = [(old, old, old), (old, old, new), (old, new, old), (new, old, old)][number % 4]
        destination = destination_of(number)
        page = requests.get(
            f"{page_of}/counter/review/", params={"product": product, "q": destination}, cookies=cookies, timeout=60
        )
        form = {**hidden_in(page.text), "product": product, "destination": destination, "paid_by": "qris"}
        with ThreadPoolExecutor(2) as hands:
            return list(hands.map(lambda address: posted(address, form, cookies), (first, second)))

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return Counter(answer for answers in pool.map(send, range(forms)) for answer in answers)


def posted(address: str, form: dict[str, str], cookies: dict[str, str]) -> str:
    """The answer to a form as a person sees it: "sold", or the other answer."""
    data = {**form, "confirm": "1"}
    answer = requests.post(f"{address}/counter/send/", data, cookies=cookies, allow_redirects=False, timeout=120)
    went_to = answer.headers.get("Location", "")
    return "sold" if (answer.status_code, went_to) == (302, "/counter/") else f"{answer.status_code} {went_to}".strip()


def signed_in_at(address: str) -> dict[str, str]:
    """The cookies of a cashier who signs in at the pages there."""
    browser = requests.Session()
    login = f"{address}/accounts/login/"
    form = {**hidden_in(browser.get(login, timeout=60).text), "login": "cashier", "password": "secret-words"}
    browser.post(login, form, timeout=60)
    return browser.cookies.get_dict()


def hidden_in(page: str) -> dict[str, str]:
    """The hidden fields of a page's forms."""
    return dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page))


def destination_of(number: int) -> str:
    """A number of its own for each form; every other one plays a fault of the sandbox."""
    nth, place = divmod(number // 2, len(_SCENARIOS))
    if number % 2:
        return f"0812{1_000_000 + number:07d}"
    return f"{_PREFIXES[nth % len(_PREFIXES)]}{nth // len(_PREFIXES)}900000{_SCENARIOS[place]:02d}"


def are_settled() -> bool:
    """Whether each order has a known outcome or waits for a person."""
    from purchases.models import Order
    from purchases.states import Status

    moving = [Status.QUEUED, Status.SENDING, Status.PENDING, Status.UNKNOWN]
    return not Order.objects.filter(status__in=moving).exists()


def compared(
    sandbox: SandboxProcess, answers: Counter[str], *, forms: int, difference: int | None, fault: str
) -> list[str]:
    """Every fault as a sentence; prints the figures."""
    from purchases.models import Order
    from purchases.states import Status

    mutations = sandbox.control("ledger")["mutations"]
    debits, refunds = (
        Counter(row["ref_id"] for row in mutations if row["kind"] == kind) for kind in ("debit", "refund")
    )
    orders = dict(Order.objects.values_list("ref_id", "status"))
    states = Counter(orders.values())
    charged = {ref_id for ref_id, status in orders.items() if status in {Status.SUCCESS, Status.FAILED}}
    print_table(
        ["what", "count"],
        [
            [str(name), str(count)]
            for name, count in [
                ("forms, each sent twice", forms),
                *answers.items(),
                ("orders", len(orders)),
                *sorted(states.items()),
                ("debits of the upstream", debits.total()),
                ("refunds of the upstream", refunds.total()),
            ]
        ],
    )
    return [
        *([f"{forms} forms became {len(orders)} orders."] if len(orders) != forms else []),
        *(f"{ref_id} was charged {count} times." for ref_id, count in debits.items() if count > 1),
        *(f"{ref_id} was charged and is no order." for ref_id in debits.keys() - orders.keys()),
        *(f"{ref_id} is {orders[ref_id]} and was never charged." for ref_id in charged - debits.keys()),
        *(f"{ref_id} is {orders[ref_id]} and was charged." for ref_id in (debits.keys() & orders.keys()) - charged),
        *(
            f"{ref_id} is failed without its refund, or is no failed one and was refunded."
            for ref_id, status in orders.items()
            if (status == Status.FAILED) != (refunds[ref_id] == 1)
        ),
        *([f"The balance was not read: {fault}"] if fault else []),
        *(["Books and balance were not compared to the end."] if difference is None else []),
        *([f"Books and balance differ by Rp{difference}."] if difference else []),
    ]


if __name__ == "__main__":
    main()
