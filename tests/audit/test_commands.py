"""The commands of the audit, and the proof that others verify without us."""

import base64
import datetime as dt
import errno
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone

from alerts.models import Alert
from alerts.services import evaluate_alerts
from audit.models import AuditEvent, Sealing, Tile
from audit.services import Restored, is_restored, record, seal, verify
from audit.services.publishing import public_key
from audit.services.tree import WIDTH
from audit.tasks import seal_rows, verify_all, verify_recent
from staff.events import SIGN_IN
from testing.database import tamper
from tests.audit.helpers import hired, seal_all, sold

pytestmark = pytest.mark.django_db(transaction=True)

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "verify_proof.py"


def run(command: str, *arguments: object) -> str:
    out = StringIO()
    call_command(command, *map(str, arguments), stdout=out)
    return out.getvalue()


def verified_alone(proof: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """The script's output, in a bare interpreter elsewhere."""
    (tmp_path / "proof.json").write_text(proof, encoding="utf-8")
    key = base64.b64encode(public_key()).decode()
    command = [sys.executable, str(SCRIPT), "proof.json", key]
    return subprocess.run(command, cwd=tmp_path, env={}, capture_output=True, text=True, check=False)


def test_proof_of_an_order_is_verified_without_us(tmp_path):
    """In a tree whose first tile holds other rows; `test_changed_proof_is_refused` has a tree of one tile."""
    cashier = hired("cashier")
    with transaction.atomic():
        for _ in range(WIDTH):
            record(SIGN_IN, actor=cashier)
    [order] = sold()
    with pytest.raises(CommandError):  # it is not sealed
        run("audit_proof", order.ref_id)
    seal_all()
    assert Tile.objects.filter(level=0).count() == 2
    proof = run("audit_proof", order.ref_id)
    leaves = [json.loads(row["leaf"]) for row in json.loads(proof)["rows"]]
    assert {"purchases_orderhistory", "purchases_orderevent"} <= {leaf["table"] for leaf in leaves}
    done = verified_alone(proof, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_changed_proof_is_refused(tmp_path):
    first, order, _last = sold(3)
    seal_all()
    text, other = run("audit_proof", order.ref_id), json.loads(run("audit_proof", first.ref_id))
    start, _, signature = json.loads(text)["note"].rpartition(" ")

    def with_another_letter(at: int) -> str:
        return f"{start} {signature[:at]}{'A' if signature[at] != 'A' else 'B'}{signature[at + 1 :]}"

    assert verified_alone(text, tmp_path).returncode == 0
    for name, change in {
        "leaf": lambda proof, row: row.update(leaf=row["leaf"] + " "),
        "place": lambda proof, row: row.update(place=row["place"] + 1),
        "path": lambda proof, row: row.update(path=["00" * 32, *row["path"][1:]]),
        "note": lambda proof, row: proof.update(note=proof["note"].replace("T", "U", 1)),
        "subject": lambda proof, row: proof.update(subject=first.ref_id),
        "no rows": lambda proof, row: proof.update(rows=[]),
        "rows of another": lambda proof, row: proof["rows"].extend(other["rows"]),
        "key": lambda proof, row: proof.update(note=with_another_letter(1)),
        "signature": lambda proof, row: proof.update(note=with_another_letter(20)),
    }.items():
        proof = json.loads(text)
        change(proof, proof["rows"][0])
        assert verified_alone(json.dumps(proof), tmp_path).returncode, name


def test_script_is_short():
    assert len(SCRIPT.read_text().splitlines()) <= 40


def test_verify_prints_json_and_exits_with_1_and_the_row_after_a_change(shop, tmp_path):
    result = json.loads(run("verify_audit", "--json"))
    assert (result["sound"], result["flaws"]) == (True, [])

    (tmp_path / "damaged").write_bytes(b"\xff\xfe\n")
    with pytest.raises(CommandError, match="The audit is broken"):  # a flaw, and no fault
        run("verify_audit", "--checkpoint", tmp_path / "damaged")

    tamper("UPDATE purchases_order SET price = 1")
    out = StringIO()
    with pytest.raises(CommandError) as refusal:
        call_command("verify_audit", "--json", stdout=out)
    assert refusal.value.returncode == 1
    assert json.loads(out.getvalue())["flaws"][0]["table"] == "purchases_order"


def test_an_unreadable_file_or_what_is_no_key_is_wrong_usage(tmp_path):
    for option, value in [
        ("--checkpoint", tmp_path / "none"),
        ("--public-key", "not a key"),
        ("--public-key", "c2hvcnQ="),
    ]:
        with pytest.raises(CommandError) as refusal:
            run("verify_audit", option, value)
        assert refusal.value.returncode == 2, value


def test_new_key_is_printed_and_not_kept():
    assert len(base64.b64decode(run("audit_key", "--new"))) == 32
    assert base64.b64decode(run("audit_key")) == public_key()


def test_given_a_disk_that_writes_nothing_then_no_empty_key_is_kept(settings, monkeypatch, tmp_path):
    settings.AUDIT_KEY, settings.DATA_DIR = "", tmp_path
    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", Mock(side_effect=OSError("no power")))
        with pytest.raises(OSError, match="no power"):
            public_key()
    assert not list(tmp_path.iterdir())

    kept = [public_key(), public_key()]

    assert kept[0] == kept[1]
    assert [(path.name, path.stat().st_mode & 0o777) for path in tmp_path.iterdir()] == [("audit.key", 0o600)]


def test_given_a_disk_without_hard_links_then_all_processes_keep_one_key(settings, monkeypatch, tmp_path):
    settings.AUDIT_KEY, settings.DATA_DIR = "", tmp_path
    monkeypatch.setattr(os, "link", Mock(side_effect=PermissionError(errno.EPERM, "Operation not permitted")))

    with ThreadPoolExecutor(8) as processes:
        kept = set(processes.map(lambda _: public_key(), range(8)))

    assert len(kept) == 1
    assert [(path.name, path.stat().st_mode & 0o777) for path in tmp_path.iterdir()] == [("audit.key", 0o600)]


def test_flaw_opens_an_alert_that_ends_with_it():
    sold()
    seal_rows()
    tamper("UPDATE purchases_order SET sn_by_hand = true")
    verify_recent()
    evaluate_alerts()
    assert Alert.objects.open().filter(kind="audit_broken").exists()
    tamper("UPDATE purchases_order SET sn_by_hand = false")
    verify_recent()
    assert Sealing.objects.get().flaw, "the newest rows alone say nothing of the older ones"
    verify_all()
    evaluate_alerts()
    assert not Alert.objects.open().filter(kind="audit_broken").exists()


def test_restored_database_goes_on_after_the_command():
    sold()
    seal_all()
    # as if the dump came from a database that had counted further
    with connection.cursor() as cursor:
        cursor.execute("CREATE OR REPLACE FUNCTION transaction_number() RETURNS bigint LANGUAGE sql AS 'SELECT"
                       " pg_current_xact_id()::text::bigint - 100000'")  # fmt: skip
    try:
        Sealing.objects.update(sealed_at=timezone.now() - dt.timedelta(minutes=1))
        with pytest.raises(Restored):
            seal()
        seal_rows()
        assert Sealing.objects.get().flaw["reason"] == "restored"
        with pytest.raises(CommandError, match="restart_audit"):
            run("prepare_app")
        run("restart_audit")
        assert not is_restored()
        sold()
        seal_all()
        assert AuditEvent.objects.get().kind == "restored"
        assert verify().is_sound
        with pytest.raises(CommandError):
            run("restart_audit")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("CREATE OR REPLACE FUNCTION transaction_number() RETURNS bigint LANGUAGE sql AS 'SELECT"
                           " pg_current_xact_id()::text::bigint'")  # fmt: skip
