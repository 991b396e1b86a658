"""An order above a person's limit is refused before anything is stored, also with two clicks at once."""

import datetime as dt
import uuid

import pytest
import time_machine
from django.utils import timezone

from bills.services import pay_bill
from purchases.errors import LimitReached
from purchases.models import Order
from purchases.services import send_again
from purchases.states import ActionReason, Status
from staff.models import User
from testing.database import statements
from testing.factories import make_check, make_order, make_product
from testing.orders import at_once, place
from testing.people import browser_of, make_person
from tests.core.helpers import has_id

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("costs_shown")]

PRICE = 10_000


def cashier(**limits: int) -> User:
    return make_person("cashier", **{f"own_{name}": value for name, value in limits.items()})


def refusal(**facts) -> LimitReached:
    with pytest.raises(LimitReached) as refused:
        place(make_product(price=PRICE), **facts)
    return refused.value


def test_an_order_above_the_limit_is_refused_and_says_who_helps():
    make_person("admin", first_name="Bu", last_name="Tini")
    make_person("administrator", first_name="Pak", last_name="Joko")
    make_person("supervisor", first_name="Sari")

    reached = refusal(placed_by=cashier(per_order=PRICE - 1))

    assert (reached.code, reached.amount, reached.limit, reached.left) == (
        "LimitReached:per_order",
        PRICE,
        PRICE - 1,
        None,
    )
    assert reached.helpers == ["Pak Joko", "Bu Tini"]
    assert "Pak Joko, Bu Tini" in str(reached)
    assert not Order.objects.exists()


def test_nobody_asks_a_second_person_for_what_is_beyond_the_limit():
    person = cashier(approval_above=1, per_order=PRICE - 1)

    assert refusal(placed_by=person).reason == "per_order"
    with pytest.raises(LimitReached):
        pay_bill(make_check(total=PRICE), amount=PRICE, paid_by=person)


def test_an_order_of_just_the_limit_is_placed_and_the_same_form_again_is_the_same_order():
    person, product, key = cashier(per_order=PRICE, per_day=PRICE), make_product(price=PRICE), str(uuid.uuid4())

    facts = {"placed_by": person, "idempotency_key": key, "destination": "081234567890"}
    assert place(product, **facts).pk == place(product, **facts).pk


def test_the_day_counts_what_was_placed_before():
    person = cashier(per_day=3 * PRICE - 1)
    place(make_product(price=PRICE), placed_by=person)
    place(make_product(price=PRICE), placed_by=make_person("supervisor"))
    place(make_product(price=PRICE), placed_by=person)

    reached = refusal(placed_by=person)

    assert (reached.code, reached.limit, reached.left) == ("LimitReached:per_day", 3 * PRICE - 1, PRICE - 1)


def test_the_day_leaves_out_only_what_has_certainly_cost_nothing():
    for status in Status:
        person = make_person("cashier", username=status, own_per_day=PRICE)
        make_order(placed_by=person, status=status, max_price=PRICE)
        if status in {Status.REJECTED, Status.CANCELLED, Status.FAILED}:
            assert place(make_product(price=PRICE), placed_by=person).pk, status
        else:
            assert refusal(placed_by=person).left == 0, status

    # where the charge is known, it counts
    person = cashier(per_day=2 * PRICE)
    make_order(placed_by=person, status=Status.SUCCESS, max_price=2 * PRICE, price=PRICE)
    assert place(make_product(price=PRICE), placed_by=person).pk


def test_at_midnight_of_the_shop_the_day_begins_again():
    midnight = dt.datetime(2026, 11, 21, 17, 0, tzinfo=dt.UTC)  # in Jakarta
    person = cashier(per_day=PRICE)
    with time_machine.travel(midnight - dt.timedelta(seconds=1), tick=False):
        place(make_product(price=PRICE), placed_by=person)
        assert refusal(placed_by=person).left == 0

    with time_machine.travel(midnight, tick=False):
        assert place(make_product(price=PRICE), placed_by=person).pk


@pytest.mark.django_db(transaction=True)
def test_of_two_orders_at_once_only_one_passes_the_limit():
    person = cashier(per_day=2 * PRICE - 1)
    products = [make_product(price=PRICE) for _ in range(4)]

    results = at_once(*[lambda product=product: place(product, placed_by=person) for product in products])

    assert sorted(type(result).__name__ for result in results) == [*["LimitReached"] * 3, "Order"]
    assert Order.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_the_same_click_twice_at_once_is_one_order():
    person, product, key = cashier(per_day=PRICE), make_product(price=PRICE), str(uuid.uuid4())
    facts = {"placed_by": person, "idempotency_key": key, "destination": "081234567890"}

    first, second = at_once(*[lambda: place(product, **facts)] * 2)

    assert first.pk == second.pk


def test_a_bill_counts_like_a_purchase():
    person = cashier(per_day=100_000, per_order=60_000)

    with pytest.raises(LimitReached) as refused:
        pay_bill(make_check(total=60_001), amount=60_001, paid_by=person)
    assert refused.value.reason == "per_order"
    pay_bill(make_check(total=60_000), amount=60_000, paid_by=person)
    with pytest.raises(LimitReached) as refused:
        pay_bill(make_check(total=60_000), amount=60_000, paid_by=person)
    assert (refused.value.reason, refused.value.left) == ("per_day", 40_000)


def test_a_risen_price_is_confirmed_only_within_the_limit():
    person, product = cashier(per_order=PRICE, per_day=PRICE), make_product(price=PRICE)
    order = make_order(
        product=product,
        placed_by=person,
        max_price=PRICE - 1,
        status=Status.NEEDS_ACTION,
        action_reason=ActionReason.PRICE_CHANGED,
    )
    product.price = PRICE + 1
    product.save()
    with pytest.raises(LimitReached):
        send_again(order, actor=person, max_price=PRICE + 1)

    product.price = PRICE
    product.save()
    assert send_again(order, actor=person, max_price=PRICE).status == Status.QUEUED


def test_only_who_has_a_limit_a_day_costs_a_statement_more():
    place()  # the first order makes the rows that later orders find
    counts = {}
    for limits in ({}, {"per_order": PRICE}, {"per_day": 10 * PRICE}):
        person, product = make_person("cashier", username=uuid.uuid4().hex), make_product(price=PRICE)
        for name, value in limits.items():
            setattr(person, f"own_{name}", value)
        person.role_limits = [None, None, None]
        with statements() as sent:
            place(product, placed_by=person)
        counts[next(iter(limits), "")] = len(sent)

    assert counts["per_order"] == counts[""]
    assert counts["per_day"] == counts[""] + 2  # lock the person, add up the day


def test_the_pages_say_the_limit_and_what_is_left_before_anything_is_confirmed():
    product = make_product(price=PRICE)
    review = f"/counter/review/?product={product.code}&q=081234567890"
    browser = browser_of("cashier", own_per_day=3 * PRICE)
    person = User.objects.get()
    spent = make_order(placed_by=person, status=Status.SUCCESS, max_price=PRICE, created_at=timezone.now())

    page = browser.get(review)
    assert not has_id(page, "beyond-limit")
    assert "Rp20.000" in page.content.decode()

    User.objects.update(own_per_order=PRICE - 1, own_per_day=5 * PRICE)
    page = browser.get(review)
    assert has_id(page, "beyond-limit")
    assert has_id(page, "limit-left")
    form = {"product": product.code, "destination": "081234567890", "token": str(uuid.uuid4()), "price": PRICE}
    assert has_id(browser.post("/counter/send/", form), "beyond-limit")
    assert Order.objects.get() == spent
