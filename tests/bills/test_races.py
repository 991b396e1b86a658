"""Races about one bill, on real connections."""

import datetime as dt

import pytest
from django.db import transaction
from django.utils import timezone

from bills import services
from bills.errors import CheckExpired
from bills.models import BillCheck
from bills.services.paying import cancel_expired
from core.errors import OrderRefused
from drawers.models import Shift
from drawers.services.payments import lock_payment
from purchases.models import Incident, Order
from purchases.services import submit
from purchases.services.polling import follow
from purchases.states import ActionReason, Status
from testing.factories import make_check, make_order, moves
from testing.orders import CALLBACK, Meanwhile, at_once, report
from tests.bills.helpers import check_bill
from tests.conftest import Upstream
from tests.drawers.helpers import begin
from upstream.budget import CallClass
from upstream.client import Client

PAY = "/v1/bill/pay"


def _pay_and_send(check: BillCheck) -> Order:
    order = services.pay_bill(check, amount=check.total or 0, paid_by=None, enqueue=False)
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    return order


def test_two_people_paying_the_same_check_at_once_pay_it_once(upstream: Upstream):
    check = check_bill(3)

    orders = at_once(*[lambda: _pay_and_send(check)] * 4)

    assert {order.pk for order in orders} == {Order.objects.get().pk}
    assert upstream.calls(orders[0], "pay") == [PAY]
    assert upstream.ledger(orders[0]) == [("debit", -check.total)]


def test_pay_and_expiry_at_once_are_either_paid_or_refused(upstream: Upstream):
    check = check_bill(3)
    moment = timezone.now() + dt.timedelta(milliseconds=30)
    BillCheck.objects.filter(pk=check.pk).update(expires_at=moment)

    results = at_once(*[lambda: services.pay_bill(check, amount=check.total or 0, paid_by=None, enqueue=False)] * 3)

    orders = {result.pk for result in results if isinstance(result, Order)}
    assert len(orders) == Order.objects.count() <= 1
    assert all(isinstance(result, Order | CheckExpired) for result in results)


def test_a_success_by_callback_before_the_answer_stays(upstream: Upstream, monkeypatch):
    check = check_bill(3)
    order = services.pay_bill(check, amount=check.total or 0, paid_by=None, enqueue=False)
    real = Client.send

    def callback_first(self, *args):
        answer = real(self, *args)
        at_once(lambda: report(order, sn="STRUK-1", trx_id=answer.data.trx_id, source=CALLBACK))
        return answer

    monkeypatch.setattr(Client, "send", callback_first)
    submit(order.pk, call_class=CallClass.INTERACTIVE)

    order.refresh_from_db()
    assert (order.status, order.sn) == ("success", "STRUK-1")
    assert [to for _, to, _ in moves(order)] == ["queued", "sending", "success"]
    assert not Incident.objects.exists()
    assert upstream.ledger(order) == [("debit", -check.total)]


def test_two_checks_of_a_bill_paid_at_once_are_one_payment(upstream: Upstream):
    older, newer = check_bill(3), check_bill(3)

    results = at_once(lambda: _pay_and_send(older), lambda: _pay_and_send(newer))

    assert [isinstance(result, OrderRefused) for result in results] == [True, False]
    assert Order.objects.open().count() == 1
    charged = [row for row in upstream.control("ledger")["mutations"] if row["kind"] == "debit"]
    assert len(charged) == 1


def test_an_answer_while_it_is_paid_keeps_the_total(upstream: Upstream):
    check = check_bill(34)
    confirmed = check.total

    results = at_once(
        lambda: services.pay_bill(check, amount=confirmed, paid_by=None, enqueue=False),
        lambda: services.inquire_again(check, actor=None),
    )

    order = next((result for result in results if isinstance(result, Order)), None)
    assert order is not None
    assert order.max_price == confirmed


def test_many_workers_on_one_doubtful_payment_charge_it_once(upstream: Upstream):
    for number in (5, 11):
        check = check_bill(number)
        order = services.pay_bill(check, amount=check.total or 0, paid_by=None, enqueue=False)

        at_once(*[lambda pk=order.pk: submit(pk, call_class=CallClass.INTERACTIVE)] * 3)
        at_once(*[lambda pk=order.pk: follow(Order.objects.get(pk=pk), seconds=8)] * 3)

        order.refresh_from_db()
        assert order.status == Status.SUCCESS, number
        assert upstream.ledger(order) == [("debit", -check.total)], number


@pytest.mark.django_db(transaction=True)
def test_a_cancelled_bill_leaves_its_shift_before_the_next_is_locked():
    shift, orders = begin(), []
    for number in ("1234567890", "1234567891"):
        check = make_check(destination=number, expires_at=timezone.now() - dt.timedelta(seconds=1))
        order = make_order(
            "needs_action",
            kind="bill",
            ref_id=check.ref_id,
            product=check.product,
            destination=number,
            max_price=102_500,
            action_reason=ActionReason.PRICE_CHANGED,
            placed_by=shift.cashier,
        )
        BillCheck.objects.filter(pk=check.pk).update(order=order)
        orders.append(order)

    with transaction.atomic():
        lock_payment(orders[1].payment_id)
        cancelling = Meanwhile(lambda: cancel_expired(10))
        assert cancelling.is_blocked_by_us()
        Shift.objects.select_for_update(no_key=True, nowait=True).get()
    cancelling.end()

    assert {order.status for order in Order.objects.all()} == {Status.CANCELLED}
