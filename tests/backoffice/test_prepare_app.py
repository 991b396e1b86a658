"""A start prepares the database: it asks for a missing owner, and only one start works at a time."""

from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.backends.base import base
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from backoffice.management.commands import prepare_app
from gateway.services import hold_restored
from launcher.stack import NO_OWNER, RESTORED
from testing.people import make_person

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def called(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that `prepare_app` calls; migrations, cache table and translations are there already."""
    names: list[str] = []
    monkeypatch.setattr(prepare_app, "call_command", lambda name, **_: names.append(name))
    settings.SANDBOX = False
    settings.UPSTREAM_BASE_URL = "https://upstream.example.com"
    return names


def prepare() -> str:
    """The output of `prepare_app`."""
    out = StringIO()
    call_command("prepare_app", stdout=out)
    return out.getvalue()


def test_a_missing_owner_and_a_restored_shop_are_named(called: list[str]):
    before = prepare()
    make_person("admin")
    with_owner = prepare()
    hold_restored(to=timezone.now())

    assert NO_OWNER in before
    assert NO_OWNER not in with_owner
    assert RESTORED not in before
    assert RESTORED in prepare()
    assert "declare_fresh_budget" not in called, "only the demo begins with a fresh rate budget"


def test_a_database_of_an_unreleased_version_is_a_sentence(called: list[str], monkeypatch: pytest.MonkeyPatch):
    def migrate(name: str, **options: Any) -> None:
        if name == "migrate":
            call_command(name, **options)

    monkeypatch.setattr(prepare_app, "call_command", migrate)
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied("gateway", "0001_initial")  # an initial migration that has run depends on it
    try:
        with pytest.raises(CommandError, match=r"before 0\.1\.0"):
            prepare()
    finally:
        recorder.record_applied("gateway", "0001_initial")


def test_a_postgresql_that_lacks_some_constraints_is_a_sentence(called: list[str], monkeypatch: pytest.MonkeyPatch):
    connection.close()
    monkeypatch.setattr(base, "RAN_DB_VERSION_CHECK", set())
    monkeypatch.setattr(connection, "get_database_version", lambda: (14, 20))

    with pytest.raises(CommandError, match="PostgreSQL 15 or later is required"):
        prepare()

    connection.close()


def test_the_demo_begins_with_a_fresh_rate_budget(called: list[str], settings: Any):
    settings.SANDBOX, settings.UPSTREAM_BASE_URL = True, "http://127.0.0.1:9"
    prepare()
    assert "declare_fresh_budget" in called


def test_a_second_start_waits_for_the_first(called: list[str]):
    with ThreadPoolExecutor() as pool:
        with prepare_app._alone():
            second = pool.submit(prepare_and_close)
            with connection.cursor() as cursor:
                while not is_waited_for(cursor):
                    assert not second.done()
            assert called == []
        second.result()

    assert "migrate" in called


def prepare_and_close() -> None:
    """Prepare in a thread of its own, and close that thread's connection."""
    try:
        prepare()
    finally:
        connection.close()


def is_waited_for(cursor: Any) -> bool:
    """Whether another session of this database waits for our lock."""
    cursor.execute(
        "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = database "
        "WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted"
    )
    return bool(cursor.fetchone()[0])
