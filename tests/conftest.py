"""Fixtures that several rooms share: the sandbox as our upstream, over real HTTP."""

import fcntl
import gc
import gettext
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import pytest
from django.apps import apps
from django.conf import settings as project
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command
from django.db import connection
from django.test import TransactionTestCase
from django.utils import timezone
from django.utils.translation import trans_real
from hypothesis import HealthCheck, settings as properties
from time_machine import escape_hatch

import batches.services.placing as batches_placing
import bills.services.inquiring as bills_inquiring
import branches.services
import policies.services
from audit.services import close_way_past_triggers
from callbacks import refusals
from catalogue.services import sync_catalogue
from core import clock, stores
from purchases.models import Order
from purchases.services import polling
from reconciliation.services import on_demand
from staff import provider as our_provider
from staff.rights import grant
from testing.database import Rows, copy_rows, empty_tables, make_app_role, put_back, tamper
from testing.people import Browser, browser_of
from testing.sandbox_process import SandboxProcess
from tests.staff.oidc_provider import CLIENT, ROLES, SARI, SECRET, OidcProvider
from tills.services.pins import PinHasher
from upstream.client import get_client
from upstream.endpoints import Limit

# The time of an example depends on the machine alone.
properties.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
properties.load_profile("untimed")

# The sandbox and our checks run this much faster than in the shop, so that waiting tests stay short.
SPEED = 20

# A quarter of a second for a new person; 30 ms for a new browser, for which WhiteNoise lists all files of the pages.
PBKDF2PasswordHasher.iterations = 1
PinHasher.iterations = 1
project.WHITENOISE_USE_FINDERS = False
# Not the folder that a fleet's start fills: `live_server` serves the files under their own names.
project.STATIC_ROOT = project.DATA_DIR / "static-of-tests"
project.STATIC_ROOT.mkdir(parents=True, exist_ok=True)
refusals.SECONDS = 0.0  # written at once, by the thread of the test
# The code that follows an order or a batch looks often: each look is one short statement.
polling._LOOK_EVERY_SECONDS = bills_inquiring._READ_EVERY_SECONDS = on_demand._LOOK_EVERY_SECONDS = 0.05
batches_placing._LOOK_EVERY_SECONDS = 0.05
# Made before any test without Redis, because all later tests would keep that test's clients.
stores.patient()
stores.hurried()
# Each answer logs two lines, which pytest keeps and shows after a failure: they need not be written again.
for handler in logging.getLogger().handlers:
    handler.setLevel(logging.WARNING)


@pytest.fixture(scope="session")
def migrated(django_db_modify_db_settings: None) -> Iterator[TextIO]:
    """A file that names the migrated database, which the workers copy. The first worker makes it and locks the file."""
    with (project.DATA_DIR / "migrated").open("a+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        connection.settings_dict["TEST"]["TEMPLATE"] = file.read() or None
        yield file


@pytest.fixture(scope="session")
def django_db_setup(migrated: TextIO, django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The tests' database. Each test starts with the roles and nothing else in it."""
    is_first = not connection.settings_dict["TEST"]["TEMPLATE"]
    if is_first:
        with django_db_blocker.unblock():
            connection.creation.clone_test_db("migrated", verbosity=0, autoclobber=True)
        print(connection.creation.get_test_db_clone_settings("migrated")["NAME"], end="", file=migrated, flush=True)
    fcntl.flock(migrated, fcntl.LOCK_UN)
    gc.collect()
    gc.freeze()  # the loaded modules stay
    TransactionTestCase._fixture_teardown = lambda _test: empty_tables()
    # A new connection would read the catalogue of the database again, which takes longer than most tests.
    TransactionTestCase._should_reload_connections = lambda _test: not connection.is_usable()
    with django_db_blocker.unblock():
        make_app_role()
        close_way_past_triggers()
        empty_tables()
    yield
    if is_first:
        with django_db_blocker.unblock():
            connection.creation.destroy_test_db(suffix="migrated", verbosity=0)


@pytest.fixture(scope="session", autouse=True)
def _translations() -> None:
    """Compile the pages' words, and forget the words that Django and Python have read before (they read once)."""
    call_command("compile_po", verbosity=0)
    gettext._translations.clear()
    trans_real._translations.clear()
    trans_real._default = None


@pytest.fixture(scope="session")
def sandbox_process() -> Iterator[SandboxProcess]:
    """One sandbox for all tests of this xdist worker."""
    process = SandboxProcess.fresh("shared", SANDBOX_SPEED=str(SPEED), SANDBOX_CALLBACK_SCHEDULE="20,20,20,20")
    yield process
    process.remove()


def forget_calls() -> None:
    """Let no call count against a limit: earlier tests' calls would leave their minute in the middle of this test."""
    budget = get_client().budget
    budget._redis.delete(*(key for limit in Limit for key in budget._keys(limit)))
    budget.declare_fresh()


class Upstream:
    """The sandbox as a money test sees it: its requests, and its charges."""

    def __init__(self, process: SandboxProcess) -> None:
        self.process = process

    def control(self, path: str, **fields: Any) -> dict[str, Any]:
        """The sandbox's control API."""
        return self.process.control(path, **fields)

    def ledger(self, order: Order) -> list[tuple[str, int]]:
        """The movements of the balance for this order: (kind, signed rupiah)."""
        rows = self.process.control("ledger", ref_id=order.ref_id)["mutations"]
        return [(row["kind"], row["amount"]) for row in rows]

    def calls(self, order: Order, endpoint: str = "") -> list[str]:
        """The requests that carried this order's ref_id, oldest first."""
        rows = self.process.control("requests", ref_id=order.ref_id)["requests"]
        return [row["endpoint"] for row in rows if row["endpoint"].endswith(endpoint)]


@pytest.fixture(scope="session")
def synced() -> Rows:
    """The rows that a sync of the sandbox's catalogue stores; empty until a test of this worker has synced."""
    return {}


@pytest.fixture
def upstream(transactional_db: None, sandbox_process: SandboxProcess, synced: Rows, settings: Any) -> Upstream:
    """A clean sandbox as our upstream, with a synced catalogue; no call counts yet, and checks come quickly."""
    sandbox_process.control("reset")
    settings.UPSTREAM_BASE_URL = sandbox_process.url
    settings.UPSTREAM_SECRET_ID = sandbox_process.secret_id
    settings.UPSTREAM_SECRET_KEY = sandbox_process.secret_key
    forget_calls()
    if synced:
        put_back(synced)
    else:
        others = copy_rows()  # the messages of earlier fixtures; no other test may get them
        empty_tables()
        sync_catalogue()  # with the usual timeouts: a busy machine answers late
        synced.update(copy_rows())
        put_back(others)
        forget_calls()
    settings.UPSTREAM_CONNECT_TIMEOUT = 0.5
    settings.UPSTREAM_READ_TIMEOUT = 0.5
    settings.ORDER_CHECK_FIRST_SECONDS = 3.0 / SPEED
    return Upstream(sandbox_process)


@pytest.fixture(scope="session")
def oidc_server() -> Iterator[OidcProvider]:
    """One provider of sign-ins for all tests of this xdist worker."""
    server = OidcProvider()
    yield server
    server.stop()


@pytest.fixture
def provider(oidc_server: OidcProvider, settings: Any) -> OidcProvider:
    """The provider that the settings name; Sari signs in there as a cashier."""
    oidc_server.reset()
    oidc_server.claims = dict(SARI)
    our_provider._known.clear()
    settings.OIDC_ISSUER, settings.OIDC_NAME, settings.OIDC_ROLES = oidc_server.issuer, "Akun Toko", ROLES
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT, SECRET
    return oidc_server


@pytest.fixture(autouse=True)
def _policies_and_branches_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test reads both at its first query, and again only after a change, so that counts of statements hold."""
    for services in (policies.services, branches.services):
        monkeypatch.setattr(services, "_KEPT_SECONDS", 1e9)
        services.forget()


@pytest.fixture(autouse=True)
def _english(settings: Any) -> None:
    """Test the pages' words in the language of the source."""
    settings.LANGUAGE_CODE = "en"


@pytest.fixture
def cashier(db: None) -> Browser:
    return browser_of("cashier")


@pytest.fixture
def costs_shown(db: None) -> Iterator[None]:
    """Let cashiers see costs, and so the balance; taken back afterwards, also if the test commits."""
    grant(apps, "cashier", "catalogue.view_cost")
    yield
    Group.objects.get(name="cashier").permissions.remove(Permission.objects.get(codename="view_cost"))


@pytest.fixture
def roles_again(db: None) -> Iterator[None]:
    """Restore the tables of roles after a test that commits, because no test empties them."""
    tables = ("auth_group", "auth_group_permissions", "staff_rolegrouphistory", "staff_rolepermissionhistory")
    for table in tables:
        tamper(f"CREATE TEMPORARY TABLE before_{table} AS TABLE {table}")
    yield
    for table in tables:
        tamper(f"DELETE FROM {table}")  # noqa: S608
        tamper(f"INSERT INTO {table} TABLE before_{table}")
        tamper(f"DROP TABLE before_{table}")


@pytest.fixture
def supervisor(db: None) -> Browser:
    return browser_of("supervisor")


@pytest.fixture
def auditor(db: None) -> Browser:
    return browser_of("auditor")


@pytest.fixture
def admin(db: None) -> Browser:
    return browser_of("admin")


@pytest.fixture(autouse=True)
def _travelling(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that travels in time takes the database's clock with it."""
    database_time = clock.now
    monkeypatch.setattr(clock, "now", lambda: timezone.now() if escape_hatch.is_travelling() else database_time())


@pytest.fixture
def sent_folder(settings: Any, tmp_path: Path) -> Path:
    """The folder of the journal of sent orders, for this test alone; it does not exist yet."""
    settings.SENT_FOLDER = tmp_path / "sent"
    return tmp_path / "sent"


@pytest.fixture
def long_books(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the worker make every workbook, also one of few rows."""
    monkeypatch.setattr("exports.lists.MOST_IN_BOOK", -1)
