"""Starts PostgreSQL and Valkey for the tests, before pytest-django reads the settings (`-p testing.services`).

With DATABASE_URL (of a superuser) and REDIS_URL in the environment those servers are used. Otherwise throw-away ones
are started in a temporary folder, and always ended and deleted. xdist's workers inherit the
addresses; each gets a Valkey database of its own.

The upstream's variables are always replaced: no test may reach a real account, even with a `.env`.
"""

import fcntl
import os
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import TextIO

import pytest

from launcher.embedded import Stores
from launcher.processes import ProcessGroup

DATABASE = "backoffice"
UPSTREAM = {
    "UPSTREAM_BASE_URL": "http://127.0.0.1:9",
    "UPSTREAM_SECRET_ID": "test-secret-id",
    "UPSTREAM_SECRET_KEY": "test-secret-key",
    "UPSTREAM_CALLBACK_VERIFIER": "hmac_sha256_body",
    "UPSTREAM_CALLBACK_ALLOWED_IPS": "",
    "UPSTREAM_ACCOUNT_RATE": "100000/minute",
    "UPSTREAM_IP_RATE": "100000/minute",
    "UPSTREAM_PRODUCTS_RATE": "100000/minute",
    "UPSTREAM_CONNECT_TIMEOUT": "5",
    "UPSTREAM_READ_TIMEOUT": "30",
}
SETTINGS = {
    "SECRET_KEY": "only-for-tests-" + "x" * 50,
    "BACKOFFICE_SANDBOX": "1",
    "ALLOWED_HOSTS": "localhost,127.0.0.1,testserver",
    "CSRF_TRUSTED_ORIGINS": "",
    "DEBUG": "0",
    "HTTPS": "0",
    # no test notifies anybody
    "ALERT_URLS": "",
    "AUDIT_CHECKPOINT_URLS": "",
    "SITE_URL": "",
}

TESTS = Path(__file__).parents[1] / "tests"

_group = ProcessGroup()
_stores: Stores | None = None
_loading: TextIO | None = None


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests() -> Generator[None]:
    """Set the environment before any other plugin reads it (a wrapper runs before them all)."""
    os.environ.update(UPSTREAM | SETTINGS)
    # Hundreds of processes start; without its bytecode each compiles the whole project, which takes a second.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    if worker := os.environ.get("PYTEST_XDIST_WORKER"):
        server, _, database = os.environ["REDIS_URL"].rpartition("/")
        os.environ["REDIS_URL"] = f"{server}/{int(database or 0) + 1 + int(worker.removeprefix('gw'))}"
        await_bytecode()
    else:
        start_missing_services()
    return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Three for two cores, since a third of the tests' time is waiting. xdist itself reads the variable."""
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else (os.cpu_count() or 1) * 3 // 2


def await_bytecode() -> None:
    """In a fresh clone one worker loads app and tests before the others, which need not compile all of it again."""
    global _loading  # noqa: PLW0603
    _loading = (Path(os.environ["BACKOFFICE_DATA"]) / "loading").open("a")
    fcntl.flock(_loading, fcntl.LOCK_EX)
    if any(TESTS.glob("*/__pycache__/test_*.pyc")):
        pytest_collection_finish()


def pytest_collection_finish() -> None:
    """Let the next worker load."""
    if _loading:
        _loading.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest tests first, so that at the end no worker runs one alone."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def start_missing_services() -> None:
    """Start the services that the environment does not name, and put their addresses there."""
    global _stores  # noqa: PLW0603 (pytest's hooks share nothing else)
    postgres, valkey = "DATABASE_URL" not in os.environ, "REDIS_URL" not in os.environ
    folder = Path(tempfile.mkdtemp(prefix="backoffice-tests-"))
    folder.chmod(0o711)  # as root, PostgreSQL runs as another user
    _group.discard_at_end(folder)
    os.environ["BACKOFFICE_DATA"] = str(folder)
    _stores = Stores(folder, _group, durable=False, postgres=postgres, valkey=valkey)
    _stores.start(DATABASE)
    if _stores.postgres:
        os.environ["DATABASE_URL"] = _stores.postgres.url(DATABASE)
    if _stores.valkey:
        os.environ["REDIS_URL"] = _stores.valkey.url()


def pytest_unconfigure() -> None:
    """End the services; when pytest is killed instead, the watchdog does it."""
    if _stores:
        _stores.stop(grace=0.5)
    _group.close()
