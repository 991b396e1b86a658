"""Sales enter a shift by themselves: none is missing, none is there twice, and no order waits for a drawer."""

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from credit.errors import NoAccount
from drawers.errors import DrawerRefused
from drawers.models import DrawerEntry, Method
from drawers.services import catch_up, close_shift, expected_cash, note_payment, sales, sweep_sales
from staff.models import User
from tests.customers.helpers import make_customer
from tests.database import statements
from tests.drawers.helpers import begin, pieces_of, sell
from tests.people import make_person

pytestmark = pytest.mark.django_db(transaction=True)


def refused(reason):
    return pytest.raises(DrawerRefused, check=lambda refusal: refusal.reason == reason)


def sold(shift):
    """ref_id → (method, amount) of the sales that hold."""
    found = shift.entries.current().filter(kind="sale")
    return {sale.ref_id: (sale.method, sale.amount) for sale in found}


def test_a_sale_enters_as_cash_once_however_often_we_look():
    shift = begin()
    order = sell(shift.cashier, 10_500)

    for _ in range(2):
        sweep_sales()
        catch_up(shift)

    assert sold(shift) == {order.ref_id: (Method.CASH, 10_500)}
    assert expected_cash(shift) == 210_500


def test_the_database_refuses_a_second_sale_of_an_order():
    shift = begin()
    sell(shift.cashier)
    sweep_sales()
    sale = DrawerEntry.objects.get(kind="sale")

    sale.pk = None
    with pytest.raises(IntegrityError, match="once_an_order"), transaction.atomic():
        sale.save(force_insert=True)


def test_what_others_sell_and_what_was_sold_before_enters_nowhere():
    person = make_person("cashier")
    sell(person)
    shift = begin(person)
    sell(make_person("supervisor"))
    sell(None)

    sweep_sales()

    assert not sold(shift)


def test_an_order_stored_while_its_shift_closed_lands_in_the_next():
    first = begin(cash=100_000)
    order = sell(first.cashier, 5_000)
    # as if the order's transaction had not ended when the shift closed
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sales, "_MISSING", sales._MISSING.replace("ORDER BY o.id", "AND false ORDER BY o.id"))
        close_shift(first, pieces=pieces_of(100_000), actor=first.cashier)

    second = begin(first.cashier, drawer=first.drawer, cash=100_000)

    entry = second.entries.get(kind="sale")
    assert (entry.ref_id, entry.sold_in, list(first.later_entries.all())) == (order.ref_id, first, [entry])


def test_a_sale_without_an_open_shift_stays_out_of_the_next():
    first = begin(cash=100_000)
    close_shift(first, pieces=pieces_of(100_000), actor=first.cashier)
    sell(first.cashier)

    second = begin(first.cashier, drawer=first.drawer)
    sweep_sales()

    assert not sold(second)


def test_another_method_undoes_the_entry_and_enters_it_again():
    shift = begin()
    order = sell(shift.cashier, 10_500)

    note_payment(order, method="qris", actor=shift.cashier)

    assert sold(shift) == {order.ref_id: (Method.QRIS, 10_500)}
    assert [(one.method, one.amount) for one in shift.entries.filter(kind="sale").order_by("pk")] == [
        ("cash", 10_500),
        ("cash", -10_500),
        ("qris", 10_500),
    ]
    assert expected_cash(shift) == 200_000


def test_the_same_payment_again_enters_nothing():
    shift = begin()
    order = sell(shift.cashier, 10_500)
    for _ in range(2):
        note_payment(order, method="cash", cash_given=20_000, actor=shift.cashier)

    sale = shift.entries.current().get(kind="sale")
    assert (sale.change, shift.entries.filter(kind="sale").count()) == (9_500, 3)


def test_cash_given_covers_the_price():
    shift = begin()
    order = sell(shift.cashier, 10_500)

    with refused("cash_short"):
        note_payment(order, method="cash", cash_given=10_000, actor=shift.cashier)


def test_on_credit_needs_a_customer_with_an_account():
    shift = begin()
    order = sell(shift.cashier)

    with refused("no_customer"):
        note_payment(order, method="credit", actor=shift.cashier)
    with pytest.raises(NoAccount):
        note_payment(order, method="credit", customer=make_customer("Pak Budi"), actor=shift.cashier)
    sweep_sales()

    assert sold(shift) == {order.ref_id: (Method.CASH, 10_500)}


def test_a_payment_changes_only_until_the_shift_closes():
    shift = begin(cash=100_000)
    order = sell(shift.cashier, 5_000)
    close_shift(shift, pieces=pieces_of(105_000), actor=shift.cashier)

    with refused("sold_before"):
        note_payment(order, method="qris", actor=shift.cashier)


def test_another_cashier_changes_no_payment():
    shift = begin()
    order = sell(shift.cashier)

    with refused("not_yours"):
        note_payment(order, method="qris", actor=make_person("cashier", username="other"))


def test_without_a_shift_there_is_nothing_to_note():
    order = sell(make_person("cashier"))

    with refused("no_sale"):
        note_payment(order, method="cash", actor=order.placed_by)


@pytest.mark.parametrize("wrong", ["amount = -1", "method = 'qris'", "ref_id = 'X'"])
def test_the_database_undoes_an_entry_exactly_or_not(wrong):
    shift = begin()
    sell(shift.cashier)
    sweep_sales()
    column, _, value = wrong.partition(" = ")
    columns = {"amount": "-amount", "method": "method", "ref_id": "ref_id"} | {column: value}
    statement = (
        "INSERT INTO drawers_drawerentry (shift_id, kind, method, amount, ref_id, reason, person_id, at, undoes_id)"
        " SELECT shift_id, kind, {method}, {amount}, {ref_id}, '', person_id, now(), id FROM drawers_drawerentry"
        " WHERE kind = 'sale'"
    )

    with pytest.raises(DatabaseError, match="not undone so"), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement.format(**columns))


def test_placing_an_order_asks_nothing_of_a_drawer():
    shift, other = begin(), make_person("supervisor")
    sent = {}
    for person in (shift.cashier, other) * 2:  # the first ones make what every later one finds
        with statements() as sent[person.pk]:
            sell(User.objects.get(pk=person.pk))

    assert not [statement for statement in sent[shift.cashier.pk] if "drawers_" in statement]
    assert len(sent[shift.cashier.pk]) == len(sent[other.pk])
