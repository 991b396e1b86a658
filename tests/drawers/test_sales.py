"""The payment is a row of the order: it is in the seller's open shift from the first moment, and may change until the
shift closes."""

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from audit.models import AuditEvent
from credit.errors import NoAccount
from drawers.errors import PaymentUnclear
from drawers.models import Payment, PaymentHistory
from drawers.services import PaymentFacts, change_payment, close_shift, expected_cash, note_change
from testing.people import make_person
from tests.customers.helpers import make_customer
from tests.drawers.helpers import begin, end, pieces_of, refused, sell

pytestmark = pytest.mark.django_db(transaction=True)


def sold(shift):
    """ref_id → (method, amount) of the shift's sales."""
    return {sale.ref_id: (sale.method, sale.amount) for sale in shift.payments.all()}


def test_a_sale_is_in_the_shift_as_cash_from_the_first_moment():
    """Another method changes the payment, and its history keeps both."""
    shift = begin()
    order = sell(shift.cashier, 10_500)

    assert sold(shift) == {order.ref_id: ("cash", 10_500)}
    assert (order.payment.ref_id, order.payment.outcome, order.payment.seller) == (order.ref_id, "open", shift.cashier)
    assert expected_cash(shift) == 210_500

    change_payment(order.payment, method="qris", actor=shift.cashier)

    assert sold(shift) == {order.ref_id: ("qris", 10_500)}
    copies = PaymentHistory.objects.filter(ref_id=order.ref_id).order_by("pgh_id")
    assert list(copies.values_list("method", "is_cash", "amount")) == [
        ("cash", True, 10_500),
        ("qris", False, 10_500),
    ]
    assert expected_cash(shift) == 200_000


def test_what_others_sell_and_what_was_sold_before_is_in_no_shift():
    first = begin(cash=100_000)
    person = first.cashier
    close_shift(first, pieces=pieces_of(100_000), actor=person)
    early = sell(person, payment=PaymentFacts(method="qris"))
    shift = begin(person, drawer=first.drawer)
    other, nobodys = sell(make_person("supervisor")), sell(None)

    assert not sold(shift)
    assert [order.payment.sold_in for order in (early, other, nobodys)] == [None] * 3


def test_change_is_noted_and_a_payment_changes_only_until_the_shift_closes():
    shift = begin(cash=100_000)
    order = sell(shift.cashier, 10_500, payment=PaymentFacts(cash_given=10_500))
    note_change(order.payment, 9_500)
    assert Payment.objects.get().cash_given == 20_000

    end(order, "success")
    close_shift(shift, pieces=pieces_of(110_500), actor=shift.cashier)
    note_change(order.payment, 39_500)

    assert Payment.objects.get().cash_given == 20_000
    with refused("sold_before"):
        change_payment(order.payment, method="qris", actor=shift.cashier)
    for column, value in {"method": "'qris'", "amount": "1", "cash_given": "5000", "sold_in_id": "NULL"}.items():
        with pytest.raises(DatabaseError, match="never changes"), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"UPDATE drawers_payment SET {column} = {value}")  # noqa: S608 - our own text
    with pytest.raises(DatabaseError, match="takes no payments"), transaction.atomic():
        Payment.objects.filter(pk=sell(None).payment_id).update(sold_in=shift)


def test_a_corrected_payment_names_the_person_and_both_ways():
    shift, manager = begin(), make_person("administrator")
    order = sell(shift.cashier, 10_500, payment=PaymentFacts(cash_given=20_000))

    change_payment(order.payment, method="transfer", reference="7781", actor=manager)

    event = AuditEvent.objects.get(kind="payment_corrected")
    assert (event.person, event.subject) == (manager, order.ref_id)
    assert event.facts == {"amount": 10_500, "shift": shift.pk}
    changed = {name: (event.before[name], event.after[name]) for name in event.before}
    assert changed == {
        "paid_by": ("cash", "transfer"),
        "cash_given": (20_000, None),
        "reference": ("", "7781"),
        "account_of": (None, None),
    }


def test_a_payment_is_not_changed_so_or_by_another():
    shift = begin()
    order = sell(shift.cashier, 10_500)
    other = sell(make_person("cashier", username="other"))

    with refused("cash_short"):
        change_payment(order.payment, method="cash", cash_given=10_000, actor=shift.cashier)
    with refused("no_customer"):
        change_payment(order.payment, method="credit", actor=shift.cashier)
    with pytest.raises(NoAccount):
        change_payment(order.payment, method="credit", customer=make_customer("Pak Budi"), actor=shift.cashier)
    with refused("not_yours"):
        change_payment(order.payment, method="qris", actor=other.placed_by)
    with refused("no_sale"):  # it is in no shift
        change_payment(other.payment, method="cash", actor=other.placed_by)
    assert sold(shift) == {order.ref_id: ("cash", 10_500)}

    # the same again changes nothing
    for _ in range(2):
        payment = change_payment(order.payment, method="cash", cash_given=20_000, actor=shift.cashier)
    assert (payment.change, PaymentHistory.objects.filter(ref_id=order.ref_id).count()) == (9_500, 2)
    assert AuditEvent.objects.filter(kind="payment_corrected").count() == 1


def test_a_card_payment_names_its_slip():
    shift = begin()
    with pytest.raises(PaymentUnclear):
        sell(shift.cashier, payment=PaymentFacts(method="card"))
    order = sell(shift.cashier, payment=PaymentFacts(method="card", reference=" 004217 "))

    assert (order.payment.reference, order.payment.is_cash, expected_cash(shift)) == ("004217", False, 200_000)
    change_payment(order.payment, method="cash", reference="004217", actor=shift.cashier)
    assert Payment.objects.get().reference == ""


def test_the_database_keeps_one_payment_for_each_order():
    shift = begin()
    order = sell(shift.cashier)
    payment = Payment.objects.get()

    payment.pk = None
    with pytest.raises(IntegrityError), transaction.atomic():
        payment.save(force_insert=True)
    for statement in (
        "DELETE FROM drawers_payment",
        "TRUNCATE drawers_payment CASCADE",
        "UPDATE drawers_payment SET ref_id = 'X'",
        "UPDATE drawers_payment SET seller_id = NULL",
        "UPDATE drawers_payment SET is_cash = FALSE",
        "UPDATE drawers_payment SET outcome = 'given', ended_at = now()",
        "UPDATE purchases_order SET payment_id = payment_id + 1",
    ):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
    assert end(order, "success").payment.ref_id == order.ref_id
