"""A shop with the data of version 0.1.0 sells 50 orders a minute while `./run upgrade` fails, goes back, and succeeds.

Its databases come from files that were made at the release. The code is today's, in a checkout of its own, so that the
first start is the upgrade from 0.1.0, and all later migrations change its tables. Two versions with one more migration
follow. The test cannot show that 0.1.0's own code runs, because its packages are not here.
"""

import contextlib
import json
import re
import shutil
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import requests

from launcher import ROOT, VENV
from launcher.data_folder import read_json, read_state
from launcher.process_table import with_descendants
from launcher.stack import APP_DATABASE
from testing.released_shop import GIVEN
from testing.sandbox_process import free_port
from tests.launcher.conftest import all_gone, clean_environment, wait_until
from tests.launcher.helpers import git

PRODUCT = "TSEL10"
EVERY_SECONDS = 60 / 50
SETTINGS = {
    **GIVEN,
    "WEB_PROCESSES": "1",
    "WORKER_PROCESSES": "1",
    "ORDER_CHECK_FIRST_SECONDS": "1",  # for orders that were being sent when the shop stopped
    "ORDER_LEASE_SECONDS": "10",
}
MOST_SECONDS = 300  # so that a fault ends the test
NOT_COPIED = (".git", ".venv*", "node_modules", ".data", ".env", ".*_cache", "site", "staticfiles", "benchmarks")
MIGRATION = """
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("purchases", "{before}")]
    operations = [migrations.RunSQL("{statement}")]
"""
COLUMN = "ALTER TABLE purchases_order ADD COLUMN of_the_next_version bigint"
COLUMNS = "SELECT attname::text FROM pg_attribute WHERE attname = 'of_the_next_version'"
ORDERS = """
    SELECT destination, ref_id, status, array_agg(entry.kind ORDER BY entry.id)
    FROM purchases_order LEFT JOIN ledger_entry entry USING (ref_id)
    WHERE destination LIKE '0813551%' GROUP BY 1, 2, 3 ORDER BY 1
"""


def wait_for(condition: Callable[[], bool], *, every: float = 0.05) -> None:
    assert wait_until(condition, seconds=MOST_SECONDS, every=every)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of today's code, with tags: the running version, a next one that cannot be prepared, one that can."""
    root = tmp_path / "checkout"
    shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns(*NOT_COPIED))
    git(root, "init", "-q")
    release(root, "0.1.0")
    migrations = root / "purchases/migrations"
    last = max(path.stem for path in migrations.glob("[0-9]*.py"))
    (migrations / "9998_column.py").write_text(MIGRATION.format(before=last, statement=COLUMN))
    fault = MIGRATION.format(before="9998_column", statement="SELECT 1 / 0")
    (migrations / "9999_fault.py").write_text(fault)
    release(root, "0.1.1")
    (migrations / "9999_fault.py").unlink()
    release(root, "0.1.2")
    git(root, "checkout", "-q", "0.1.0")
    lend_packages(root)
    return root


def release(root: Path, version: str) -> None:
    """Commit and tag the files there as this version."""
    text = (root / "pyproject.toml").read_text()
    (root / "pyproject.toml").write_text(re.sub(r'(?m)^version = ".*"$', f'version = "{version}"', text))
    git(root, "add", "--all")
    git(root, "commit", "-q", "--allow-empty", "-m", version)
    git(root, "tag", version)


def lend_packages(root: Path) -> None:
    """Give the checkout an environment and front-end packages that consist of links to ours."""
    (libraries,) = VENV.glob("lib/python*/site-packages")
    own = root / ".venv"
    (own / libraries.relative_to(VENV)).mkdir(parents=True)
    (own / libraries.relative_to(VENV) / "lent.pth").write_text(f"{libraries}\n")
    (own / "bin").mkdir()
    (own / "bin/python").symlink_to((VENV / "bin/python").resolve())
    for name in ("pyvenv.cfg", "installed.json"):
        shutil.copy(VENV / name, own / name)
    (root / "node_modules").mkdir()
    for path in (ROOT / "node_modules").iterdir():
        (root / "node_modules" / path.name).symlink_to(path)


class Shop:
    """`./run` of the checkout on the released data."""

    def __init__(self, checkout: Path, data: Path) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.said: list[str] = []
        self._checkout = checkout
        self._data = data
        self._environment = clean_environment(BACKOFFICE_DATA=str(data), **SETTINGS)

    @contextlib.contextmanager
    def running(self) -> Iterator["subprocess.Popen[str]"]:
        """Run `./run` until the block ends."""
        with subprocess.Popen(self._words("--port", str(self.port)), **self._how()) as process:
            try:
                listener = threading.Thread(target=self._listen, args=[process], daemon=True)
                listener.start()
                self.await_ready(process)
                yield process
            finally:
                process.terminate()
                process.wait(30)

    def _listen(self, process: "subprocess.Popen[str]") -> None:
        assert process.stdout is not None
        self.said.extend(process.stdout)

    def await_ready(self, process: "subprocess.Popen[str]") -> None:
        """Wait until `./run` says that it is ready."""

        def is_ready() -> bool:
            assert process.poll() is None, "".join(self.said)
            return any("stop: Ctrl-C" in line for line in list(self.said))

        wait_for(is_ready)

    def call(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Call `./run` with these words, and wait for its end."""
        return subprocess.run(self._words(*words), **self._how(), timeout=MOST_SECONDS, check=False)

    def upgrade_to(self, version: str) -> "subprocess.CompletedProcess[str]":
        """Upgrade as an owner does."""
        git(self._checkout, "checkout", "-q", version)
        return self.call("upgrade")

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """The answer of the app's database."""
        secrets, ports = read_json(self._data / "secrets.json"), read_json(self._data / "ports.json")
        url = f"postgresql://app:{secrets['postgres']}@127.0.0.1:{ports['postgres']}/{APP_DATABASE}"
        with psycopg.connect(url) as connection:
            return connection.execute(statement).fetchall()

    def charges(self) -> Counter[str]:
        """The number of the sandbox's charges for each order, by ref_id."""
        port = read_json(self._data / "ports.json")["sandbox"]
        token = read_json(self._data / "secrets.json")["sandbox_token"]
        address = f"http://127.0.0.1:{port}/control/ledger"
        request = urllib.request.Request(address, headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            mutations = json.load(answer)["mutations"]
        return Counter(row["ref_id"] for row in mutations if row["kind"] == "debit")

    def _words(self, *words: str) -> list[str]:
        return [sys.executable, str(self._checkout / "run"), *words]

    def _how(self) -> dict[str, Any]:
        return {
            "env": self._environment,
            "cwd": self._checkout,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.STDOUT,
            "text": True,
        }


class Cashier:
    """A cashier at the counter's pages, who sends the same form again while no server answers."""

    def __init__(self, address: str) -> None:
        self.sold: list[str] = []  # the numbers of the acknowledged sales
        self.faults: list[str] = []
        self._address = address
        self._browser = requests.Session()
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._sell_on)

    def __enter__(self) -> "Cashier":
        page = self._get("/accounts/login/")
        self._post("/accounts/login/", {**hidden_in(page), "login": "cashier", "password": "cashier-demo"})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()

    def sell_more(self) -> None:
        """Return after two more sales: then the shop serves again."""
        until = len(self.sold) + 2
        wait_for(lambda: len(self.sold) >= until)

    def _sell_on(self) -> None:
        number = 0
        while not self._ends.wait(EVERY_SECONDS):
            number += 1
            destination = f"0813551{number:05d}"  # in the form that `ORDERS` looks for
            page = self._get(f"/counter/review/?product={PRODUCT}&q={destination}")
            form = {**hidden_in(page), "product": PRODUCT, "destination": destination, "paid_by": "qris"}
            answer = self._post("/counter/send/", {**form, "confirm": "1"})
            if answer.headers.get("Location") == "/counter/":
                self.sold.append(destination)
            else:
                self.faults.append(f"{destination}: {answer.status_code} {answer.text[-2000:]}")

    def _get(self, path: str) -> str:
        return self._ask("GET", path).text

    def _post(self, path: str, form: dict[str, str]) -> requests.Response:
        return self._ask("POST", path, form)

    def _ask(self, method: str, path: str, form: dict[str, str] | None = None) -> requests.Response:
        """The answer, once there is one: an upgrade takes the pages away for a while."""
        until = time.monotonic() + MOST_SECONDS
        while True:
            with contextlib.suppress(requests.RequestException):
                url = f"{self._address}{path}"
                answer = self._browser.request(method, url, data=form, allow_redirects=False, timeout=60)
                if answer.status_code != 503:
                    return answer
            assert time.monotonic() < until, "nobody answered"
            time.sleep(0.1)


def hidden_in(page: str) -> dict[str, str]:
    """The hidden fields of a page's forms."""
    return dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', page))


@pytest.mark.long
def test_upgrades_of_a_shop_that_sells_lose_and_double_nothing(checkout: Path, released: Path) -> None:
    shop = Shop(checkout, released)

    # given: a selling shop with the data of 0.1.0 and today's code
    with shop.running() as launcher:
        others = set(with_descendants(launcher.pid)) - {launcher.pid}
        with Cashier(shop.address) as cashier:
            cashier.sell_more()

            # when: one upgrade cannot be prepared, and the next one can
            failed = shop.upgrade_to("0.1.1")
            columns_of_failed = shop.rows(COLUMNS)
            assert all_gone(list(others)), "it had released everything"
            cashier.sell_more()
            worked = shop.upgrade_to("0.1.2")
            cashier.sell_more()
        wait_for(lambda: all(status == "success" for _number, _ref, status, _kinds in shop.rows(ORDERS)), every=0.5)

        # then: both began in the same process, which systemd knows
        assert launcher.poll() is None
        assert read_state(released)["pid"] == launcher.pid

        # then: the first upgrade left nothing, and each sale is there once, in the books and at the provider
        assert (failed.returncode, columns_of_failed) == (1, [])
        assert "Version 0.1.0 runs again" in failed.stdout
        assert (worked.returncode, shop.rows(COLUMNS)) == (0, [("of_the_next_version",)])
        assert cashier.faults == []
        orders, charges = shop.rows(ORDERS), shop.charges()
        assert [number for number, *_ in orders] == cashier.sold
        assert {tuple(kinds) for *_, kinds in orders} == {("hold", "release", "debit")}
        assert {charges[ref] for _number, ref, *_ in orders} == {1}
        proved = shop.call("manage", "prove_restored")
        assert proved.returncode == 0, proved.stdout
