"""The history of rows: each change is copied, also raw SQL, with its person; the history never changes."""

import pytest
from django.db import DatabaseError, connection, transaction
from structlog.contextvars import bound_contextvars

from audit.services.live import trigger_flaws
from core.rights import Role
from purchases.models import Order
from purchases.models.orders import OrderHistory
from purchases.states import Status
from staff.models import AccessLink, Membership, User, UserHistory
from staff.services import change_role
from testing.database import statements, tamper
from testing.factories import make_product
from testing.orders import answer, place, report
from testing.people import make_person

pytestmark = pytest.mark.django_db


def sql(statement, *parameters):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, parameters or None)


def labels(order):
    return list(OrderHistory.objects.filter(pgh_obj=order).order_by("pgh_id").values_list("pgh_label", "status"))


def finished() -> Order:
    order = place(make_product())
    return report(answer(order, Status.PENDING), price=10_500, sn="SN1")


def test_each_state_of_an_order_is_copied_raw_sql_without_a_person():
    order = finished()
    assert labels(order)[0] == ("insert", "queued")
    assert labels(order)[-1] == ("update", "success")
    sql("UPDATE purchases_order SET message = 'x' WHERE id = %s", order.pk)
    newest = OrderHistory.objects.filter(pgh_obj=order).latest("pgh_id")
    assert (newest.message, newest.pgh_context) == ("x", None)


def test_who_writes_stands_beside_the_copy():
    with bound_contextvars(user_id=7, ip="203.0.113.7", request_id="r-1", task="a.b"):
        order = place(make_product())
    kept = OrderHistory.objects.filter(pgh_obj=order).first().pgh_context
    assert kept == {"person": 7, "address": "203.0.113.7", "request": "r-1", "task": "a.b"}


def test_who_writes_costs_no_statement():
    person = make_person("cashier")
    with bound_contextvars(user_id=7), statements() as sent:
        User.objects.filter(pk=person.pk).update(note="50 %")
        sql("UPDATE staff_user SET note = '50 % off'")
        sql("WITH one AS (SELECT 1) UPDATE staff_user SET note = %s FROM one", "x")
    assert len([statement for statement in sent if "SAVEPOINT" not in statement]) == 3
    assert [row.note for row in UserHistory.objects.filter(pgh_obj=person).order_by("pgh_id")][1:] == [
        "50 %", "50 % off", "x",
    ]  # fmt: skip
    assert UserHistory.objects.filter(pgh_obj=person).latest("pgh_id").pgh_context == {"person": 7}


def said_of(person):
    return UserHistory.objects.filter(pgh_obj=person).latest("pgh_id").pgh_context


def rename(person, note):
    User.objects.filter(pk=person.pk).update(note=note)
    return said_of(person)


def test_each_copy_of_a_transaction_names_who_writes_then():
    person = make_person("cashier")
    with transaction.atomic():
        with bound_contextvars(user_id=7):
            assert [rename(person, "a"), rename(person, "b")] == [{"person": 7}] * 2
        with bound_contextvars(user_id=8):
            assert rename(person, "c") == {"person": 8}
        assert rename(person, "d") is None


def test_who_writes_is_said_again_after_a_rollback():
    person = make_person("cashier")
    with transaction.atomic(), bound_contextvars(user_id=7):
        with transaction.atomic():
            assert rename(person, "a") == {"person": 7}
            transaction.set_rollback(True)
        assert rename(person, "b") == {"person": 7}
        with bound_contextvars(user_id=8), transaction.atomic():
            rename(person, "c")
            transaction.set_rollback(True)
        assert rename(person, "d") == {"person": 7}


def test_who_writes_without_a_transaction_is_said_each_time(transactional_db):
    person = make_person("cashier")
    with bound_contextvars(user_id=7):
        assert [rename(person, "a"), rename(person, "b")] == [{"person": 7}] * 2
        with transaction.atomic():
            assert rename(person, "c") == {"person": 7}
        with transaction.atomic():
            assert rename(person, "d") == {"person": 7}
    assert rename(person, "e") is None


def test_who_writes_stands_beside_named_parameters():
    person = make_person("cashier")
    with bound_contextvars(user_id=7), connection.cursor() as cursor:
        cursor.execute("UPDATE staff_user SET note = %(note)s", {"note": "x"})
    assert said_of(person) == {"person": 7}


def test_nobody_is_named_after_the_transaction(transactional_db):
    with bound_contextvars(user_id=7):
        person = make_person("cashier")
    sql("UPDATE staff_user SET note = 'x'")
    assert UserHistory.objects.filter(pgh_obj=person).latest("pgh_id").pgh_context is None


def test_triggers_cannot_be_passed_by_a_parameter():
    finished()
    with pytest.raises(DatabaseError):
        sql("SET LOCAL pgtrigger.ignore = '{pgtrigger_append_only_66884}'; DELETE FROM purchases_orderevent")
    assert trigger_flaws() == []


def test_change_of_role_and_a_superuser_by_raw_sql_leave_a_trace():
    person = make_person("cashier")
    sql("UPDATE staff_user SET is_superuser = true WHERE id = %s", person.pk)
    assert UserHistory.objects.filter(pgh_obj=person).latest("pgh_id").is_superuser
    sql("UPDATE staff_user SET is_superuser = false WHERE id = %s", person.pk)

    change_role(person, Role.AUDITOR, actor=None)
    kept = Membership.history.rel.related_model.objects.filter(user=person).order_by("pgh_id")
    assert [row.pgh_label for row in kept] == ["insert", "delete", "insert"]


def test_secrets_are_not_copied():
    names = {field.name for model in (User, AccessLink) for field in model.history.rel.related_model._meta.fields}
    assert not names & {"password", "digest"}


def test_history_is_never_changed():
    finished()
    for change in ("UPDATE {0} SET pgh_label = 'x'", "DELETE FROM {0}", "TRUNCATE {0}"):
        with pytest.raises(DatabaseError):
            sql(change.format("purchases_orderhistory"))


TRUNCATED = (
    "purchases_order", "purchases_orderevent", "purchases_incident", "purchases_verdict", "callbacks_callback",
    "bills_billcheck", "bills_inquiry", "ledger_entry", "ledger_closedday", "gateway_exchange", "alerts_alert",
    "reconciliation_difference", "reconciliation_adjustment", "reconciliation_reconciliationrun",
    "reconciliation_expectedtopup", "catalogue_pricechange", "customers_customer", "customers_savednumber",
)  # fmt: skip


def test_table_that_matters_is_never_truncated():
    for table in TRUNCATED:
        with pytest.raises(DatabaseError, match="never truncated"):
            sql(f"TRUNCATE {table} CASCADE")


def test_what_a_final_order_says_never_changes_but_an_sn_by_hand():
    cashier, order = make_person("cashier"), finished()
    tamper("UPDATE purchases_order SET trx_id = 'T1'")
    for change in ("price = 1", "max_price = 1", "sn = 'SN2'", "trx_id = 'other'", f"placed_by_id = {cashier.pk}"):
        with pytest.raises(DatabaseError):
            sql(f"UPDATE purchases_order SET {change}")

    tamper("UPDATE purchases_order SET sn_by_hand = true")
    sql("UPDATE purchases_order SET sn = 'SN2', sn_by_hand = false WHERE id = %s", order.pk)
    assert Order.objects.get().sn == "SN2"
