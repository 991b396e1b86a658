"""The number of a transaction orders the sealing of its rows; no statement can choose it."""

import pytest
from django.db import DatabaseError, connection, transaction

from audit.models import AuditEvent
from audit.services import record
from audit.services.sources import audited_tables
from credit.models import CreditEntry
from drawers.services import change_payment
from staff.events import SIGN_IN
from testing.people import make_person
from tests.credit.helpers import account_of, give_credit, owed_by, sell_to
from tests.drawers.helpers import begin

pytestmark = pytest.mark.django_db(transaction=True)


def test_every_sealed_table_is_numbered_by_the_database_itself():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT tgrelid::regclass::text FROM pg_trigger"
            " WHERE tgname ~ '^pgtrigger_(own_transaction|only_copies)_' AND tgenabled = 'O'"
        )
        numbered = {table for (table,) in cursor.fetchall()}

    assert {table.name for table in audited_tables()} == numbered


def test_a_row_that_names_another_transaction_gets_its_own():
    record(SIGN_IN, subject="first")

    for txid in ("0", "1", "999999999999", "transaction_number()"):
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(
                "INSERT INTO audit_auditevent SELECT (jsonb_populate_record(NULL::audit_auditevent, to_jsonb(old)"
                f" || jsonb_build_object('id', old.id + 1000, 'txid', {txid}))).* FROM audit_auditevent old"
                " ORDER BY id DESC LIMIT 1"
            )
            cursor.execute("SELECT transaction_number()")
            own = cursor.fetchone()[0]

        assert AuditEvent.objects.latest("pk").txid == own, txid


def test_a_sale_that_names_an_earlier_transaction_does_not_pass_the_cap():
    seller, customer = make_person("cashier"), give_credit(cap=100_000)
    begin(seller)
    order = sell_to(customer, 60_000, by=seller)
    change_payment(order.payment, method="cash", actor=seller)  # in a transaction of its own
    undone = CreditEntry.objects.get(undoes__isnull=False)
    sell_to(customer, 90_000, by=seller)

    with (
        pytest.raises(DatabaseError, match="passes the cap"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(
            "INSERT INTO credit_creditentry (account_id, kind, method, amount, balance_after, ref_id, due_on, reason,"
            " person_id, at, replaces_id, txid)"
            " VALUES (%s, 'sale', '', 60000, 150000, %s, current_date, '', %s, now(), %s, %s)",
            [account_of(customer).pk, order.ref_id, seller.pk, undone.undoes_id, undone.txid],
        )

    assert (owed_by(customer), CreditEntry.objects.count()) == (90_000, 3)
