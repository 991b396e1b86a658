"""An alert opens when its reason arises, once, and closes by itself when it is gone."""

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from alerts.kinds import in_words
from alerts.models import Alert, Severity
from core import health, heartbeats, kept_backups, stores
from core.heartbeats import Heartbeat, Pulse
from gateway.models import Exchange, UpstreamAccount
from ledger import services as ledger
from ledger.models import Books
from purchases.states import Status
from reconciliation import services as reconciliation
from reconciliation.models import Adjustment
from testing.factories import make_order
from testing.people import make_person
from tests.alerts.helpers import ago, give_heartbeats, open_alerts
from tests.gateway.helpers import read_balance
from tests.ledger.helpers import open_books, post, upstream_tells
from tests.reconciliation.helpers import make_difference

pytestmark = pytest.mark.django_db(transaction=True)

NO_ALERT: list[tuple[str, str]] = []


def test_a_low_balance_is_one_alert_until_it_is_not_low(settings: Any):
    settings.POLICIES = {"alert_low_balance": 100_000}
    assert open_alerts() == NO_ALERT

    read_balance(5_000)
    assert open_alerts() == [("low_balance", "")], "before the opening the newest balance counts"
    read_balance(100_000)
    assert open_alerts() == NO_ALERT
    open_books(99_999)
    assert open_alerts() == open_alerts() == [("low_balance", "")]
    alert = Alert.objects.get(closed_at=None)
    assert alert.facts == {"available": 99_999, "threshold": 100_000, "hours_left": None}

    upstream_tells(100_000)
    assert open_alerts() == NO_ALERT
    alert.refresh_from_db()
    assert alert.closed_at is not None
    assert Alert.objects.count() == 2

    with transaction.atomic():
        post("hold", "B1", 1)
    assert open_alerts() == [("low_balance", "")], "what is reserved is not available"


def test_a_balance_for_too_few_hours_of_usual_orders_is_low(settings: Any, time_machine: Any):
    settings.POLICIES = {"alert_low_balance": 100}
    start = timezone.now()
    time_machine.move_to(start - dt.timedelta(days=3), tick=False)
    open_books(10_000_000)
    time_machine.move_to(start - dt.timedelta(days=2), tick=False)
    with transaction.atomic():
        post("debit", "B1", 9_500_000)
    Books.objects.update(balance=5_200_000)
    time_machine.move_to(start, tick=False)
    give_heartbeats()
    assert ledger.usual_spending_per_hour() is None
    ledger.close_days()
    per_hour = ledger.usual_spending_per_hour()
    assert per_hour == round(9_500_000 / 48)
    open_alerts()
    assert not Alert.objects.filter(kind="low_balance").exists()

    Books.objects.update(balance=500_000)

    open_alerts()
    alert = Alert.objects.get(kind="low_balance")
    assert alert.facts == {
        "available": 500_000,
        "threshold": per_hour * 4,
        "hours_left": round(500_000 / per_hour, 1),
    }


def test_missing_money_is_critical_and_a_top_up_is_no_alert():
    open_books(5_000_000)
    upstream_tells(5_000_500)
    taken = upstream_tells(5_000_499)

    assert open_alerts() == [("difference", str(taken.pk))]
    alert = Alert.objects.get()
    assert (alert.severity, alert.facts["amount"]) == (Severity.CRITICAL, -1)
    assert "then propose an adjustment" in in_words(alert).next_step

    Adjustment.objects.create(difference=taken, reason="fee", proposed_by=make_person("supervisor"))
    open_alerts()

    alert.refresh_from_db()
    assert "a second person approves it" in in_words(alert).next_step


def test_missing_money_names_orders_of_its_amount_first():
    orders = [
        make_order(Status.UNKNOWN, sent_no=number, max_price=max_price)
        for number, max_price in ((1, 15_000), (2, 20_275))
    ]
    named = [{"ref_id": order.ref_id, "why": "outcome_unknown"} for order in orders]
    alone = make_difference(-15_000, candidates=named)
    dearer = make_difference(-14_000, candidates=named)

    open_alerts()

    alerts = {alert.key: alert for alert in Alert.objects.filter(kind="difference")}
    ref_ids = {key: (alert.facts["ref_ids"], alert.facts["others"]) for key, alert in alerts.items()}
    both = [order.ref_id for order in orders]
    assert ref_ids == {str(alone.pk): (both[:1], []), str(dearer.pk): ([], both)}
    # without an order of exactly its amount, the alert names those of the difference's page
    words = in_words(alerts[str(dearer.pk)]).facts
    assert all(ref_id in words for ref_id in both)


def test_a_flaw_of_the_books_is_critical_until_it_is_gone():
    open_books(5_000_000)
    Books.objects.update(balance=5_123_456)
    reconciliation.prove(everything=True)

    assert open_alerts() == [("books_off", "")]
    alert = Alert.objects.get()
    assert alert.severity == Severity.CRITICAL
    assert (alert.facts["amount"], alert.facts["flaw"]) == (123_456, "cached")

    Books.objects.update(balance=5_000_000)
    reconciliation.prove(everything=True)
    assert open_alerts() == NO_ALERT


def test_an_upstream_that_refuses_us_is_an_alert_at_once_an_unreachable_one_after_two_minutes():
    UpstreamAccount.objects.create(refused_since=timezone.now(), refused_code="INVALID_SIGNATURE")

    assert open_alerts() == [("account_refused", "")]
    assert Alert.objects.get().facts["error_code"] == "INVALID_SIGNATURE"

    UpstreamAccount.objects.update(refused_since=None, refused_code="", unreachable_since=ago(seconds=110))
    assert open_alerts() == NO_ALERT
    UpstreamAccount.objects.update(unreachable_since=ago(seconds=130))
    assert open_alerts() == [("unreachable", "")]


def test_an_order_in_doubt_for_15_minutes_is_an_alert():
    doubtful = [Status.SENDING, Status.UNKNOWN, Status.NEEDS_ACTION]
    for status in doubtful:
        make_order(status, ref_id=status, sent_at=ago(minutes=16))
        make_order(status, sent_at=ago(minutes=14))
    for status in (Status.QUEUED, Status.PENDING, Status.SUCCESS, Status.REJECTED):
        make_order(status, sent_at=ago(hours=1))
    # an order that is queued again counts from its first sending
    first = Exchange.objects.create(endpoint="transaction_create", outcome="timeout", sent_at=ago(minutes=16))
    make_order(Status.QUEUED, ref_id="AGAIN", sent_no=first.pk, sent_at=ago(minutes=1))
    make_order(Status.QUEUED, sent_no=first.pk + 1, sent_at=ago(minutes=1))

    assert set(open_alerts()) == {("order_unknown", key) for key in (*doubtful, "AGAIN")}
    named = {alert.key: alert.facts["status"] for alert in Alert.objects.all()}
    assert named == {**{status: status for status in doubtful}, "AGAIN": Status.QUEUED}


def test_a_redis_that_is_away_is_named_not_the_processes(settings: Any, monkeypatch: Any):
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    stores.patient.cache_clear()
    try:
        assert open_alerts() == [("process_silent", "redis")]
    finally:
        monkeypatch.undo()
        stores.patient.cache_clear()


def test_a_process_without_heartbeat_is_named_by_one_open_alert(monkeypatch: Any):
    monkeypatch.setattr(health, "silent_processes", lambda: ["beat"])
    assert open_alerts() == [("process_silent", "beat")]
    with pytest.raises(IntegrityError), transaction.atomic():
        Alert.objects.create(kind="process_silent", key="beat", severity=2)

    monkeypatch.setattr(health, "silent_processes", list)
    assert open_alerts() == NO_ALERT


def test_a_nearly_full_disk_is_named_with_its_installation(monkeypatch):
    give_heartbeats()
    beats = [
        Heartbeat(name="worker", place="shop-a", age=1, free=999_999_999),
        Heartbeat(name="worker", place="shop-b", age=1, free=1_000_000_000),
        Heartbeat(name="worker", place="gone", age=60, free=0),
    ]
    pulse = Pulse(redis=True, is_starting=True, beats=beats)
    monkeypatch.setattr(heartbeats, "read", lambda: pulse)

    assert ("disk_low", "shop-a") in open_alerts()
    assert {key for kind, key in open_alerts() if kind == "disk_low"} == {"shop-a"}


@pytest.fixture
def backed_up(settings: Any, tmp_path: Path, monkeypatch: Any) -> Path:
    """The data folder of a shop that has a backup, has sent nothing yet, and started a week ago."""
    for kind in ("backup_late", "log_uncopied"):
        monkeypatch.setattr(f"alerts.kinds.{kind}.is_backed_up_here", lambda: True)
    _start(monkeypatch, ago(days=7))
    settings.DATA_DIR, settings.BACKUP_TO, settings.SENT_FOLDER = tmp_path, str(tmp_path), tmp_path / "sent"
    return tmp_path


def test_a_drill_that_failed_or_is_late_is_an_alert(backed_up: Path):
    assert open_alerts() == NO_ALERT
    result = backed_up / "drill.json"

    result.write_text(json.dumps({"at": ago(days=1).isoformat(), "fault": "the disk is away"}))
    assert open_alerts() == [("drill_failed", "failed")]

    result.write_text(json.dumps({"at": ago(days=34).isoformat(), "fault": ""}))
    assert open_alerts() == NO_ALERT

    result.write_text(json.dumps({"at": ago(days=36).isoformat(), "fault": ""}))
    assert open_alerts() == [("drill_failed", "late")]


def test_a_backup_that_failed_or_is_late_is_an_alert(backed_up: Path, settings: Any, monkeypatch: Any):
    assert open_alerts() == NO_ALERT

    (backed_up / "backup-fault.json").write_text(json.dumps({"at": ago(hours=2).isoformat(), "fault": "disk full"}))
    assert open_alerts() == [("backup_late", "failed")]
    assert Alert.objects.get().facts["fault"] == "disk full"

    _note_backup(backed_up, ago(hours=1))
    assert open_alerts() == NO_ALERT

    _note_backup(backed_up, ago(hours=25, minutes=59))
    (backed_up / "backup-fault.json").unlink()
    assert open_alerts() == NO_ALERT

    _note_backup(backed_up, ago(hours=26, minutes=1))
    assert open_alerts() == [("backup_late", "late")]

    settings.BACKUP_TO = ""
    assert open_alerts() == NO_ALERT

    # right after a start, too
    settings.BACKUP_TO = str(backed_up)
    (backed_up / "backup-fault.json").write_text(json.dumps({"at": ago(seconds=5).isoformat(), "fault": "disk full"}))
    _start(monkeypatch, ago(seconds=20))
    assert open_alerts() == [("backup_late", "failed")]


def test_a_bucket_that_gets_nothing_is_an_alert(backed_up: Path, settings: Any):
    note, facts = backed_up / "bucket-copied.json", {"backup": "", "fault": ""}
    note.write_text(json.dumps({**facts, "until": ago(minutes=9).isoformat()}))
    assert open_alerts() == NO_ALERT, "there is no bucket"

    settings.BACKUP_BUCKET = "s3://shop/backups"
    assert open_alerts() == [("log_uncopied", "bucket")]
    note.write_text(json.dumps({**facts, "until": ago(minutes=2).isoformat()}))
    assert open_alerts() == NO_ALERT

    note.write_text(json.dumps({**facts, "until": None, "fault": "The bucket does not answer."}))
    assert open_alerts() == [("log_uncopied", "bucket")]
    assert in_words(Alert.objects.get(closed_at=None)).facts == "The bucket does not answer."

    lost = {"at": ago(hours=3).isoformat(), "lost": 1, "names": ["20261126-190000Z.tar.gz.age"]}
    note.write_text(json.dumps({**facts, "until": ago(minutes=2).isoformat(), "compared": lost}))
    assert open_alerts() == [("log_uncopied", "bucket_lost")]
    assert "20261126-190000Z.tar.gz.age" in in_words(Alert.objects.get(closed_at=None)).facts


def test_a_backup_that_never_gets_to_the_bucket_is_an_alert(backed_up: Path, settings: Any):
    # given: the log goes on, and nothing keeps the backup of this morning from being sent
    settings.BACKUP_BUCKET = "s3://shop/backups"

    def note(hours: float, **facts: str) -> None:
        newest = ago(hours=hours).strftime("%Y%m%d-%H%M%SZ")
        noted = {"until": ago(minutes=1).isoformat(), "backup": newest, "newest": newest, "fault": "", **facts}
        (backed_up / "bucket-copied.json").write_text(json.dumps(noted))

    note(30)
    assert open_alerts() == NO_ALERT
    note(5, backup="20261101-190000Z")
    assert open_alerts() == NO_ALERT, "it is being sent"

    note(7, backup="20261101-190000Z", fault="2000 MB do not fit.")

    assert open_alerts() == [("log_uncopied", "bucket_backup")]
    assert in_words(Alert.objects.get(closed_at=None)).facts.endswith("2000 MB do not fit.")


def _note_backup(folder: Path, at: dt.datetime) -> None:
    (folder / "last-backup.json").write_text(json.dumps({"ended_at": at.isoformat(), "size": 70_000_000}))


def _start(monkeypatch: Any, at: dt.datetime) -> None:
    """Let `./run` have started then."""
    for kind in ("backup_late", "log_uncopied"):
        monkeypatch.setattr(f"alerts.kinds.{kind}.started_at", lambda: at)


def test_after_two_days_off_nothing_is_late_until_it_had_time(backed_up: Path, settings: Any, monkeypatch: Any):
    settings.BACKUP_BUCKET = "s3://shop/backups"
    _note_backup(backed_up, ago(days=2, hours=5))
    until = ago(days=2).isoformat()
    (backed_up / "log-copied.json").write_text(json.dumps({"until": until}))
    (backed_up / "bucket-copied.json").write_text(json.dumps({"until": until, "backup": "", "fault": ""}))

    _start(monkeypatch, ago(seconds=20))
    assert open_alerts() == NO_ALERT

    _start(monkeypatch, ago(minutes=4))
    assert set(open_alerts()) == {("log_uncopied", ""), ("log_uncopied", "bucket")}

    _start(monkeypatch, ago(minutes=30))
    assert set(open_alerts()) == {("log_uncopied", ""), ("log_uncopied", "bucket"), ("backup_late", "late")}

    # the next start does not end the alert about the late backup; a backup does
    _start(monkeypatch, ago(seconds=20))
    assert ("backup_late", "late") in open_alerts()
    _note_backup(backed_up, ago(seconds=5))
    assert "backup_late" not in {kind for kind, _key in open_alerts()}


def test_the_start_is_that_of_the_database():
    assert ago(days=1) < kept_backups.started_at() < ago()


def test_a_copy_of_the_log_that_stands_still_is_an_alert(backed_up: Path):
    note = backed_up / "log-copied.json"

    note.write_text(json.dumps({"until": ago(minutes=2).isoformat()}))
    assert open_alerts() == NO_ALERT

    until = ago(minutes=4)
    note.write_text(json.dumps({"until": until.isoformat()}))
    assert open_alerts() == [("log_uncopied", "")]
    assert Alert.objects.get().facts == {"until": until.isoformat()}

    note.write_text(json.dumps({"until": ago(seconds=5).isoformat()}))
    assert open_alerts() == NO_ALERT
