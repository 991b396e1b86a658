"""The owner of the database tries changes that leave rows, copies and tree in agreement."""

import contextlib

import pgtrigger
import pytest
from django.db import DatabaseError, connection, transaction

from audit.models import Checkpoint, Sealing
from audit.services import close_way_past_triggers, record, seal, verify, verifying
from audit.tasks import verify_all, verify_recent
from bills.models import BillCheck, Inquiry
from callbacks.models import Callback
from gateway.services import next_number
from purchases.models import Order
from purchases.states import Status
from staff.events import SIGN_IN
from testing.callbacks import body_for, post
from testing.database import tamper
from testing.factories import make_check, make_payment
from testing.orders import answer, report
from tests.audit.helpers import (
    flaws_found,
    lines_of,
    recompute_everything,
    seal_all,
    sold,
    wait_until_settled,
)

pytestmark = pytest.mark.django_db(transaction=True)

ORDERS = "purchases_order"


@contextlib.contextmanager
def off(model: type, name: str):
    """Switch one trigger off for a moment; the trigger that copies rows stays on."""
    table = model._meta.db_table
    trigger = next(trigger_row for trigger_row in model._meta.triggers if trigger_row.name == name).get_pgid(model)
    with connection.cursor() as cursor:
        cursor.execute(f'ALTER TABLE {table} DISABLE TRIGGER "{trigger}"')
        try:
            yield cursor
        finally:
            cursor.execute(f'ALTER TABLE {table} ENABLE TRIGGER "{trigger}"')


def test_rule_passed_with_its_trigger_off_is_named(shop):
    changes = ("sn = 'another'", "price = 1", "placed_by_id = (SELECT max(id) FROM staff_user)")
    with off(Order, "ended_for_good") as cursor:
        for order, change in zip(Order.objects.order_by("pk"), changes, strict=True):
            cursor.execute(f"UPDATE {ORDERS} SET {change} WHERE id = {order.pk}")
    seal_all()
    assert flaws_found().count(("rule_broken", ORDERS)) == 3
    assert flaws_found(recent=1).count(("rule_broken", ORDERS)) == 3


def test_order_deleted_with_its_trigger_off_is_named(shop):
    with off(Order, "never_deleted") as cursor:
        cursor.execute("SET session_replication_role = origin")
        tamper("DELETE FROM purchases_orderevent")
        cursor.execute(f"DELETE FROM {ORDERS} WHERE id = (SELECT max(id) FROM {ORDERS})")
    assert ("rule_broken", ORDERS) in flaws_found()


def test_other_body_of_a_callback_is_named(shop):
    post(body_for(Order.objects.first()))
    seal_all()
    assert verify().is_sound
    tamper("UPDATE callbacks_callback SET body = body || 'x'")
    assert Callback.objects.exists()
    assert flaws_found() == [("rule_broken", "callbacks_callback")]
    assert flaws_found(recent=1) == [("rule_broken", "callbacks_callback")]


AMOUNTS = ["total = total + 1", "amount = 1", "details = '[]'", "order_id = NULL"]


def paid_bill(**facts):
    check = make_check(**facts)
    report(answer(make_payment(check, Status.QUEUED), Status.PENDING), price=check.total, sn="SN1")
    return check


@pytest.mark.parametrize("change", AMOUNTS)
def test_amounts_of_a_paid_bill_changed_meanwhile_are_named(sealed_once, change):
    sealed_once("a paid bill", paid_bill)
    check = BillCheck.objects.get()
    with off(BillCheck, "paid_for_good") as cursor:
        cursor.execute(f"UPDATE bills_billcheck SET {change} WHERE id = {check.pk}")
    seal_all()
    for options in ({}, {"recent": 1}):
        (flaw,) = verify(**options).flaws
        assert (flaw.reason, flaw.table, flaw.id) == ("rule_broken", "bills_billcheck", check.pk)


@pytest.mark.parametrize(("asked", "is_named"), [("now()", False), ("now() - interval '11 minutes'", True)])
def test_answer_while_a_payment_is_settled_breaks_no_rule(shop, asked, is_named):
    check = paid_bill()
    tamper(f"UPDATE purchases_orderhistory SET pgh_created_at = {asked} WHERE ref_id = '{check.ref_id}'")
    with off(BillCheck, "paid_for_good") as cursor, transaction.atomic():
        Inquiry.objects.create(bill_check=check, sent_no=next_number(), answer="bill", total=1)
        cursor.execute("UPDATE bills_billcheck SET total = 1")
    seal_all()
    assert flaws_found() == [("rule_broken", "bills_billcheck")] * is_named


def test_row_that_comes_again_and_goes_is_named(shop):
    insert = (
        "INSERT INTO staff_user_groups (id, user_id, group_id) SELECT 99, max(id), (SELECT min(id) FROM auth_group)"
    )
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM staff_user_groups")
        cursor.execute(f"{insert} FROM staff_user")
        cursor.execute("DELETE FROM staff_user_groups")
        cursor.execute(f"{insert} FROM staff_user")
    tamper("DELETE FROM staff_user_groups")
    assert ("live_deleted", "staff_user_groups") in flaws_found()


CUT_OFF = {
    "no state": "DELETE FROM audit_sealing",
    "an earlier state": "UPDATE audit_sealing SET size = size - 1",
    "an earlier key": "UPDATE audit_sealing SET key = ''",
    "no tiles": "DELETE FROM audit_tile",
    "a shorter tile": "UPDATE audit_tile SET hashes = substring(hashes FROM 1 FOR length(hashes) - 32)",
    "shorter keys": "UPDATE audit_tile SET keys = substring(keys FROM 1 FOR length(keys) - 18)",
    "nothing to publish": "UPDATE audit_sealing SET published = 1000000",
}


@pytest.mark.parametrize("name", CUT_OFF)
def test_tree_that_is_cut_off_is_named(shop, name):
    tamper(CUT_OFF[name])
    assert flaws_found()[0][0] == "cut_off"
    assert flaws_found(recent=1)[0][0] == "cut_off"


def test_row_without_a_number_is_named(shop):
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE audit_auditevent ALTER txid DROP NOT NULL")
        try:
            record(SIGN_IN)
            tamper("UPDATE audit_auditevent SET txid = NULL WHERE kind = 'sign_in'")
            assert flaws_found() == [("not_sealed", "audit_auditevent")]
        finally:
            tamper("DELETE FROM audit_auditevent WHERE txid IS NULL")
            cursor.execute("ALTER TABLE audit_auditevent ALTER txid SET NOT NULL")


def test_trigger_that_does_nothing_any_more_is_named(shop):
    trigger = next(trigger_row for trigger_row in Order._meta.triggers if trigger_row.name == "never_deleted")
    function = trigger.get_pgid(Order)
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE OR REPLACE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql"
                       " AS 'BEGIN RETURN OLD; END'")  # fmt: skip
        try:
            assert flaws_found() == [("trigger_changed", ORDERS)]
        finally:
            pgtrigger.install("purchases.Order:never_deleted")
            close_way_past_triggers()
    assert verify().is_sound


def test_what_is_sealed_meanwhile_is_no_flaw(shop, monkeypatch, outside):
    verify_tree = verifying._verify_tree

    def busy(*args):
        sold(1)
        seal_all()
        verify_tree(*args)

    monkeypatch.setattr(verifying, "_verify_tree", busy)
    assert verify().flaws == []
    with outside.open() as lines:
        assert verify(outside=lines).flaws == []


def test_clock_that_was_ahead_holds_no_checkpoint_back(shop):
    tamper("UPDATE audit_checkpoint SET at = at + interval '1 day'")
    record(SIGN_IN)
    wait_until_settled()
    seal()
    assert Checkpoint.objects.order_by("-size").first().size == Sealing.objects.get().size


def test_torn_line_is_named_and_hides_no_other(shop, outside):
    with outside.open("a") as file:
        file.write('{"note": "merch')
    sold(1)
    seal_all()
    lines = outside.read_text().splitlines()
    verification = verify(outside=lines)
    assert [flaw.reason for flaw in verification.flaws] == ["outside_unreadable"]
    assert verification.outside == len(lines) == 4


def test_every_night_looks_into_our_own_file(shop, outside):
    tamper("UPDATE purchases_orderevent SET note = 'x'")
    recompute_everything()
    assert verify(outside=lines_of(outside)[2:]).is_sound
    verify_all()
    assert Sealing.objects.get().flaw["reason"] == "outside_changed"
    verify_recent()
    assert Sealing.objects.get().flaw["reason"] == "outside_changed"

    # when: the file is away in a night, and there again
    outside.rename(outside.with_name("away"))
    verify_all()
    assert Sealing.objects.get().flaw["reason"] == "outside_changed"
    outside.write_text("\n".join(lines_of(outside.with_name("away"))[2:]))
    verify_all()
    assert Sealing.objects.get().flaw is None


@pytest.mark.parametrize("change", ["DELETE FROM audit_checkpoint", "UPDATE audit_checkpoint SET root = root"])
def test_checkpoints_refuse_a_change(shop, change):
    with pytest.raises(DatabaseError), connection.cursor() as cursor:
        cursor.execute(change)
