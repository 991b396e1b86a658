"""Makes one morning of a shop by the real services: sales by each way to pay, bills, ends of all kinds, shifts.

The upstream is an object of this process, which answers at once. `history.py` multiplies the morning's rows.
"""

from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from random import Random
from typing import Any
from unittest import mock

from django.contrib.auth.models import Group
from django.db import transaction
from django.utils import timezone

from alerts.models import Alert, Severity
from audit.services import record
from bills.models import BillCheck
from bills.services import inquire, pay_bill, start_check
from callbacks.services import process_batch, receive
from catalogue.models import PriceChange, Product, ProductType
from complaints.models import State
from complaints.services import move_complaint, open_complaint
from credit.methods import CASH, CREDIT
from credit.services import set_credit
from customers.models import Customer, SavedNumber
from customers.services import customer_called, save_number
from drawers.models import DENOMINATIONS, Drawer, Outcome, Payment, Shift
from drawers.services import (
    PaymentFacts,
    add_drawer,
    close_shift,
    expected_cash,
    give_back,
    hand_over,
    note_given_back,
    open_shift,
    pay_in,
    pay_out,
    take_credit_payment,
)
from gateway import services as gateway
from gateway.services import calling
from purchases.models import Order, OrderEvent, Verdict
from purchases.services import Decision, apply_verdict, cancel_order, place_order, poll, submit
from purchases.states import ActionReason, Status
from reconciliation.models import Difference, ReconciliationRun
from reconciliation.services import acknowledge_top_up, reconcile
from staff.events import STAFF_INVITED
from staff.models import User
from testing.callbacks import body_for
from upstream.budget import CallClass
from upstream.client import Reply
from upstream.endpoints import Endpoint
from upstream.error_codes import ErrorCode
from upstream.errors import OutcomeUnknown, Rejected, UpstreamError, Wire

ORDERS = 240
# The orders of a morning that end otherwise; the others succeed.
_ENDS = {Status.FAILED: 7, Status.REJECTED: 3, Status.CANCELLED: 1, Status.REVERSED: 1, Status.CLOSED: 1}
_BILLS, _UNPAID_CHECKS, _POLLED, _COMPLAINTS = 28, 14, 72, 5
_READING_EVERY = 10
# More than a page of each kind, for a year of any length.
_NEED_ACTION, _OWED, _COMPLAINING = 55, 55, 55
_WAYS = {CASH: 60, "qris": 15, "transfer": 10, "card": 5, CREDIT: 10}
_CASHIERS = ("Siti", "Budi", "Agus", "Dewi", "Rina", "Joko", "Wahyu", "Ayu", "Putri", "Rudi", "Yanti", "Hendra")
_CUSTOMERS = ("Lestari Wibowo", "Bambang Pratama", "Fitri Hidayat")
_PREFIXES = ("0812", "0857", "0878", "0838", "0896", "0882", "0851")
_DRAWERS = ("Laci 1", "Laci 2")
# The cash in each drawer between two shifts, in rupiah.
_FLOAT = 500_000
_COUNT = [_FLOAT // DENOMINATIONS[0]] + [0] * (len(DENOMINATIONS) - 1)
_LOW, _FULL = 8_000_000, 60_000_000
_REFUSALS = (ErrorCode.INVALID_DESTINATION, ErrorCode.PRODUCT_NOT_FOUND, ErrorCode.INVALID_REQUEST)
_REASONS = (ErrorCode.PRICE_CHANGED, ErrorCode.CUT_OFF, ErrorCode.PRODUCT_UNAVAILABLE, ErrorCode.INSUFFICIENT_BALANCE)


class Provider:
    """An upstream's client that answers at once: it accepts each order, but raises `refuse` once if that is set."""

    def __init__(self, balance: int) -> None:
        self.balance = balance
        self.refuse: UpstreamError | None = None
        self._known: dict[str, dict[str, Any]] = {}
        self._numbers = count(1)

    def reserve(self, *_: Any, **__: Any) -> Provider:
        """A permit: this object itself."""
        return self

    def cancel(self) -> None:
        """Do nothing: no permit was taken."""

    def send(self, request: Any, *_: Any) -> Reply[Any]:
        """The answer. Raises `refuse` if that is set, except to a request for the balance."""
        wire = Wire(sent_at=timezone.now(), waited=0.0, latency=0.2, http_status=200)
        if (refusal := self.refuse) and request.endpoint is not Endpoint.BALANCE:
            self.refuse, refusal.wire = None, wire
            raise refusal
        data = self._answer(request)
        raw = {"code": 200, "status": "success", "message": "ok", "data": data}
        message = request.message.model_validate(data)
        return Reply(data=message, raw=raw, sent_at=wire.sent_at, received_at=timezone.now(), wire=wire)

    def end(self, order: Order, status: str) -> None:
        """Report the end of an order by a callback, and give the price back when it has failed."""
        known = self._known[order.ref_id]
        self.balance += known["price"] if status == Status.FAILED else 0
        sn = f"{uuid.uuid4().int % 10**20:020d}" if status == Status.SUCCESS else None
        facts = {name: known[name] for name in ("trx_id", "price")}
        body = body_for(order, status, **facts, sn=sn, message=f"Transaksi {status}", balance=self.balance)
        headers = {"x-event": f"transaction.{status}", "x-delivery-id": str(uuid.uuid4()), "user-agent": "sandbox/1"}
        event = {"ref_id": order.ref_id, "event": f"transaction.{status}"}
        receive(body=body, headers=headers, source_address="127.0.0.1", is_signed=True, **event)
        process_batch(50)

    def _answer(self, request: Any) -> dict[str, Any]:
        ref_id, fields = request.ref_id, request.fields
        if request.endpoint is Endpoint.BALANCE:
            return {"balance": self.balance}
        if request.endpoint is Endpoint.BILL_INQUIRY:
            amount, fee = uuid.uuid4().int % 600 * 1_000 + 30_000, 2_500
            until = (timezone.now() + dt.timedelta(minutes=5)).isoformat()
            bill = {"amount": amount, "admin_fee": fee, "penalty": 0, "total": amount + fee, "expires_at": until}
            details = [{"period": "Nov 2026", "amount": amount, "penalty": 0}]
            named = {"ref_id": ref_id, **fields, "product_name": fields["product_code"]}
            self._known[ref_id] = named
            return {**named, **bill, "customer_name": "SITI AMINAH", "period": "Nov 2026", "details": details,
                    "status": "valid"}  # fmt: skip
        if request.endpoint is not Endpoint.TRANSACTION_STATUS:
            price = fields.get("max_price") or fields.get("amount")
            self.balance -= price
            named = self._known.get(ref_id) or {**fields, "product_name": fields["product_code"]}
            trx_id = named.get("trx_id") or f"TRX{next(self._numbers):012d}"
            self._known[ref_id] = {
                **named, "ref_id": ref_id, "price": price, "trx_id": trx_id, "sn": None,
                "status": "pending", "message": "Transaksi diproses", "balance": self.balance,
            }  # fmt: skip
        return self._known[ref_id]


class Shop:
    """People, drawers and products of the shop, and their work in the morning."""

    def __init__(self, provider: Provider, random: Random) -> None:
        self.provider = provider
        self._random = random
        self._owner = User.objects.get(username="owner")
        self._cashiers = [_cashier(number, name) for number, name in enumerate(_CASHIERS, start=1)]
        listed = Product.objects.listed().select_related("brand", "category").order_by("pk")
        products = [one for one in listed if one.is_available and not one.in_cut_off()]
        random.shuffle(products)
        self._prepaid = [one for one in products if one.type == ProductType.PREPAID and 0 < one.price <= one.sells_for]
        self._billers = [one for one in products if one.type == ProductType.POSTPAID]
        self._drawers = [Drawer.objects.filter(name=name).first() or add_drawer(name, actor=self._owner)
                         for name in _DRAWERS]  # fmt: skip
        for drawer, cashier in zip(self._drawers, self._cashiers, strict=False):
            close_shift(open_shift(drawer, pieces=_COUNT, actor=cashier, reason="Awal"), pieces=_COUNT, actor=cashier)
        self.read()
        self.top_up(_FULL)

    def live_a_morning(self) -> None:
        """Do everything once, from a full balance to a full balance; no order is in progress at the end."""
        shifts = [
            open_shift(drawer, pieces=_COUNT, actor=cashier)
            for drawer, cashier in zip(self._drawers, self._cashiers, strict=False)
        ]
        customers = [self._customer(name) for name in _CUSTOMERS]
        self._change_prices()
        ends = [status for status, count in _ENDS.items() for _ in range(count)]
        ends += [Status.SUCCESS] * (ORDERS - len(ends))
        self._random.shuffle(ends)
        bills = set(self._random.sample(range(ORDERS), _BILLS))
        unpaid = set(self._random.sample(range(ORDERS), _UNPAID_CHECKS))
        polled = set(self._random.sample(range(ORDERS), _POLLED))
        complaints = set(self._random.sample([at for at in range(ORDERS) if ends[at] == Status.SUCCESS], _COMPLAINTS))
        for at, end in enumerate(ends):
            if self.provider.balance < _LOW:
                self.top_up(_FULL)
            if at in unpaid:
                self._check(is_refused=at % 3 == 0)
            order = self._place(is_bill=at in bills, customer=customers[at % len(customers)], number=at)
            self._bring_to(order, end, is_polled=at in polled)
            if at in complaints:
                self._complain(order, is_closed=True)
            if at % _READING_EVERY == 0:
                self.read()
            if at == ORDERS // 2:
                shifts[0] = self._hand_over(shifts[0], self._cashiers[len(shifts)])
        for customer in customers[1:]:
            take_credit_payment(customer.credit, amount=20_000, method=CASH, actor=shifts[0].cashier)
        self._give_back(shifts[0])
        for shift in shifts:
            self._bring_to_float(shift)
            close_shift(shift, pieces=_COUNT, actor=shift.cashier)
        now = timezone.now()
        Alert.objects.create(kind="unreachable", severity=Severity.CRITICAL, facts={"since": now.isoformat()},
                             opened_at=now, closed_at=timezone.now())  # fmt: skip
        self.top_up(_FULL)

    def leave_open(self) -> None:
        """Leave work for a person after the year: refunds due, complaints, and orders that need action.

        The last ten of these orders look as if they had never arrived.
        """
        shift = open_shift(self._drawers[0], pieces=_COUNT, actor=self._cashiers[0])
        for number in range(_OWED):
            end = Status.FAILED if number % 4 else Status.REVERSED
            self._bring_to(self._place(is_bill=False, customer=None, number=0), end, is_polled=False)
        for _ in range(_COMPLAINING):
            order = self._place(is_bill=False, customer=None, number=0)
            self._bring_to(order, Status.SUCCESS, is_polled=False)
            self._complain(order, is_closed=False)
        self._bring_to_float(shift)
        close_shift(shift, pieces=_COUNT, actor=shift.cashier)
        for number in range(_NEED_ACTION):
            order = self._place(is_bill=False, customer=None, number=number)
            if number >= _NEED_ACTION - 10:
                self._lose(order)
            else:
                self.provider.refuse = Rejected(_REASONS[number % len(_REASONS)], "Ditolak", http_status=400)
                submit(order.pk, call_class=CallClass.INTERACTIVE)

    def read(self) -> None:
        """Read the balance, and compare it with the books."""
        gateway.read_balance()
        reconcile(ReconciliationRun.Trigger.READING)

    def top_up(self, to: int) -> None:
        """Pay money in between two readings; the owner acknowledges it."""
        if (amount := to - self.provider.balance) <= 0:
            return
        self.read()
        self.provider.balance += amount
        self.read()
        acknowledge_top_up(Difference.objects.open().get(amount=amount), actor=self._owner, note="Transfer BCA")
        self.read()

    def _place(self, *, is_bill: bool, customer: Customer | None, number: int) -> Order:
        way = self._random.choices(list(_WAYS), list(_WAYS.values()))[0] if customer else CASH
        seller = self._cashiers[number % len(self._cashiers)]
        payment = PaymentFacts(
            method=way, customer=customer if way == CREDIT else None, reference="0815" if way == "card" else ""
        )
        if is_bill:
            check = self._check()
            return pay_bill(check, amount=check.total or 0, paid_by=seller, enqueue=False, payment=payment)
        product = self._uneven(self._prepaid)
        return place_order(
            product=product, destination=self._destination(product), max_price=product.price,
            idempotency_key=str(uuid.uuid4()), placed_by=seller, confirm_repeat=True, enqueue=False, payment=payment,
        )  # fmt: skip

    def _bring_to(self, order: Order, end: Status, *, is_polled: bool) -> None:
        if end == Status.CANCELLED:
            cancel_order(order, actor=self._owner)
            return
        if end == Status.CLOSED:
            self._lose(order)
            apply_verdict(order.pk, Decision(status=end, source=OrderEvent.Source.STAFF, actor=self._owner))
            return
        if end == Status.REJECTED:
            self.provider.refuse = Rejected(self._random.choice(_REFUSALS), "Ditolak", http_status=400)
        submit(order.pk, call_class=CallClass.INTERACTIVE)
        if end == Status.REJECTED:
            return
        if is_polled:
            poll(order.pk, call_class=CallClass.INTERACTIVE)
        self.provider.end(order, Status.FAILED if end == Status.FAILED else Status.SUCCESS)
        if end == Status.REVERSED:
            self._reverse(order)

    def _lose(self, order: Order) -> None:
        """Send the order without an answer; the upstream does not know it afterwards."""
        self.provider.refuse = OutcomeUnknown("timeout")
        submit(order.pk, call_class=CallClass.INTERACTIVE)
        gone = Decision(
            status=Status.NEEDS_ACTION, source=OrderEvent.Source.POLL, action_reason=ActionReason.NEVER_ARRIVED,
            error_code=ErrorCode.TRANSACTION_NOT_FOUND,
            facts={"code": "not_found", "times": 3, "since": timezone.now().isoformat()},
        )  # fmt: skip
        apply_verdict(order.pk, gone)

    def _reverse(self, order: Order) -> None:
        """Reverse a success, as the upstream does; two people have decided it."""
        admin, now = User.objects.get(username="admin"), timezone.now()
        Verdict.objects.create(
            order=order, outcome=Status.REVERSED, order_status=Status.SUCCESS, evidence="Dasbor", reason="Ditarik",
            proposed_by=admin, approved_by=self._owner, decided_at=now,
        )  # fmt: skip
        self.provider.balance += Order.objects.get(pk=order.pk).price or 0
        apply_verdict(order.pk, Decision(status=Status.REVERSED, source=OrderEvent.Source.STAFF, actor=self._owner))

    def _check(self, *, is_refused: bool = False) -> BillCheck:
        biller = self._uneven(self._billers)
        asker = self._random.choice(self._cashiers)
        check = start_check(product=biller, destination=self._destination(biller), checked_by=asker, enqueue=False)
        if is_refused:
            self.provider.refuse = Rejected(ErrorCode.BILL_NOT_AVAILABLE, "Tidak ada tagihan", http_status=400)
        inquire(check.pk, call_class=CallClass.INTERACTIVE)
        return BillCheck.objects.get(pk=check.pk)

    def _customer(self, name: str) -> Customer:
        customer, _is_new = customer_called(name, created_by=self._owner)
        for ware in (self._uneven(self._prepaid), self._uneven(self._billers)):
            number, kind = SavedNumber(customer=customer), ware.kind
            save_number(number, destination=self._destination(ware), product=ware, kind=kind, note="")
        set_credit(customer, cap=50_000_000, due_days=14, actor=self._owner)
        return customer

    def _complain(self, order: Order, *, is_closed: bool) -> None:
        complaint = open_complaint(order, words="Belum masuk.", actor=self._owner)
        if is_closed:
            move_complaint(complaint, to=State.CLOSED, words="Sudah masuk.", actor=self._owner)

    def _change_prices(self) -> None:
        for product in self._random.sample(self._prepaid, 2):
            PriceChange.objects.create(product=product, price_before=product.price + 50, price=product.price)

    def _give_back(self, shift: Shift) -> None:
        """Give customers their money back for failed and reversed orders."""
        for payment in Payment.objects.owed().select_related("order").order_by("pk"):
            if payment.debt_id:
                give_back(payment, method=CREDIT, actor=self._owner)
            elif payment.outcome == Outcome.OWED and payment.is_cash:
                give_back(payment, method=CASH, actor=shift.cashier, shift=shift)
            else:
                note_given_back(payment, actor=self._owner, note="Transfer ke pelanggan")

    def _hand_over(self, shift: Shift, to: User) -> Shift:
        self._bring_to_float(shift)
        return hand_over(shift, to=to, pieces=_COUNT, actor=shift.cashier)

    def _bring_to_float(self, shift: Shift) -> None:
        if (more := expected_cash(shift) - _FLOAT) > 0:
            pay_out(shift, amount=more, reason="Setor ke brankas", actor=shift.cashier)
        elif more < 0:
            pay_in(shift, amount=-more, reason="Dari brankas", actor=shift.cashier)

    def _uneven(self, products: list[Product]) -> Product:
        """One of the products; the n-th is picked about 1/n as often as the first."""
        return self._random.choices(products, [1 / (place + 2) for place in range(len(products))])[0]

    def _destination(self, product: Product) -> str:
        """A number of the product's kind, of a new customer."""
        digits = f"{self._random.randrange(10**8):08d}"
        example = product.kind.clean(product.kind.placeholder)
        is_phone = product.kind.is_phone_number(example)
        return self._random.choice(_PREFIXES) + digits if is_phone else digits + example[8:]


@contextmanager
def provider_in_process(balance: int) -> Iterator[Provider]:
    """Let the services call a `Provider` instead of the upstream."""
    provider = Provider(balance)
    with mock.patch.object(calling, "get_client", return_value=provider):
        yield provider


@transaction.atomic
def _cashier(number: int, name: str) -> User:
    """A cashier who cannot sign in."""
    facts = {"first_name": name, "is_demo": True}
    person: User
    person, is_new = User.objects.get_or_create(username=f"kasir-{number:02d}", defaults=facts)
    if is_new:
        person.set_unusable_password()
        person.save(update_fields=["password"])
        person.groups.add(Group.objects.get(name="cashier"))
        record(STAFF_INVITED, subject=person.username, after={"role": "cashier"}, facts={"demo": True})
    return person
