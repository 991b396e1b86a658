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


def test_an_order_keeps_the_selling_price_of_its_placing():
    product = make_product(price=10_200, selling_price=12_000)

    order = place(product)
    Product.objects.filter(pk=product.pk).update(selling_price=13_000)

    order.refresh_from_db()
    assert (order.selling_price, order.customer_pays, order.max_price, order.fee) == (12_000, 12_000, 10_200, None)


def test_without_a_rule_the_customer_pays_the_cost():
    order = place(make_product(price=10_200))

    assert (order.selling_price, order.follows_cost) == (10_200, True)


def test_another_price_than_the_customer_confirmed_is_refused():
    product = make_product(price=10_200, selling_price=12_000)

    with pytest.raises(SellingPriceMoved):
        place(product, selling_price=11_500)
    assert not Order.objects.exists()


def test_a_risen_cost_is_refused_at_the_same_selling_price():
    product = make_product(price=10_700, selling_price=12_000)

    with pytest.raises(PriceMoved):
        place(product, max_price=10_200, selling_price=12_000)
    assert not Order.objects.exists()


@pytest.mark.parametrize(
    ("role", "reason", "refused"), [("cashier", "promo", "no_right"), ("supervisor", " ", "no_reason")]
)
def test_below_cost_takes_the_right_and_a_reason(role: str, reason: str, refused: str):
    product = make_product(price=10_200, selling_price=10_000)

    with pytest.raises(BelowCost) as refusal:
        place(product, placed_by=make_person(role), reason=reason)
    assert refusal.value.reason == refused
    assert not Order.objects.exists()


def test_below_cost_the_reason_stands_in_the_timeline():
    product = make_product(price=10_200, selling_price=10_000)

    order = place(product, placed_by=make_person("supervisor"), reason="promo of the week")

    assert order.selling_price == 10_000
    assert OrderEvent.objects.get(order=order).note == "promo of the week"


@pytest.mark.parametrize("status", [Status.QUEUED, Status.PENDING, Status.SUCCESS])
def test_the_database_keeps_the_selling_price(status: Status):
    order = make_order(status, selling_price=12_000)

    for changes in ({"selling_price": 12_500}, {"selling_price": None}, {"fee": 500}):
        with pytest.raises(DatabaseError), transaction.atomic():
            Order.objects.filter(pk=order.pk).update(**changes)


def test_the_database_knows_no_selling_price_of_nothing():
    with pytest.raises(IntegrityError, match="order_selling_price_positive"), transaction.atomic():
        make_order(selling_price=0)


def test_an_older_order_gets_no_selling_price_later():
    order = make_order(Status.QUEUED)

    with pytest.raises(DatabaseError), transaction.atomic():
        Order.objects.filter(pk=order.pk).update(selling_price=order.max_price)


@pytest.mark.parametrize(("before", "after"), [(10_200, 10_700), (12_000, 12_000), (None, None)])
def test_a_confirmed_cost_moves_only_an_order_at_cost(before: int | None, after: int | None):
    product = make_product(price=10_200)
    order = make_order(
        Status.NEEDS_ACTION, product=product, selling_price=before, action_reason=ActionReason.PRICE_CHANGED
    )
    Product.objects.filter(pk=product.pk).update(price=10_700)

    again = send_again(order, actor=make_person("supervisor"), max_price=10_700)

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


def test_a_bill_sells_for_its_total_and_the_fee():
    check = make_check(product=make_biller(fee=2_000))

    order = pay_bill(check, amount=102_500, paid_by=None, enqueue=False)

    assert (order.max_price, order.fee, order.selling_price) == (102_500, 2_000, 104_500)


def test_a_bill_paid_again_keeps_its_fee_on_the_new_total():
    check = make_check(product=make_biller(fee=3_000))
    facts = {"max_price": 100_000, "fee": 2_000, "selling_price": 102_000}
    order = make_payment(check, Status.NEEDS_ACTION, action_reason=ActionReason.AMOUNT_MISMATCH, **facts)

    again = pay_again(order, amount=102_500, actor=make_person("supervisor"), enqueue=False)

    assert (again.max_price, again.fee, again.selling_price) == (102_500, 2_000, 104_500)


def test_a_bill_without_its_fee_in_the_price_is_refused():
    with pytest.raises(IntegrityError, match="order_bill_sells_for_total_and_fee"), transaction.atomic():
        make_payment(make_check(), fee=2_000, selling_price=102_500)
