"""The customer's price is fixed on the order; it does not limit the upstream's charge."""

import pytest
from django.contrib.auth.models import Group, Permission
from django.db import DatabaseError, IntegrityError, transaction

from bills.services import pay_again, pay_bill
from catalogue.models import Product
from ledger.models import Entry
from purchases.errors import BelowCost, PriceMoved, SellingPriceMoved
from purchases.models import Order, OrderEvent
from purchases.services import send_again
from purchases.states import ActionReason, Status
from testing.factories import make_biller, make_check, make_order, make_payment, make_product
from testing.orders import place
from testing.people import make_person

pytestmark = pytest.mark.django_db


def test_an_order_keeps_the_selling_price_of_its_placing_or_the_cost_without_a_rule():
    product = make_product(price=10_200, selling_price=12_000)

    order = place(product)
    Product.objects.filter(pk=product.pk).update(selling_price=13_000)

    order.refresh_from_db()
    assert (order.selling_price, order.customer_pays, order.max_price, order.fee) == (12_000, 12_000, 10_200, None)
    at_cost = place(make_product(price=10_200))
    assert (at_cost.selling_price, at_cost.follows_cost) == (10_200, True)


def test_another_price_than_the_customer_confirmed_and_a_risen_cost_are_refused():
    product = make_product(price=10_700, selling_price=12_000)

    with pytest.raises(SellingPriceMoved):
        place(product, selling_price=11_500)
    with pytest.raises(PriceMoved):
        place(product, max_price=10_200, selling_price=12_000)
    assert not Order.objects.exists()


def test_below_cost_takes_the_right_and_a_reason_which_stands_in_the_timeline():
    product = make_product(price=10_200, selling_price=10_000)
    cashier, supervisor = make_person("cashier"), make_person("supervisor")

    for person, reason, refused in ((cashier, "promo", "no_right"), (supervisor, " ", "no_reason")):
        with pytest.raises(BelowCost) as refusal:
            place(product, placed_by=person, reason=reason)
        assert refusal.value.reason == refused
    assert not Order.objects.exists()

    order = place(product, placed_by=supervisor, reason="promo of the week")
    assert order.selling_price == 10_000
    assert OrderEvent.objects.get(order=order).note == "promo of the week"


def test_the_database_keeps_the_selling_price():
    for status in (Status.QUEUED, Status.PENDING, Status.SUCCESS):
        order = make_order(status, selling_price=12_000)
        for changes in ({"selling_price": 12_500}, {"selling_price": None}, {"fee": 500}):
            with pytest.raises(DatabaseError), transaction.atomic():
                Order.objects.filter(pk=order.pk).update(**changes)
    older = make_order(Status.QUEUED)
    with pytest.raises(DatabaseError), transaction.atomic():
        Order.objects.filter(pk=older.pk).update(selling_price=older.max_price)


def test_the_database_knows_no_selling_price_of_nothing_and_no_bill_without_its_fee():
    with pytest.raises(IntegrityError, match="order_selling_price_positive"), transaction.atomic():
        make_order(selling_price=0)
    with pytest.raises(IntegrityError, match="order_bill_sells_for_total_and_fee"), transaction.atomic():
        make_payment(make_check(), fee=2_000, selling_price=102_500)


def test_a_confirmed_cost_moves_only_an_order_at_cost():
    supervisor = make_person("supervisor")
    for before, after in ((10_200, 10_700), (12_000, 12_000), (None, None)):
        product = make_product(price=10_200)
        facts = {"selling_price": before, "action_reason": ActionReason.PRICE_CHANGED}
        order = make_order(Status.NEEDS_ACTION, product=product, **facts)
        Product.objects.filter(pk=product.pk).update(price=10_700)

        again = send_again(order, actor=supervisor, max_price=10_700)

        assert (again.status, again.max_price, again.selling_price) == (Status.QUEUED, 10_700, after)


def test_a_risen_cost_above_the_price_takes_right_and_reason():
    product = make_product(price=20_275, selling_price=21_000)
    order = make_order(
        Status.NEEDS_ACTION, product=product, selling_price=21_000, action_reason=ActionReason.PRICE_CHANGED
    )
    Product.objects.filter(pk=product.pk).update(price=22_000)
    supervisor, other = make_person("supervisor"), make_person("supervisor", username="without")
    Group.objects.get(name="supervisor").permissions.remove(Permission.objects.get(codename="sell_below_cost"))
    supervisor.user_permissions.add(Permission.objects.get(codename="sell_below_cost"))

    for person, reason, refused in ((other, "promo", "no_right"), (supervisor, " ", "no_reason")):
        with pytest.raises(BelowCost) as refusal:
            send_again(order, actor=person, max_price=22_000, reason=reason)
        assert refusal.value.reason == refused
    order.refresh_from_db()
    assert (order.status, order.max_price, order.events.count()) == (Status.NEEDS_ACTION, 20_275, 0)
    assert not Entry.objects.filter(ref_id=order.ref_id).exists()

    again = send_again(order, actor=supervisor, max_price=22_000, reason=" the customer waits ")

    assert (again.status, again.max_price, again.selling_price) == (Status.QUEUED, 22_000, 21_000)
    held = [(entry.kind, entry.amount) for entry in Entry.objects.filter(ref_id=order.ref_id)]
    assert held == [("hold", 22_000)]
    event = OrderEvent.objects.get(order=order)
    assert (event.note, event.actor) == ("the customer waits", supervisor)
    assert event.facts == {"code": "price_confirmed", "before": 20_275, "after": 22_000}


def test_a_bill_sells_for_its_total_and_the_fee_and_keeps_the_fee_on_a_new_total():
    check = make_check(product=make_biller(fee=2_000))
    order = pay_bill(check, amount=102_500, paid_by=None, enqueue=False)
    assert (order.max_price, order.fee, order.selling_price) == (102_500, 2_000, 104_500)

    check = make_check(product=make_biller(fee=3_000))
    facts = {"max_price": 100_000, "fee": 2_000, "selling_price": 102_000}
    order = make_payment(check, Status.NEEDS_ACTION, action_reason=ActionReason.AMOUNT_MISMATCH, **facts)
    again = pay_again(order, amount=102_500, actor=make_person("supervisor"), enqueue=False)
    assert (again.max_price, again.fee, again.selling_price) == (102_500, 2_000, 104_500)
