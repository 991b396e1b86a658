"""`./run doctor` checks each subject and says what to do; it exits with 1 when something is bad."""

import datetime as dt
import io
import json
import os
import shutil
import time
import uuid
from collections import namedtuple
from contextlib import suppress

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.utils import timezone

from audit.models import Checkpoint, Sealing
from backoffice.backup_findings import backups
from callbacks.models import Callback
from core import heartbeats, stores
from core.money import rupiah
from gateway.services import hold_restored, read_balance
from ledger.models import Flaw, Proof
from purchases.states import Status
from testing.factories import make_order
from tests.alerts.helpers import give_heartbeats
from tests.conftest import Upstream
from tests.core.helpers import run
from tests.reconciliation.helpers import make_difference

USAGE = namedtuple("USAGE", "total used free")


def findings() -> dict[str, dict[str, str]]:
    out = io.StringIO()
    with suppress(CommandError):
        call_command("doctor", "--json", stdout=out)
    return {finding["subject"]: finding for finding in json.loads(out.getvalue())}


@pytest.fixture
def healthy(monkeypatch, tmp_path, settings):
    monkeypatch.setattr("core.health.silent_processes", list)
    settings.BACKUP_STAMP = str(tmp_path / "backup")
    (tmp_path / "backup").touch()
    return tmp_path / "backup"


def verdicts() -> dict[str, str]:
    return {subject: finding["verdict"] for subject, finding in findings().items()}


def test_a_healthy_shop_is_all_ok_and_refused_credentials_are_bad(upstream: Upstream, healthy, settings):
    balance = read_balance().data.balance

    code, printed = run("doctor")

    assert code == 0, printed
    assert rupiah(balance) in printed
    assert "BAD" not in printed
    before = verdicts()
    assert before["upstream"] == before["database"] == before["redis"] == before["backups"] == "ok"
    assert (before["callbacks"], before["slow so far"]) == ("ok", "ok")

    settings.UPSTREAM_SECRET_KEY = "wrong"

    code, _sentence = run("doctor")

    assert code == 1
    assert verdicts()["upstream"] == "bad"


def test_an_upstream_that_may_not_be_asked_yet_is_no_fault(upstream: Upstream, healthy, settings, monkeypatch):
    monkeypatch.setattr("gateway.services.calling._PATIENCE_SECONDS", 0.0)
    known = settings.UPSTREAM_SECRET_ID
    for is_new in (True, False):
        if not is_new:
            settings.UPSTREAM_SECRET_ID = known
            read_balance()
        settings.UPSTREAM_SECRET_ID = f"new-{uuid.uuid4().hex}"  # a budget of its own, without any known call

        finding = findings()["upstream"]

        assert finding["verdict"] == "look"
        assert ("first minute" in finding["seen"]) is is_new


def test_a_full_disk_and_a_silent_process_are_bad(upstream: Upstream, healthy, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _path: USAGE(10**12, 10**12, 5))
    monkeypatch.setattr("core.health.silent_processes", lambda: ["beat"])

    found = findings()

    assert (found["disk"]["verdict"], found["processes"]["verdict"]) == ("bad", "bad")
    assert "beat" in found["processes"]["seen"]


def test_just_after_a_start_no_process_is_called_well_without_a_heartbeat(upstream: Upstream):
    stores.patient().delete("heartbeats")
    heartbeats.record_start()
    just_started = findings()["processes"]
    give_heartbeats()

    assert just_started["verdict"] == "look"
    assert "worker, background, beat" in just_started["seen"]
    assert verdicts()["processes"] == "ok"


def test_a_database_that_is_away_is_named_once(upstream: Upstream, healthy, monkeypatch):
    def refuse(*_: object) -> None:
        raise OperationalError("connection refused")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "cursor", refuse)
        seen = findings()

    assert [name for name, finding in seen.items() if "connection refused" in finding["seen"]] == ["database"]
    assert {seen[name]["verdict"] for name in ("largest tables", "clock", "callbacks", "books")} == {"look"}


def test_what_the_shops_rows_tell_is_named(upstream: Upstream, healthy):
    before = findings()
    make_order(Status.SUCCESS)
    Proof.objects.update_or_create(only=True, defaults={"flaw": Flaw.RUNNING, "flaw_amount": 5, "flaw_entry": 7})
    with connection.cursor() as cursor:  # the tests' PostgreSQL lacks the extension: a view with its columns
        cursor.execute(
            "CREATE VIEW pg_stat_statements AS SELECT oid AS dbid, 12 AS calls, 800.0 AS mean_exec_time, 9600.0 AS"
            " total_exec_time, 'SELECT what_is_slow' AS query FROM pg_database WHERE datname = current_database()"
        )
    after = findings()
    Callback.objects.create(body=b"{}", content_hash="x", is_signed=True, headers={})

    # orders without any callback need a look
    of_callbacks = [found["callbacks"]["verdict"] for found in (before, after, findings())]
    assert of_callbacks == ["ok", "look", "ok"]
    # a flaw of the books is bad
    assert after["books"]["verdict"] == "bad"
    assert "entry 7 of ledger_entry" in after["books"]["seen"]
    # a statement that is mostly slow needs a look
    slow = after["slow so far"]
    assert (before["slow so far"]["verdict"], slow["verdict"]) == ("ok", "look")
    assert "12" in slow["seen"]
    assert "what_is_slow" in slow["seen"]


def test_an_open_difference_is_named(upstream: Upstream, healthy):
    for label, amount, verdict in (("topup", 500, "look"), ("unexplained_debit", -13_250, "bad")):
        make_difference(amount, label)

        finding = findings()["books"]

        assert (finding["verdict"], rupiah(amount) in finding["seen"]) == (verdict, True), label


@pytest.mark.django_db
def test_an_old_or_missing_backup_is_bad_and_no_stamp_needs_a_look(healthy, settings):
    def verdict() -> str:
        (finding,) = backups("backups")
        return finding.verdict

    young = verdict()
    os.utime(healthy, (time.time() - 30 * 3600,) * 2)
    old = verdict()
    healthy.unlink()
    missing = verdict()
    settings.BACKUP_STAMP = ""

    assert (young, old, missing, verdict()) == ("ok", "bad", "bad", "look")


def test_our_own_backups_are_young_and_the_log_is_copied(settings, tmp_path, monkeypatch):
    monkeypatch.setattr("backoffice.backup_findings.is_backed_up_here", lambda: True)
    for hours, behind in ((1, 5), (1, None), (1, 90), (30, 5)):
        folder = tmp_path / f"{hours}-{behind}"
        settings.BACKUP_TO, settings.DATA_DIR = str(folder), folder
        # given: our backup, and one from while the machine's clock was ahead
        ended_at = timezone.now() - dt.timedelta(hours=hours)
        for name, ended in (("20260101", ended_at.isoformat()), ("21310101", "2131-01-01T00:00:00+00:00")):
            (folder / f"{name}-000000Z").mkdir(parents=True)
            manifest = json.dumps({"ended_at": ended, "size": 70_000_000})
            (folder / f"{name}-000000Z/manifest.json").write_text(manifest)
        (folder / "wal/20260101-000000Z").mkdir(parents=True)
        (folder / "wal/20260101-000000Z/000000010000000000000003.partial").touch()
        if behind is not None:
            until = timezone.now() - dt.timedelta(seconds=behind)
            (folder / "log-copied.json").write_text(json.dumps({"until": until.isoformat()}))

        (finding,) = backups("backups")

        assert finding.verdict == ("ok" if (hours, behind) == (1, 5) else "bad"), folder
        assert (" s would be lost" in finding.seen) == (hours == 1 and behind is not None), folder

        # when: the copied log is deleted, too
        shutil.rmtree(folder / "wal")
        (finding,) = backups("backups")
        assert (finding.verdict, "(wal/) is missing" in finding.seen) == ("bad", hours == 1), folder


@pytest.mark.django_db
def test_checkpoints_that_wait_for_their_file_are_bad_after_an_hour(settings, tmp_path, healthy):
    settings.AUDIT_CHECKPOINT_FILE = str(tmp_path / "away" / "checkpoints")

    def verdict(minutes: int) -> str:
        Checkpoint.objects.create(
            size=100 - minutes, root=b"", at=timezone.now() - dt.timedelta(minutes=minutes), note=""
        )
        return verdicts()["checkpoints"]

    Sealing.objects.update_or_create(only=True, defaults={"published": 30})
    assert (verdict(90), verdict(50), verdict(65)) == ("ok", "ok", "bad")
    settings.AUDIT_CHECKPOINT_FILE = ""
    assert "checkpoints" not in verdicts()


@pytest.mark.django_db
@pytest.mark.parametrize(("minutes", "fault"), [(0, ""), (14, ""), (16, ""), (1, "away")])
def test_after_a_restore_the_first_backup_has_a_while(settings, tmp_path, monkeypatch, minutes, fault):
    # given: the old shop's backups, and a new copy of the log since the restored shop began
    settings.BACKUP_TO, settings.DATA_DIR = str(tmp_path), tmp_path
    monkeypatch.setattr("backoffice.backup_findings.is_backed_up_here", lambda: True)
    begun = timezone.now() - dt.timedelta(minutes=minutes)
    hold_restored(to=begun - dt.timedelta(hours=1))
    (tmp_path / "20260101-000000Z").mkdir()
    manifest = {"ended_at": (begun - dt.timedelta(hours=3)).isoformat(), "size": 70_000_000}
    (tmp_path / "20260101-000000Z/manifest.json").write_text(json.dumps(manifest))
    copies = tmp_path / "wal" / begun.strftime("%Y%m%d-%H%M%SZ")
    copies.mkdir(parents=True)
    (copies / "000000020000000000000003.partial").touch()
    if fault:
        (tmp_path / "backup-fault.json").write_text(json.dumps({"at": timezone.now().isoformat(), "fault": fault}))

    (finding,) = backups("backups")

    is_under_way = minutes < 15 and not fault
    assert finding.verdict == ("look" if is_under_way else "bad")
    assert finding.seen.startswith("restored at ") == is_under_way


def test_a_backup_by_hand_is_known_and_needs_a_look(settings, tmp_path):
    settings.BACKUP_TO, settings.BACKUP_STAMP, settings.DATA_DIR = "", "", tmp_path
    ended_at = timezone.now() - dt.timedelta(hours=5)
    manifest = {"ended_at": ended_at.isoformat(), "size": 70_000_000, "folder": "/mnt/stick/20260101-000000Z"}
    (tmp_path / "last-backup.json").write_text(json.dumps(manifest))

    (finding,) = backups("backups")

    assert finding.verdict == "look"
    assert "5 hours old" in finding.seen
    assert "/mnt/stick/20260101-000000Z" in finding.seen


@pytest.mark.django_db
def test_of_a_given_database_the_stamp_alone_counts(healthy, settings, tmp_path):
    settings.BACKUP_TO = str(tmp_path)
    (with_stamp,) = backups("backups")
    settings.BACKUP_STAMP = ""
    (without,) = backups("backups")

    said = [(finding.verdict, "DATABASE_URL" in finding.advice) for finding in (with_stamp, without)]
    assert said == [("ok", False), ("look", True)]


def test_an_unreachable_redis_is_one_finding(upstream: Upstream, healthy, settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"

    by_subject = findings()
    assert by_subject["redis"]["verdict"] == "bad"
    assert by_subject["redis"]["advice"]
    assert (by_subject["upstream"]["verdict"], by_subject["upstream"]["advice"]) == ("look", "")
    assert by_subject["disk"]["verdict"] == "ok"
