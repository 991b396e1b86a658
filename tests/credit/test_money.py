"""Customers' debts to the rupiah: sales, payments, refunds, and the refusals of the database itself."""

import datetime as dt
from functools import partial

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.models import ProtectedError
from django.utils import timezone

from credit.errors import NoAccount, OverCap, Overdue
from credit.models import CreditAccount, CreditEntry
from credit.services import (
    aged,
    bring_forward,
    debts_of,
    pay_back,
    record_payment,
    set_credit,
    undo_payment,
)
from drawers.errors import DrawerRefused
from purchases.errors import OpenDuplicate
from purchases.models import Order
from purchases.services.resolving import requeue
from testing.factories import make_product
from testing.orders import at_once, never_arrived
from testing.people import make_person
from tests.credit.helpers import account_of, give_credit, made_due, owed_by, refused, sell_to, take_off
from tests.customers.helpers import make_customer
from tests.drawers.helpers import end, sell

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def seller():
    return make_person("cashier")


def test_a_sale_and_part_payments_make_the_balance(seller):
    customer = give_credit()
    order = sell_to(customer, 30_000, by=seller)
    with refused("more_than_owed"):
        record_payment(account_of(customer), amount=30_001, method="cash", actor=seller)
    with refused("not_money"):
        record_payment(account_of(customer), amount=1_000, method="credit", actor=seller)
    assert owed_by(customer) == 30_000

    record_payment(account_of(customer), amount=12_000, method="cash", actor=seller)
    record_payment(account_of(customer), amount=8_000, method="qris", actor=seller)

    assert owed_by(customer) == 10_000
    (debt,) = debts_of(account_of(customer))
    assert (debt.ref_id, debt.open, debt.due_on) == (
        order.ref_id,
        10_000,
        timezone.localdate() + dt.timedelta(days=14),
    )
    assert list(account_of(customer).entries.order_by("pk").values_list("kind", "amount", "balance_after")) == [
        ("sale", 30_000, 30_000),
        ("payment", -12_000, 18_000),
        ("payment", -8_000, 10_000),
    ]


def test_a_sale_above_the_cap_or_without_account_is_not_placed(seller):
    customer = give_credit(cap=15_000)
    sell_to(customer, 10_000, by=seller)

    with pytest.raises(OverCap, check=lambda refusal: (refusal.owed, refusal.cap) == (10_000, 15_000)):
        sell_to(customer, 5_001, by=seller)
    with pytest.raises(NoAccount):
        sell_to(make_customer("Pak Budi"), 1_000, by=seller)

    assert Order.objects.count() == 1
    sell_to(customer, 5_000, by=seller)
    assert owed_by(customer) == 15_000


def test_what_is_overdue_is_paid_before_anything_more_is_sold(seller):
    customer = give_credit()
    sell_to(customer, 10_000, by=seller)
    made_due(customer, 1)

    with pytest.raises(Overdue):
        sell_to(customer, 1_000, by=seller)
    record_payment(account_of(customer), amount=10_000, method="transfer", actor=seller)
    sell_to(customer, 1_000, by=seller)

    assert (owed_by(customer), Order.objects.count()) == (1_000, 2)


def test_an_order_that_is_refused_leaves_the_account_as_it_was(seller):
    customer, product = give_credit(), make_product(price=10_000)
    sell_to(customer, by=seller, product=product, destination="081234567890")

    with pytest.raises(OpenDuplicate):
        sell_to(customer, by=seller, product=product, destination="081234567890")

    assert owed_by(customer) == 10_000


def test_the_same_form_again_is_one_order_on_the_account_once(seller):
    customer, product = give_credit(cap=10_000), make_product(price=10_000)
    sale = partial(sell_to, customer, by=seller, product=product, idempotency_key="K" * 20, destination="081234567890")

    first, second = at_once(sale, sale)

    assert first.pk == second.pk
    assert (owed_by(customer), CreditEntry.objects.count()) == (10_000, 1)


def test_many_who_sell_at_once_never_pass_the_cap(seller):
    customer = give_credit(cap=25_000)
    product = make_product(price=10_000)

    results = at_once(*[partial(sell_to, customer, by=seller, product=product)] * 5)

    assert [type(result) for result in results].count(OverCap) == 3
    assert (owed_by(customer), Order.objects.count()) == (20_000, 2)


def test_an_order_that_ended_for_nothing_is_taken_off_once(seller):
    customer = give_credit()
    order, other = sell_to(customer, 10_000, by=seller), sell_to(customer, 5_000, by=seller)
    with pytest.raises(DrawerRefused, check=lambda refusal: refusal.reason == "not_owed"):
        take_off(order, actor=seller)
    end(order, "failed")

    results = at_once(*[partial(take_off, order, actor=seller)] * 2)

    assert [getattr(result, "reason", "") for result in results].count("given_back") == 1
    assert [debt.ref_id for debt in debts_of(account_of(customer))] == [other.ref_id]
    assert owed_by(customer) == 5_000


def test_what_was_paid_already_stays_for_the_customer(seller):
    customer = give_credit()
    order = sell_to(customer, 10_000, by=seller)
    record_payment(account_of(customer), amount=10_000, method="cash", actor=seller)
    end(order, "reversed")
    take_off(order, actor=seller)
    assert owed_by(customer) == -10_000

    sell_to(customer, 4_000, by=seller)
    with refused("not_paid_yet"):
        pay_back(account_of(customer), amount=6_001, method="cash", actor=seller)
    pay_back(account_of(customer), amount=6_000, method="cash", actor=seller)

    assert owed_by(customer) == 0
    assert account_of(customer).oldest_due is None


def test_a_cash_sale_that_failed_lowers_what_a_customer_owes(seller):
    customer, order = give_credit(), end(sell(seller, 7_000), "failed")
    sell_to(customer, 10_000, by=seller)

    take_off(order, actor=seller, customer=customer)
    with pytest.raises(DrawerRefused, check=lambda refusal: refusal.reason == "given_back"):
        take_off(order, actor=seller, customer=customer)

    assert owed_by(customer) == 3_000


def test_a_price_confirmed_again_is_on_the_account_and_below_the_cap(seller):
    customer = give_credit(cap=11_000)
    order = never_arrived(sell_to(customer, 10_000, by=seller))

    with pytest.raises(OverCap), transaction.atomic():
        requeue(order, max_price=11_001, actor=seller, enqueue=False)
    with transaction.atomic():
        requeue(order, max_price=11_000, actor=seller, enqueue=False)

    order.refresh_from_db()
    assert (order.customer_pays, owed_by(customer)) == (11_000, 11_000)
    # A cap that an owner has lowered since does not prevent a lower price.
    CreditAccount.objects.update(cap=5_000)
    order = never_arrived(order)
    with transaction.atomic():
        requeue(order, max_price=10_500, actor=seller, enqueue=False)
    assert owed_by(customer) == 10_500


def test_a_payment_entered_wrongly_is_undone_once(seller):
    customer = give_credit()
    sell_to(customer, 10_000, by=seller)
    payment = record_payment(account_of(customer), amount=5_000, method="cash", actor=seller)
    with refused("not_yours"):
        undo_payment(payment, actor=make_person("supervisor"), reason="typed wrongly")

    results = at_once(*[partial(undo_payment, payment, actor=seller, reason="typed wrongly")] * 2)

    assert [getattr(result, "reason", "") for result in results].count("undone") == 1
    assert owed_by(customer) == 10_000


def test_two_payments_at_once_never_pay_more_than_is_owed(seller):
    customer = give_credit()
    sell_to(customer, 10_000, by=seller)
    pay = partial(record_payment, account_of(customer), amount=6_000, method="cash", actor=seller)

    results = at_once(pay, pay)

    assert [getattr(result, "reason", "") for result in results].count("more_than_owed") == 1
    assert owed_by(customer) == 4_000


def test_payments_pay_what_is_due_first(seller):
    customer = give_credit()
    bring_forward(account_of(customer), amount=20_000, reason="from the book", actor=make_person("administrator"))
    made_due(customer, 40)
    with transaction.atomic(), connection.cursor() as cursor:  # sold before it was overdue
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute("UPDATE credit_creditaccount SET oldest_due = current_date + 1")
        cursor.execute("SET LOCAL session_replication_role = origin")
    sell_to(customer, 10_000, by=seller)

    record_payment(account_of(customer), amount=5_000, method="cash", actor=seller)
    account = account_of(customer)
    assert aged([account.pk])[account.pk] == {"not_due": 10_000, "week": 0, "month": 0, "older": 15_000}
    record_payment(account, amount=15_001, method="cash", actor=seller)

    account = account_of(customer)
    assert aged([account.pk])[account.pk] == {"not_due": 9_999, "week": 0, "month": 0, "older": 0}
    assert account.oldest_due == timezone.localdate() + dt.timedelta(days=14)


def test_a_customer_who_owes_is_not_deleted(seller):
    customer = give_credit()
    sell_to(customer, 10_000, by=seller)

    with pytest.raises(ProtectedError), transaction.atomic():
        customer.delete()
    record_payment(account_of(customer), amount=10_000, method="cash", actor=seller)
    account = account_of(customer)
    with transaction.atomic():
        customer.delete()

    assert CreditAccount.objects.get().customer is None
    with refused("gone_meanwhile"):
        bring_forward(account, amount=20_000, reason="from the book", actor=make_person("administrator"))
    assert CreditEntry.objects.count() == 2


def test_only_who_manages_credit_gives_it(seller):
    customer, owner = make_customer(), make_person("administrator")
    with refused("no_right"):
        set_credit(customer, cap=1, due_days=1, actor=seller)

    set_credit(customer, cap=50_000, due_days=7, actor=owner)
    payday = timezone.localdate() + dt.timedelta(days=3)
    set_credit(customer, cap=60_000, due_days=7, due_on=payday, actor=owner)
    sell_to(customer, 10_000, by=seller)

    account = account_of(customer)
    assert (account.cap, account.oldest_due) == (60_000, payday)


ENTRY = "INSERT INTO credit_creditentry (kind, amount, balance_after, method, ref_id, reason, at, account_id, person_id"

FROM = "FROM credit_creditentry"


def test_the_database_itself_keeps_the_accounts_right(seller):
    customer = give_credit()
    sell_to(customer, 10_000, by=seller)

    for statement in (
        "UPDATE credit_creditaccount SET balance = 0, oldest_due = NULL",
        "UPDATE credit_creditaccount SET oldest_due = current_date",
        "UPDATE credit_creditentry SET amount = 1",
        "DELETE FROM credit_creditentry",
        "DELETE FROM credit_creditaccount",
        "UPDATE credit_creditaccount SET customer_id = NULL",
        f"{ENTRY}) SELECT 'payment', -1000, 8000, 'cash', '', '', now(), account_id, person_id {FROM}",
        f"{ENTRY}) SELECT 'payment', -10001, -1, 'cash', '', '', now(), account_id, person_id {FROM}",
        f"{ENTRY}, due_on) SELECT 'sale', 100000, 110000, '', 'R', '', now(), account_id, person_id, due_on {FROM}",
        f"{ENTRY}, undoes_id) SELECT 'sale', -9999, 1, '', ref_id, '', now(), account_id, person_id, id {FROM}",
    ):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
        assert owed_by(customer) == 10_000, statement
