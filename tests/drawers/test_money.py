"""A long mixed shift closes to the rupiah, also with faults on the way."""

import random
import signal
import subprocess
import sys
import textwrap
from functools import partial

import pytest
from django.db import connection, transaction
from django.db.models import Sum

from credit.models import CreditEntry
from customers.models import Customer
from drawers import services
from drawers.errors import DrawerRefused
from drawers.models import DrawerEntry, Payment, Shift
from drawers.services import (
    change_payment,
    close_shift,
    day_lines,
    give_back,
    pay_in,
    pay_out,
    take_credit_payment,
)
from purchases.models import Order
from purchases.services.resolving import requeue
from testing.factories import make_product
from testing.orders import Meanwhile, at_once, never_arrived, place
from testing.people import make_person
from tests.credit.helpers import account_of, give_credit, owed_by
from tests.drawers.helpers import begin, end, make_drawer, pieces_of, sell

pytestmark = pytest.mark.django_db(transaction=True)

# Stores a sale of the shift and its debt without a commit, prints a line, and waits to be killed.
KILLED_WORKER = """
    import os, time, django
    os.environ["DJANGO_SETTINGS_MODULE"] = "backoffice.settings"
    django.setup()
    from django.conf import settings
    from django.db import connection, transaction
    settings.DATABASES["default"]["NAME"] = {name!r}
    connection.settings_dict["NAME"] = {name!r}
    from drawers.models import Shift
    from drawers.services import PaymentFacts, take_payment
    from customers.models import Customer
    seller = Shift.objects.get(pk={shift}).cashier
    with transaction.atomic():
        facts = PaymentFacts(method="credit", customer=Customer.objects.get(pk={customer}))
        sale = {{"destination": "081234567890", "amount": 10_500, "seller": seller, "facts": facts}}
        print("sold in", take_payment("KILLED", **sale).sold_in_id, flush=True)
        time.sleep(60)
"""


def kill_a_worker_that_sells(shift: Shift, customer: Customer) -> int:
    """Run a process that sells on credit in this shift; kill it before it commits. Returns the shift of its sale."""
    facts = {"name": connection.settings_dict["NAME"], "shift": shift.pk, "customer": customer.pk}
    script = textwrap.dedent(KILLED_WORKER.format(**facts))
    worker = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert worker.stdout
    line = next(line for line in worker.stdout if line.startswith("sold in"))
    worker.send_signal(signal.SIGKILL)
    worker.wait(30)
    return int(line.split()[2])


def credit_of_the_day(shift, customer):
    """Rupiah sold on credit, and paid of it; asserts that the day's closing agrees with the customer's account."""
    totals = day_lines(shift.day)[0].totals
    entries = CreditEntry.objects.filter(kind__in=["sale", "payment"]).values_list("kind").annotate(Sum("amount"))
    assert dict(entries) == {"sale": totals.credit_sales, "payment": -totals.all_credit}
    assert owed_by(customer) == totals.credit_sales - totals.all_credit
    return totals.credit_sales, totals.all_credit


def test_a_mixed_shift_with_a_killed_worker_closes_to_the_rupiah():
    dice = random.Random(20261122)
    shift = begin(cash=500_000)
    cashier, product = shift.cashier, make_product(price=10_200, selling_price=10_500)
    owing, paid_back = give_credit(cap=10_000_000), 0
    methods: dict[str, str] = {}
    cash_acts, refunds = 0, {}
    orders: list[Order] = []
    for number in range(200):
        order = place(product, placed_by=cashier)
        orders.append(order)
        methods[order.ref_id] = "cash"
        if number == 100:
            assert kill_a_worker_that_sells(shift, owing) == shift.pk
        match dice.randrange(7):
            case 0:
                method = dice.choice(["qris", "transfer", "credit"])
                change_payment(
                    order.payment, method=method, customer=owing if method == "credit" else None, actor=cashier
                )
                methods[order.ref_id] = method
            case 1:
                ended = end(order, dice.choice(["failed", "rejected", "cancelled", "closed"]))
                method = dice.choice(["cash", "transfer"])
                refund = give_back(ended.payment, shift=shift, method=method, actor=cashier)
                refunds[ended.ref_id] = (method, -refund.amount)
            case 2:
                amount = dice.randrange(1, 500) * 100
                act, sign = dice.choice([(pay_in, 1), (pay_out, -1)])
                act(shift, amount=amount, reason="mixed", actor=cashier)
                cash_acts += sign * amount
            case 4 if account_of(owing).balance > 0:
                amount = dice.randrange(1, account_of(owing).balance // 100 + 1) * 100
                method = dice.choice(["cash", "qris"])
                take_credit_payment(account_of(owing), amount=amount, method=method, actor=cashier)
                cash_acts += amount if method == "cash" else 0
                paid_back += amount

    # From the orders and the acts, without reading any payment or entry.
    prices = {order.ref_id: order.customer_pays for order in Order.objects.filter(placed_by=cashier)}
    sold = sum(prices[ref_id] for ref_id, method in methods.items() if method == "cash")
    given = sum(amount for method, amount in refunds.values() if method == "cash")
    recomputed = 500_000 + sold + given + cash_acts
    closed = close_shift(shift, pieces=pieces_of(recomputed), actor=cashier)

    assert (len(prices), paid_back > 0, len(refunds) > 5) == (200, True, True)
    assert (closed.expected, closed.difference) == (recomputed, 0)
    assert {sale.ref_id: sale.method for sale in shift.payments.all()} == methods
    totals = services.totals_of([shift.pk])[shift.pk]
    assert (totals.expected, totals.sale_count, totals.refund_count) == (recomputed, 200, len(refunds))
    assert totals.all_sales == sum(prices.values())
    on_credit = sum(prices[ref_id] for ref_id, method in methods.items() if method == "credit")
    assert credit_of_the_day(closed, owing) == (on_credit, paid_back)


def test_of_two_who_close_at_once_one_does():
    shift = begin(cash=100_000)

    results = at_once(*[lambda: close_shift(shift, pieces=pieces_of(100_000), actor=shift.cashier)] * 2)

    refused = [result for result in results if isinstance(result, DrawerRefused)]
    assert [result.reason for result in refused] == ["closed"]
    assert Shift.objects.get().counted == 100_000


def test_of_two_who_open_a_drawer_at_once_one_does():
    drawer, people = make_drawer(), [make_person("cashier"), make_person("supervisor")]

    results = at_once(*[lambda person=person: begin(person, drawer=drawer) for person in people])

    assert [type(result) for result in results].count(DrawerRefused) == 1
    assert Shift.objects.count() == 1


def test_one_person_who_opens_two_at_once_opens_one():
    person, drawers = make_person("cashier"), [make_drawer("A"), make_drawer("B")]

    results = at_once(*[lambda drawer=drawer: begin(person, drawer=drawer) for drawer in drawers])

    assert [type(result) for result in results].count(DrawerRefused) == 1


def test_a_sale_during_a_close_is_in_this_shift_or_left_to_the_next():
    for _ in range(5):
        shift = begin(make_person("cashier", username=f"c{Shift.objects.count()}"), cash=100_000)
        product = make_product(price=5_000)
        person = shift.cashier
        place_one = partial(place, product, placed_by=person)
        count = {"pieces": pieces_of(100_000), "actor": person, "reason": "during a sale"}
        order, closed = at_once(place_one, partial(close_shift, shift, **count))
        assert isinstance(order, Order)
        assert isinstance(closed, Shift)
        following = begin(person, drawer=shift.drawer, cash=100_000)

        payment = Payment.objects.get(ref_id=order.ref_id)
        if payment.sold_in is None:
            assert payment.agreed_in is None  # it was placed after the closing, with no drawer open
        elif payment.sold_in == following:
            assert payment.agreed_in == closed  # it waited for the closing
        in_this = payment.amount if payment.sold_in == closed else 0
        assert (closed.expected, services.expected_cash(following)) == (
            100_000 + in_this,
            100_000 + (payment.amount if payment.sold_in == following else 0),
        )


def test_a_closing_waits_for_a_sale_that_is_being_stored():
    shift, product = begin(cash=100_000), make_product(price=5_000)
    with transaction.atomic():
        order = place(product, placed_by=shift.cashier)
        closing = Meanwhile(partial(close_shift, shift, pieces=pieces_of(105_000), actor=shift.cashier))
        assert closing.is_blocked_by_us()

    closed = closing.end()

    assert (order.payment.sold_in, closed.expected, closed.difference) == (closed, 105_000, 0)


def test_a_sale_that_waits_for_a_closing_is_in_the_next_shift():
    shift, product = begin(cash=100_000), make_product(price=5_000)
    with transaction.atomic():
        closed = close_shift(shift, pieces=pieces_of(100_000), actor=shift.cashier)
        selling = Meanwhile(partial(place, product, placed_by=shift.cashier))
        assert selling.is_blocked_by_us()

    order = selling.end()

    assert (order.payment.sold_in, order.payment.agreed_in, closed.expected) == (None, closed, 100_000)
    following = begin(shift.cashier, drawer=shift.drawer, cash=100_000)

    order.payment.refresh_from_db()
    assert (order.payment.sold_in, services.expected_cash(following)) == (following, 105_000)


def test_two_who_give_back_at_once_give_once():
    shift = begin()
    order = end(sell(shift.cashier, 5_000), "failed")

    results = at_once(*[lambda: give_back(order.payment, shift=shift, method="cash", actor=shift.cashier)] * 2)

    assert [getattr(result, "reason", "") for result in results].count("given_back") == 1
    assert DrawerEntry.objects.filter(kind="refund").count() == 1


def test_money_given_back_later_is_in_the_shift_open_then():
    first = begin(cash=100_000)
    order = sell(first.cashier, 5_000)
    close_shift(first, pieces=pieces_of(105_000), actor=first.cashier)
    end(order, "reversed")
    second = begin(make_person("supervisor"), cash=50_000)

    refund = give_back(order.payment, shift=second, method="cash", actor=second.cashier)

    assert (refund.refund_entry.shift, refund.sold_in, refund.refund_entry.amount) == (second, first, -5_000)
    assert refund.given_by == second.cashier
    assert services.expected_cash(second) == 45_000


def test_a_sale_is_given_back_by_another_only_if_it_is_owed():
    selling, giving = begin(cash=100_000), begin(make_person("supervisor"), cash=100_000)
    order = end(sell(selling.cashier, 5_000), "failed")

    refund = give_back(order.payment, method="cash", shift=giving, actor=giving.cashier)

    assert (refund.sold_in, services.expected_cash(selling)) == (selling, 105_000)
    for order in (sell(selling.cashier), end(sell(selling.cashier), "success")):
        with pytest.raises(DrawerRefused, check=lambda refusal: refusal.reason == "not_owed"):
            give_back(order.payment, shift=selling, method="cash", actor=selling.cashier)


def test_a_price_confirmed_later_corrects_the_payment():
    shift = begin(cash=100_000)
    order = never_arrived(sell(shift.cashier, 5_000))
    with transaction.atomic():
        requeue(order, max_price=5_500, actor=shift.cashier, enqueue=False)

    closed = close_shift(shift, pieces=pieces_of(105_500), actor=shift.cashier)

    assert closed.difference == 0


def test_a_price_confirmed_after_the_closing_leaves_the_shift_as_it_was():
    shift = begin(cash=100_000)
    order = never_arrived(sell(shift.cashier, 5_000))
    closed = close_shift(shift, pieces=pieces_of(105_000), actor=shift.cashier)
    with transaction.atomic():
        requeue(order, max_price=5_500, actor=shift.cashier, enqueue=False)

    assert Payment.objects.get().amount == 5_000
    assert services.expected_cash(closed) == closed.expected
