"""A whole shift at the counter, in which a real worker is killed: everything adds up to the rupiah."""

import json
import random
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import pytest

from bills import services as bills
from bills.models import BillCheck
from catalogue.models import Product
from credit.errors import OverCap
from drawers.models import Payment
from drawers.services import (
    PaymentFacts,
    change_payment,
    close_shift,
    give_back,
    pay_in,
    pay_out,
    take_credit_payment,
    totals_of,
)
from purchases.models import Order
from purchases.services import close_never_arrived, place_order
from purchases.states import OPEN, ActionReason, Status
from reconciliation.models import Difference
from reconciliation.services.on_demand import reconcile_now
from staff.models import User
from testing.fleet import Fleet
from testing.people import make_person
from testing.sandbox_process import eventually
from tests.conftest import Upstream
from tests.credit.helpers import account_of, give_credit, owed_by
from tests.drawers.helpers import begin, pieces_of
from upstream.budget import CallClass

SALES, BILLS = 200, 20
KILLED_AT, STARTED_AT = 105, 120
OPENING = 500_000
FAILS, REFUSED, CUT = "04", "23", "05"


@dataclass
class Notebook:
    """The events, as a person at the till would write them down, without a look at our entries."""

    cash: int = OPENING
    owed: Counter[str] = field(default_factory=Counter)
    prices: dict[str, int] = field(default_factory=dict)
    paid_by: dict[str, str] = field(default_factory=dict)

    def sold(self, order: Order, method: str) -> None:
        """Note a sale; `method`: the way to pay, or the debtor's name."""
        self.prices[order.ref_id], self.paid_by[order.ref_id] = order.customer_pays, method
        if method == "cash":
            self.cash += order.customer_pays
        elif method not in {"transfer", "qris"}:
            self.owed[method] += order.customer_pays

    def changed(self, order: Order, method: str) -> None:
        """Note that a sale was paid in another way."""
        former = self.paid_by.pop(order.ref_id)
        if former == "cash":
            self.cash -= order.customer_pays
        elif former in self.owed:
            self.owed[former] -= order.customer_pays
        self.sold(order, method)


def destination(number: int) -> str:
    """A phone number for each sale; the upstream refuses some or lets them fail, and cuts the answers for some."""
    nth = number // 10
    code = {3: FAILS, 6: REFUSED if number % 20 == 6 else "", 9: CUT if number % 20 == 9 else ""}.get(number % 10)
    if not code:
        return f"0812{1_000_000 + number:07d}"
    return f"081{2 + nth % 2}{nth // 2}900000{code}"


def open_orders() -> list[tuple[str, str]]:
    """The orders that have not ended, without the ones that never arrived and wait for a person."""
    orders = Order.objects.filter(status__in=OPEN).exclude(action_reason=ActionReason.NEVER_ARRIVED)
    return list(orders.values_list("ref_id", "status"))


def checked_bills(person: User) -> list[BillCheck]:
    """Checks of bills that can be paid."""
    biller = Product.objects.filter(type="postpaid", category__name__startswith="PLN").earliest("pk")
    start = partial(bills.start_check, product=biller, checked_by=person, enqueue=False)
    checks = [start(destination=f"53{1_000_000_000 + number}") for number in range(BILLS)]
    for check in checks:
        bills.inquire(check.pk, call_class=CallClass.INTERACTIVE)
    return [bills.follow_check(check, seconds=20) for check in checks]


def sendings(upstream: Upstream, endpoint: str) -> dict[str, list[str]]:
    """The upstream's requests: ref_id → the body of each request for it."""
    bodies: dict[str, list[str]] = {}
    for row in upstream.control("requests", endpoint=endpoint)["requests"]:
        bodies.setdefault(row["ref_id"], []).append(json.dumps(row["body"], sort_keys=True))
    return bodies


class Shop:
    """A cashier's shift, and the notebook about it."""

    def __init__(self) -> None:
        self.dice, self.book = random.Random(20261122), Notebook()
        product = Product.objects.get(name="Telkomsel 10.000")
        Product.objects.filter(pk=product.pk).update(selling_price=product.price + 1_400)
        self.product = Product.objects.get(pk=product.pk)
        self.shift = begin(cash=OPENING)
        self.cashier, self.supervisor = self.shift.cashier, make_person("supervisor")
        customers = give_credit("Bu Sri", cap=2_000_000), give_credit("Pak Budi", cap=30_000)
        self.customers = {customer.name: customer for customer in customers}
        self.checks = checked_bills(self.cashier)

    def sell(self, number: int) -> Order:
        """Make one sale, paid in any way."""
        key, amount, place = self._what(number)
        method = self.dice.choice(["cash", "cash", "cash", "transfer", "qris", *self.customers])
        if method not in self.customers:
            order = place(payment=PaymentFacts(method=method))
        else:
            customer, owed = self.customers[method], self.book.owed[method]
            try:
                order = place(payment=PaymentFacts(method="credit", customer=customer))
            except OverCap:
                assert owed + amount > account_of(customer).cap
                assert not Order.objects.filter(idempotency_key=key).exists()
                order, method = place(), "cash"
        self.book.sold(order, method)
        return order

    def _what(self, number: int) -> tuple[str, int, Callable[..., Order]]:
        """Now and then a bill, else credit: the key, the amount that the customer pays, and the call that places it."""
        if number % (SALES // BILLS) == 0:
            check = self.checks[number * BILLS // SALES]
            pay = partial(bills.pay_bill, check, amount=check.total, paid_by=self.cashier)
            return f"bill-{check.ref_id}", check.to_pay, pay
        key, product = str(uuid.uuid4()), self.product
        facts = {"max_price": product.price, "selling_price": product.sells_for, "idempotency_key": key}
        place = partial(place_order, product=product, destination=destination(number), placed_by=self.cashier, **facts)
        return key, product.sells_for, place

    def do_something_else(self, number: int, order: Order) -> None:
        """Now and then move other cash, take a part of a debt, or change the way to pay."""
        book = self.book
        if number % 20 == 5:
            act, change = (pay_in, 30_000) if number % 40 == 5 else (pay_out, -20_000)
            act(self.shift, amount=abs(change), reason="mixed", actor=self.cashier)
            book.cash += change
        if number % 30 == 29:
            for name in [name for name in self.customers if book.owed[name] > 2]:
                paid, method = book.owed[name] // 3, self.dice.choice(["cash", "qris"])
                take_credit_payment(account_of(self.customers[name]), amount=paid, method=method, actor=self.cashier)
                book.owed[name] -= paid
                book.cash += paid if method == "cash" else 0
        if number % 25 == 24:
            change_payment(order.payment, method="qris", actor=self.cashier)
            book.changed(order, "qris")

    def give_back(self, order: Order) -> bool:
        """Perhaps give back the money of a failed order; returns whether it did."""
        sold = self.book.paid_by[order.ref_id]
        how = self.dice.choice(["credit", ""] if sold in self.customers else ["cash", "transfer", ""])
        if how:
            give_back(order.payment, shift=self.shift, method=how, actor=self.cashier)
            self.book.cash -= order.customer_pays if how == "cash" else 0
            self.book.owed[sold] -= order.customer_pays if how == "credit" else 0
        return bool(how)

    def written(self) -> set[tuple[str, int, str]]:
        """The sales as (ref_id, amount, method)."""
        book = self.book
        methods = {ref_id: "credit" if by in self.customers else by for ref_id, by in book.paid_by.items()}
        return {(ref_id, price, methods[ref_id]) for ref_id, price in book.prices.items()}


@pytest.mark.long
def test_a_mixed_shift_with_a_killed_worker_closes_to_the_rupiah(upstream: Upstream, fleet: Fleet, settings):
    settings.ORDER_NOT_FOUND_GRACE_SECONDS = 1.0
    fleet.env |= {"ORDER_NOT_FOUND_GRACE_SECONDS": "1", "ORDER_LEASE_SECONDS": "5"}
    upstream.control("topup", amount=50_000_000)  # each month has other bills
    assert reconcile_now(seconds=10)[1] == ""  # opens the books
    shop = Shop()
    book = shop.book
    fleet.start("worker", "background", "beat")

    # when: 200 sales; a worker is killed with orders in its hands, and started again
    for number in range(SALES):
        if number == KILLED_AT:
            eventually(lambda: Order.objects.exclude(status=Status.QUEUED).exists(), within=30)
            fleet.kill("worker")
        if number == STARTED_AT:
            fleet.start("worker")
        shop.do_something_else(number, shop.sell(number))

    # when: all have ended (a person ends those that never arrived), and some customers get their money back
    eventually(lambda: not open_orders(), within=300)  # seconds; beside browsers the workers come last
    for lost in Order.objects.filter(status=Status.NEEDS_ACTION):
        close_never_arrived(lost, actor=shop.supervisor, note="killed")
    ended = list(Order.objects.exclude(status=Status.SUCCESS).order_by("pk"))
    given_back = [order.ref_id for order in ended if shop.give_back(order)]

    # then: the drawer and the accounts are as written down, to the rupiah
    counted = book.cash // 100 * 100  # no coin is smaller
    closed = close_shift(shop.shift, pieces=pieces_of(counted), actor=shop.cashier, reason="coins")
    assert (closed.expected, closed.difference) == (book.cash, counted - book.cash)
    totals = totals_of([closed.pk])[closed.pk]
    assert (totals.sale_count, totals.refund_count) == (SALES, len(given_back))
    assert set(Payment.objects.values_list("ref_id", "amount", "method")) == shop.written()
    assert not Payment.objects.exclude(sold_in=closed, ended_in=closed).exists()
    assert {name: owed_by(customer) for name, customer in shop.customers.items()} == {
        name: book.owed[name] for name in shop.customers
    }

    # then: by the upstream's own records each purchase was sent at most once, and a lost bill was repeated only
    # identically (document, /v1/bill/pay 5); each was charged once, and refunded if it failed
    assert {len(bodies) for bodies in sendings(upstream, "/v1/transaction/create").values()} == {1}
    assert {len(set(bodies)) for bodies in sendings(upstream, "/v1/bill/pay").values()} == {1}
    moved = [row for row in upstream.control("ledger")["mutations"] if row["ref_id"]]
    by_status = {status: {order.ref_id for order in ended if order.status == status} for status in Status}
    uncharged = by_status[Status.REJECTED] | by_status[Status.CLOSED]
    assert Counter(row["ref_id"] for row in moved if row["kind"] == "debit") == Counter(set(book.prices) - uncharged)
    assert Counter(row["ref_id"] for row in moved if row["kind"] != "debit") == Counter(by_status[Status.FAILED])
    assert by_status[Status.FAILED]
    assert by_status[Status.REJECTED]

    # then: our books equal the upstream's
    run, fault = reconcile_now(seconds=20)
    assert (fault, run.difference, Difference.objects.count()) == ("", 0, 0)
