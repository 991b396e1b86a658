"""A long mixed shift closes to the rupiah, whatever happens meanwhile."""

import random
import signal
import subprocess
import sys
import textwrap
from functools import partial

import pytest
from django.db import connection
from django.db.models import Sum

from credit.models import CreditEntry
from drawers import services
from drawers.errors import DrawerRefused
from drawers.models import DrawerEntry, Method, Shift
from drawers.services import (
    close_shift,
    day_lines,
    give_back,
    note_payment,
    pay_in,
    pay_out,
    sweep_sales,
    take_credit_payment,
)
from purchases.models import Order
from tests.credit.helpers import account_of, give_credit, owed_by
from tests.drawers.helpers import begin, end, make_drawer, pieces_of, sell
from tests.factories import make_product
from tests.people import make_person
from tests.purchases.helpers import at_once, place

pytestmark = pytest.mark.django_db(transaction=True)

# Holds the shift's lock with entries that were not committed, says so, and waits to be killed.
KILLED_WORKER = """
    import os, time, django
    os.environ["DJANGO_SETTINGS_MODULE"] = "backoffice.settings"
    django.setup()
    from django.conf import settings
    from django.db import connection, transaction
    settings.DATABASES["default"]["NAME"] = {name!r}
    connection.settings_dict["NAME"] = {name!r}
    from drawers.services import enter_sales, lock_shift
    with transaction.atomic():
        print("entered", enter_sales(lock_shift({shift})), flush=True)
        time.sleep(60)
"""


def kill_a_worker_that_enters(shift: Shift) -> int:
    """A process enters the shift's sales and is killed before it commits; how many it had entered."""
    script = textwrap.dedent(KILLED_WORKER.format(name=connection.settings_dict["NAME"], shift=shift.pk))
    worker = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert worker.stdout
    said = next(line for line in worker.stdout if line.startswith("entered"))
    worker.send_signal(signal.SIGKILL)
    worker.wait(30)
    return int(said.split()[1])


def credit_of_the_day(shift, customer):
    """Rupiah sold on credit, and paid of it: the closing of the day says what the customer's account says."""
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
            assert kill_a_worker_that_enters(shift) > 0
        match dice.randrange(7):
            case 0:
                method = dice.choice(["qris", "transfer", "credit"])
                note_payment(order, method=method, customer=owing if method == "credit" else None, actor=cashier)
                methods[order.ref_id] = method
            case 1:
                ended = end(order, dice.choice(["failed", "rejected", "cancelled", "closed"]))
                method = dice.choice(["cash", "transfer"])
                refund = give_back(ended, shift=shift, method=method, actor=cashier)
                refunds[ended.ref_id] = (method, refund.amount)
            case 2:
                amount = dice.randrange(1, 500) * 100
                act, sign = dice.choice([(pay_in, 1), (pay_out, -1)])
                act(shift, amount=amount, reason="mixed", actor=cashier)
                cash_acts += sign * amount
            case 3:
                sweep_sales()
            case 4 if account_of(owing).balance > 0:
                amount = dice.randrange(1, account_of(owing).balance // 100 + 1) * 100
                method = dice.choice(["cash", "qris"])
                take_credit_payment(account_of(owing), amount=amount, method=method, actor=cashier)
                cash_acts += amount if method == "cash" else 0
                paid_back += amount

    # From the orders and the acts, without a look at any entry.
    prices = {order.ref_id: order.customer_pays for order in Order.objects.filter(placed_by=cashier)}
    sold = sum(prices[ref_id] for ref_id, method in methods.items() if method == "cash")
    given = sum(amount for method, amount in refunds.values() if method == "cash")
    recomputed = 500_000 + sold + given + cash_acts
    closed = close_shift(shift, pieces=pieces_of(recomputed), actor=cashier)

    assert len(prices) == 200
    assert (closed.expected, closed.difference) == (recomputed, 0)
    assert {sale.ref_id for sale in shift.entries.current().filter(kind="sale")} == set(prices)
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

        entries = DrawerEntry.objects.filter(ref_id=order.ref_id)
        if closed.first_no < order.pk < closed.last_no:  # placed before it closed: entered just once, in one of both
            entry = entries.get()
            assert entry.shift in {closed, following}
            assert entry.sold_in == (closed if entry.shift == following else None)
        else:
            assert not entries.exists()
        assert closed.expected == 100_000 + sum(one.amount for one in entries if one.shift == closed)


def test_many_who_enter_at_once_enter_each_sale_once():
    shift = begin()
    for _ in range(5):
        sell(shift.cashier)

    at_once(*[sweep_sales] * 4)

    assert shift.entries.filter(kind="sale").count() == 5


def test_two_who_give_back_at_once_give_once():
    shift = begin()
    order = end(sell(shift.cashier, 5_000), "failed")

    results = at_once(*[lambda: give_back(order, shift=shift, method="cash", actor=shift.cashier)] * 2)

    assert [getattr(result, "reason", "") for result in results].count("given_back") == 1
    assert DrawerEntry.objects.filter(kind="refund").count() == 1


def test_a_failed_order_takes_no_cash_back_by_itself():
    shift = begin(cash=100_000)
    end(sell(shift.cashier, 5_000), "failed")
    sweep_sales()

    closed = close_shift(shift, pieces=pieces_of(105_000), actor=shift.cashier)

    assert closed.difference == 0


def test_money_given_back_later_is_in_the_shift_open_then():
    first = begin(cash=100_000)
    order = sell(first.cashier, 5_000)
    close_shift(first, pieces=pieces_of(105_000), actor=first.cashier)
    end(order, "reversed")
    second = begin(make_person("supervisor"), cash=50_000)

    refund = give_back(order, shift=second, method="cash", actor=second.cashier)

    assert (refund.shift, refund.sold_in, refund.amount) == (second, first, -5_000)
    assert Order.objects.get(pk=order.pk).given_back.noted_by == second.cashier
    assert services.expected_cash(second) == 45_000


def test_a_sale_that_has_not_entered_yet_is_given_back_by_another():
    selling, giving = begin(cash=100_000), begin(make_person("supervisor"), cash=100_000)
    order = end(sell(selling.cashier, 5_000), "failed")

    refund = give_back(order, shift=giving, method="cash", actor=giving.cashier)

    assert (refund.sold_in, services.expected_cash(selling)) == (selling, 105_000)


@pytest.mark.parametrize("status", ["success", "pending"])
def test_nothing_is_given_back_for_what_is_not_owed(status):
    shift = begin()
    order = sell(shift.cashier)
    if status == "success":
        order = end(order, status)

    with pytest.raises(DrawerRefused) as refusal:
        give_back(order, shift=shift, method=Method.CASH, actor=shift.cashier)
    assert refusal.value.reason == "not_owed"


def test_a_price_confirmed_later_corrects_the_entry():
    shift = begin(cash=100_000)
    order = sell(shift.cashier, 5_000)
    sweep_sales()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE purchases_order SET max_price = 5500, selling_price = 5500 WHERE id = %s", [order.pk])

    closed = close_shift(shift, pieces=pieces_of(105_500), actor=shift.cashier)

    assert closed.difference == 0
