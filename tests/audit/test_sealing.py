"""Sealed rows: every change by a superuser of the database is found and named; normal work raises no alarm."""

import random
import threading
import time

import pytest
from django.db import DatabaseError, connection, connections, transaction

from audit.models import AuditEvent, Checkpoint, Sealing, Source, Tile
from audit.services import publishing, record, seal, verify
from audit.services.publishing import is_signed, public_key
from audit.services.sources import audited_tables
from core.slow_disk import SlowDisk
from staff.events import SIGN_IN
from staff.models import User
from testing.database import tamper
from testing.orders import at_once
from testing.sandbox_process import eventually
from tests.audit.helpers import (
    flaws_found,
    hired,
    lines_of,
    newest,
    recompute_everything,
    seal_all,
    sold,
    wait_until_settled,
)

pytestmark = pytest.mark.django_db(transaction=True)

EVENTS, COPIES = "purchases_orderevent", "purchases_orderhistory"


def copied(table: str, key: str, changes: str) -> str:
    """SQL that deletes the newest row and inserts it again with other values; with another key, it adds a row."""
    row = f"jsonb_populate_record(NULL::{table}, to_jsonb(old) || '{changes}')"
    newest_row = f"WHERE {key} = (SELECT max({key}) FROM {table})"
    if '"id"' in changes:
        return f"INSERT INTO {table} SELECT ({row}).* FROM {table} old {newest_row}"
    return f"WITH old AS (DELETE FROM {table} {newest_row} RETURNING *) INSERT INTO {table} SELECT ({row}).* FROM old"


def test_what_was_sold_is_sealed_and_sound(shop, outside, django_assert_num_queries):
    verification = verify()
    assert verification.is_sound
    assert verification.rows == Sealing.objects.get().size > 10
    assert verification.checkpoints == 2

    # a checkpoint is signed and leaves the database
    notes = list(Checkpoint.objects.values_list("note", flat=True))
    assert all(is_signed(note, public_key()) for note in notes)
    assert len(lines_of(outside)) == 2
    assert verify(outside=lines_of(outside)).is_sound

    # every audited table has its number
    names = {table.name for table in audited_tables()}
    assert {"ledger_entry", "audit_auditevent", EVENTS, COPIES, "staff_userhistory"} <= names
    assert names == set(Source.objects.values_list("table", flat=True))

    # with nothing new the sealer asks thrice and locks none
    seal()  # which also reads what a process reads once: the clock, the tables
    with django_assert_num_queries(3):
        assert seal() == 0


def test_new_tables_get_one_number_when_two_come_upon_them():
    assert not Source.objects.exists()
    first, second = at_once(audited_tables, audited_tables)
    assert first == second


def test_unfinished_transaction_holds_the_sealer_back_not_the_shop():
    hired("cashier")
    seal_all()
    size = Sealing.objects.get().size
    written, go_on = threading.Event(), threading.Event()

    def slow():
        try:
            with transaction.atomic():
                record(SIGN_IN, subject="slow")
                written.set()
                go_on.wait(10)
        finally:
            connections.close_all()

    thread = threading.Thread(target=slow)
    thread.start()
    written.wait(10)
    record(SIGN_IN, subject="quick")
    assert seal() == 0
    go_on.set()
    thread.join()
    seal_all()
    assert Sealing.objects.get().size == size + 2
    assert verify().is_sound


# Each change, and the result of a verification.
MANIPULATIONS = {
    "delete a row": (f"DELETE FROM {EVENTS} WHERE id = (SELECT max(id) FROM {EVENTS})", "deleted", EVENTS),
    "re-insert a row, changed": (copied(EVENTS, "id", '{"note": "x"}'), "changed", EVENTS),
    "re-insert a row, later": (copied(EVENTS, "id", '{"txid": 999999999}'), "deleted", EVENTS),
    "insert a row into the past": (copied(EVENTS, "id", '{"id": 999999999}'), "not_sealed", EVENTS),
    "insert a row of no transaction": (copied(EVENTS, "id", '{"id": 999999999, "txid": 0}'), "not_sealed", EVENTS),
    "edit a copy": (f"UPDATE {COPIES} SET price = 1 WHERE pgh_label = 'update'", "changed", COPIES),
    "edit a live row": ("UPDATE purchases_order SET price = 1", "live_changed", "purchases_order"),
    "make a superuser": ("UPDATE staff_user SET is_superuser = true", "live_changed", "staff_user"),
    "delete a live row": ("DELETE FROM staff_user_groups", "live_deleted", "staff_user_groups"),
    "insert a live row": (
        "INSERT INTO staff_user_user_permissions (user_id, permission_id) SELECT max(id), 1 FROM staff_user",
        "live_unrecorded", "staff_user_user_permissions",
    ),
    "edit an audit event": ("UPDATE audit_auditevent SET subject = 'x'", "changed", "audit_auditevent"),
    "edit a checkpoint": ("UPDATE audit_checkpoint SET root = '\\x00'", "checkpoint", ""),
    "edit a leaf": ("UPDATE audit_tile SET hashes = sha256('x') || substring(hashes FROM 33)", "changed", None),
}  # fmt: skip


@pytest.mark.parametrize("name", MANIPULATIONS)
def test_manipulation_is_found_and_named(shop, name):
    statement, reason, table = MANIPULATIONS[name]
    assert tamper(statement)
    first = verify().flaws[0]
    assert first.reason == reason
    assert table in (None, first.table)
    assert first.id or not table


def test_verification_names_the_very_row_also_of_the_recent_alone(shop):
    assert verify(recent=1).is_sound
    row = newest(EVENTS)
    tamper(f"UPDATE {EVENTS} SET note = 'x' WHERE id = {row}")
    assert [(flaw.reason, flaw.table, flaw.id) for flaw in verify().flaws] == [("changed", EVENTS, row)]
    assert flaws_found(recent=1_000) == [("changed", EVENTS)]


def test_trigger_switched_off_is_named(shop):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE ledger_entry DISABLE TRIGGER USER")
        try:
            assert ("trigger_off", "ledger_entry") in flaws_found()
        finally:
            cursor.execute("ALTER TABLE ledger_entry ENABLE TRIGGER USER")


def test_all_computed_again_inside_is_found_outside(shop, outside):
    yesterday = lines_of(outside)
    tamper(copied(EVENTS, "id", '{"note": "x"}'))
    recompute_everything()
    assert verify().is_sound, "with the key in hand the inside agrees with itself"
    (flaw,) = verify(outside=yesterday).flaws
    assert (flaw.reason, flaw.table) == ("outside_changed", EVENTS)


def test_a_checkpoint_outside_names_each_victim(shop, outside):
    sold(1)
    seal_all()
    yesterday = lines_of(outside)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id FROM {EVENTS} ORDER BY id")
        first, second, *_, last = (key for (key,) in cursor.fetchall())
    tamper(f"UPDATE {EVENTS} SET note = 'x' WHERE id IN (%s, %s)", first, last)
    tamper(f"DELETE FROM {EVENTS} WHERE id = %s", second)
    tamper(copied(EVENTS, "id", '{"id": 999999999}'))
    recompute_everything()

    flaws = [(flaw.reason, flaw.id) for flaw in verify(outside=yesterday).flaws if flaw.table == EVENTS]

    assert sorted(flaws) == [
        ("outside_changed", first), ("outside_changed", last), ("outside_inserted", 999_999_999),
        ("outside_missing", second),
    ]  # fmt: skip
    assert verify(outside=yesterday[-1:]).flaws[0].reason.startswith("outside")


def test_newest_rows_cut_off_are_found_outside(shop, outside):
    tamper(f"DELETE FROM {EVENTS} WHERE txid >= (SELECT max(txid) FROM {EVENTS})")
    recompute_everything()
    assert flaws_found(outside=lines_of(outside))[0][0].startswith("outside")


def test_a_file_that_does_not_answer_holds_nobody_and_gets_all(shop, outside, monkeypatch):
    # given: writing to the file of checkpoints waits, as on a network disk that is away
    before, answers, append = lines_of(outside), threading.Event(), publishing._append
    monkeypatch.setattr(publishing, "_disk", SlowDisk(0.2))
    monkeypatch.setattr(publishing, "_append", lambda path, line: answers.wait(45) and append(path, line))
    sold(1)
    wait_until_settled()
    begun = time.monotonic()

    seal_all()
    publishing.publish_checkpoints()

    assert time.monotonic() - begun < 30
    assert lines_of(outside) == before

    # when: it answers again
    answers.set()
    assert eventually(publishing.publish_checkpoints)
    lines = lines_of(outside)
    assert len(lines) > len(before)
    assert verify(outside=lines).is_sound


def test_checkpoint_signed_by_somebody_else_is_named(shop, settings):
    settings.AUDIT_KEY = "A" * 43 + "="
    tamper("DELETE FROM audit_checkpoint")
    tamper("UPDATE audit_sealing SET published = 0")
    seal_all()
    settings.AUDIT_KEY = ""
    assert flaws_found() == [("signature", "")]


def test_tree_is_never_deleted_and_a_tile_only_grows(shop):
    for table in ("audit_tile", "audit_checkpoint", "audit_source"):
        for change in ("DELETE FROM", "TRUNCATE"):
            with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(f"{change} {table}")
    with pytest.raises(DatabaseError, match="only grows"):
        Tile.objects.update(hashes=b"")


def test_a_thousand_writers_raise_no_false_alarm():
    people = [hired("cashier", username=f"cashier{number}") for number in range(20)]
    failures: list[object] = []
    ended = threading.Event()

    def write(person):
        rng = random.Random(person.pk)
        try:
            for number in range(50):
                with transaction.atomic():
                    record(SIGN_IN, actor=person, subject=str(number))
                    time.sleep(1 if number == rng.randrange(50) else rng.random() / 100)
                    User.objects.filter(pk=person.pk).update(note=str(number))
                    transaction.set_rollback(rng.random() < 0.1)
        except Exception as error:
            failures.append(error)
        finally:
            connections.close_all()

    def watch():
        try:
            while not ended.is_set():
                seal()
                failures.extend(verify().flaws)
        finally:
            connections.close_all()

    writers = [threading.Thread(target=write, args=[person]) for person in people]
    watcher = threading.Thread(target=watch)
    for thread in (*writers, watcher):
        thread.start()
    for thread in writers:
        thread.join()
    ended.set()
    watcher.join()
    seal_all()
    assert failures == []
    assert verify().is_sound
    assert AuditEvent.objects.count() > 800
