"""Credit and drawers: a sale on credit is not cash, a cash payment of it is, and both rooms agree."""

import pytest
from django.contrib.auth.models import Permission
from django.db import transaction

from credit.errors import CreditRefused, OverCap
from credit.models import CreditEntry
from drawers.errors import DrawerRefused
from drawers.models import DrawerEntry, Payment, Shift
from drawers.services import (
    change_payment,
    close_shift,
    expected_cash,
    give_back,
    take_credit_payment,
    totals_of,
    undo_credit_payment,
    unsettled,
)
from purchases.services.resolving import requeue
from testing.orders import never_arrived
from testing.people import browser_of, make_person, signed_in
from tests.credit.helpers import account_of, give_credit, owed_by, page_of, sell_to
from tests.drawers.helpers import begin, end, pieces_of, sell

pytestmark = pytest.mark.django_db(transaction=True)


def sold(shift):
    """ref_id → (method, amount, debtor) of the sales that count."""
    payments = shift.payments.select_related("debt__account__customer")
    return {sale.ref_id: (sale.method, sale.amount, sale.debt.account.customer.name) for sale in payments}


def test_cash_to_credit_and_back_keeps_drawer_and_account_the_same():
    shift, first, second = begin(cash=100_000), give_credit(), give_credit("Pak Budi", cap=9_999)
    order = sell(shift.cashier, 10_000)

    with pytest.raises(OverCap):
        change_payment(order.payment, method="credit", customer=second, actor=shift.cashier)
    assert (owed_by(second), Payment.objects.get().method) == (0, "cash")
    change_payment(order.payment, method="credit", customer=first, actor=shift.cashier)
    change_payment(order.payment, method="credit", customer=first, actor=shift.cashier)
    assert (owed_by(first), expected_cash(shift)) == (10_000, 100_000)
    with pytest.raises(OverCap):  # both or nothing: the sale stays where it was
        change_payment(order.payment, method="credit", customer=second, actor=shift.cashier)
    assert (owed_by(first), owed_by(second), sold(shift)[order.ref_id][2]) == (10_000, 0, "Bu Sri")
    change_payment(order.payment, method="cash", cash_given=20_000, actor=shift.cashier)

    assert (owed_by(first), owed_by(second), expected_cash(shift)) == (0, 0, 110_000)
    assert Payment.objects.get().debt is None


def test_a_payment_in_cash_is_in_the_drawer_of_who_takes_it():
    shift, customer = begin(cash=100_000), give_credit()
    sell_to(customer, 30_000, by=make_person("supervisor"))

    take_credit_payment(account_of(customer), amount=20_000, method="cash", actor=shift.cashier)
    take_credit_payment(account_of(customer), amount=5_000, method="qris", actor=shift.cashier)

    totals = totals_of([shift.pk])[shift.pk]
    assert (totals.expected, totals.all_credit, totals.all_sales) == (120_000, 25_000, 0)
    assert owed_by(customer) == 5_000
    assert close_shift(shift, pieces=pieces_of(120_000), actor=shift.cashier).expected == 120_000


def test_cash_takes_an_open_drawer_and_a_transfer_none():
    person, customer = make_person("cashier"), give_credit()
    sell_to(customer, 10_000, by=person)

    with pytest.raises(DrawerRefused, check=lambda refusal: refusal.reason == "no_shift"):
        take_credit_payment(account_of(customer), amount=1_000, method="cash", actor=person)
    take_credit_payment(account_of(customer), amount=1_000, method="transfer", actor=person)

    assert (owed_by(customer), DrawerEntry.objects.count()) == (9_000, 0)


def test_a_payment_is_undone_in_both_until_its_shift_closes():
    shift, customer = begin(cash=100_000), give_credit()
    sell_to(customer, 10_000, by=shift.cashier)
    wrong, right = (
        take_credit_payment(account_of(customer), amount=amount, method="cash", actor=shift.cashier)
        for amount in (3_000, 2_000)
    )
    manager = make_person("supervisor")
    manager.user_permissions.add(Permission.objects.get(codename="manage_credit"))
    for person, is_offered in ((manager, False), (shift.cashier, True)):  # in the own drawer only
        page = page_of(signed_in(person), f"/customers/{customer.pk}/credit/")
        assert (f"/credit/payments/{wrong.pk}/undo/" in page) == is_offered

    undo_credit_payment(wrong, actor=shift.cashier, reason="typed wrongly")
    assert (owed_by(customer), expected_cash(shift)) == (8_000, 102_000)
    close_shift(shift, pieces=pieces_of(102_000), actor=shift.cashier)
    with pytest.raises(DrawerRefused, check=lambda refusal: refusal.reason == "cash_counted"):
        undo_credit_payment(right, actor=shift.cashier, reason="too late")

    assert owed_by(customer) == 8_000
    page = page_of(signed_in(shift.cashier), f"/customers/{customer.pk}/credit/")
    assert f"/credit/payments/{right.pk}/undo/" not in page


def test_given_a_transfer_in_a_closed_shift_then_only_the_account_changes():
    shift, customer = begin(cash=100_000), give_credit()
    sell_to(customer, 10_000, by=shift.cashier)
    wrong = take_credit_payment(account_of(customer), amount=3_000, method="transfer", actor=shift.cashier)
    close_shift(shift, pieces=pieces_of(100_000), actor=shift.cashier)
    page = page_of(signed_in(shift.cashier), f"/customers/{customer.pk}/credit/")
    assert f"/credit/payments/{wrong.pk}/undo/" in page
    before, entries = totals_of([shift.pk])[shift.pk], list(DrawerEntry.objects.order_by("pk").values())

    undo_credit_payment(wrong, actor=shift.cashier, reason="typed wrongly")

    amounts = CreditEntry.objects.order_by("pk").values_list("kind", "method", "amount", "undoes")
    assert list(amounts)[1:] == [("payment", "transfer", -3_000, None), ("payment", "transfer", 3_000, wrong.pk)]
    assert owed_by(customer) == 10_000
    assert (totals_of([shift.pk])[shift.pk], list(DrawerEntry.objects.order_by("pk").values())) == (before, entries)
    shown = browser_of("admin").get(f"/shifts/{shift.pk}/").content.decode()
    assert "data-undone-later" in shown


def test_a_failed_sale_on_credit_goes_back_on_the_account():
    shift, customer = begin(cash=100_000), give_credit()
    order = end(sell_to(customer, 10_000, by=shift.cashier), "failed")

    with pytest.raises(CreditRefused, check=lambda refusal: refusal.reason == "not_paid_yet"):
        give_back(order.payment, shift=shift, method="cash", actor=shift.cashier)
    assert owed_by(customer) == 10_000
    give_back(order.payment, shift=shift, method="credit", actor=shift.cashier)

    assert (owed_by(customer), expected_cash(shift)) == (0, 100_000)
    totals = totals_of([shift.pk])[shift.pk]
    assert totals.credit_sales + totals.refunds["credit"] == 0
    assert sold(shift) == {order.ref_id: ("credit", 10_000, "Bu Sri")}
    assert not unsettled([shift])
    with pytest.raises(DrawerRefused, check=lambda refusal: refusal.reason == "given_back"):
        give_back(order.payment, shift=shift, method="cash", actor=shift.cashier)


def test_a_failed_sale_that_was_paid_goes_back_in_cash():
    shift, customer = begin(cash=100_000), give_credit()
    order = sell_to(customer, 10_000, by=shift.cashier)
    take_credit_payment(account_of(customer), amount=10_000, method="cash", actor=shift.cashier)
    end(order, "reversed")

    give_back(order.payment, shift=shift, method="cash", actor=shift.cashier)

    assert (owed_by(customer), expected_cash(shift)) == (0, 100_000)
    assert list(CreditEntry.objects.order_by("pk").values_list("kind", flat=True)) == [
        *("sale", "payment", "refund", "paid_back")
    ]


def test_a_new_price_is_in_the_drawer_and_on_the_account():
    shift, customer = begin(), give_credit()
    order = never_arrived(sell_to(customer, 10_000, by=shift.cashier))

    with transaction.atomic():
        requeue(order, max_price=10_700, actor=shift.cashier, enqueue=False)

    assert (sold(shift)[order.ref_id], owed_by(customer)) == (("credit", 10_700, "Bu Sri"), 10_700)
    assert Shift.objects.get().is_open
