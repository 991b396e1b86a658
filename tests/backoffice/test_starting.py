"""Before a process takes work, it loads its code, and refuses a database of a newer version."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from core.schema import refuse_newer_schema, unknown_migrations
from testing.database import app_url
from testing.fleet import Fleet
from testing.sandbox_process import PROJECT

pytestmark = pytest.mark.django_db(transaction=True)
# The bytecode is copied, too, since compiling all files takes seconds; Python ignores it for a changed file.
NOT_OF_THE_APP = (".git", ".venv", "node_modules", "tests", "benchmarks", "docs", ".data")


@pytest.fixture
def noted(transactional_db: None) -> Iterator[Any]:
    """The migrations that the database knows; a test may add one or take one away."""
    rows = MigrationRecorder(connection).migration_qs
    before = list(rows.values())
    yield rows.model
    rows.all().delete()
    rows.bulk_create([rows.model(**row) for row in before])


@pytest.fixture
def newer(noted: Any) -> None:
    """Make the database that of a newer version."""
    noted.objects.create(app="ledger", name="9999_later")


def manage(*words: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run manage.py on the tests' database as the app's role."""
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=PROJECT,
        env={**os.environ, "DATABASE_URL": app_url(), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


# --- Its own code -------------------------------------------------------------------------------------------------


def test_a_new_version_put_in_place_changes_nothing_under_a_web_process(tmp_path: Path):
    # given: a web process that has not answered a page yet
    copy = tmp_path / "copy"
    shutil.copytree(PROJECT, copy, ignore=shutil.ignore_patterns(*NOT_OF_THE_APP))
    (copy / "node_modules").symlink_to(PROJECT / "node_modules")
    fleet = Fleet()
    fleet.project = copy
    try:
        fleet.start("web")
        # when: all its files are replaced
        for file in [*copy.rglob("*.py"), *copy.glob("templates/**/*.html")]:
            file.write_text("of another version {% nothing %}")

        page = requests.get(f"{fleet.url}/accounts/login/", timeout=30)
    finally:
        fleet.kill_all()

    assert page.status_code == 200
    assert "csrfmiddlewaretoken" in page.text


def test_a_worker_has_loaded_all_code_when_it_begins():
    code = """
import django, sys; django.setup()
from celery.signals import worker_init
from django.conf import settings
worker_init.send(sender=None)
files = [
    file.relative_to(settings.BASE_DIR)
    for layer in ("views", "services", "presenting", "templatetags")
    for file in settings.BASE_DIR.glob(f"*/{layer}/*.py")
]
names = [".".join(file.with_suffix("").parts) for file in files if file.parts[0] != "sandbox"]
print(len(names), [name for name in names if name.removesuffix(".__init__") not in sys.modules])
"""
    environment = {**os.environ, "DATABASE_URL": app_url(), "DJANGO_SETTINGS_MODULE": "backoffice.settings"}
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, env=environment, capture_output=True, text=True, check=False
    )

    count, _, missing = result.stdout.strip().partition(" ")
    assert int(count) > 100, result.stderr
    assert missing == "[]"


# --- The database of a newer version --------------------------------------------------------------------------------


def test_every_role_and_command_refuses_a_database_of_a_newer_version(newer: None):
    roles = ("web", "worker", "beat")  # background is the worker's program
    fleet = Fleet()
    try:
        fleet.begin(*roles)
        commands = {command: manage(command) for command in ("balance", "migrate")}
        codes = {role: fleet.processes[role].wait(60) for role in roles}
        logs = {role: (fleet.folder / f"{role}.log").read_text() for role in roles}
    finally:
        fleet.kill_all()

    assert codes == dict.fromkeys(roles, 1)
    for role, log in logs.items():
        assert "A newer version has changed this database (this one does not know ledger.9999_later)" in log, role
        assert "Traceback" not in log, role
    for command, result in commands.items():
        assert (result.returncode, result.stdout) == (1, ""), command
        assert "start that version again" in result.stderr, command
        assert len(result.stderr.splitlines()) == 1, command


def test_an_unknown_room_is_newer_and_a_librarys_migration_not(noted: Any):
    noted.objects.create(app="auth", name="0001_squashed_long_ago")
    refuse_newer_schema()

    noted.objects.create(app="warehouses", name="0001_initial")
    assert unknown_migrations() == ["warehouses.0001_initial"]


def test_the_apps_role_prepares_and_refuses_older_tables(noted: Any):
    result = manage("prepare_app")

    assert result.returncode == 0, result.stderr
    assert "database (" in result.stdout
    assert "database rights" not in result.stdout

    noted.objects.filter(app="ledger").order_by("-pk")[:1].get().delete()

    result = manage("prepare_app")

    assert result.returncode == 1
    assert "call `./run manage prepare_app` with DATABASE_OWNER_URL first" in result.stderr
    assert len(result.stderr.splitlines()) == 1
