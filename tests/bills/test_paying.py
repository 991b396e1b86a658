"""A bill is paid once, for exactly the confirmed total, even if something fails on the way.

The statements of /v1/bill/pay, from the merchant's side (from the service's side: docs/upstream-api.md):
 1, 2  test_a_payment_carries_ref_id_and_total_and_succeeds
 3     by status the same; by callback test_a_success_by_callback_before_the_answer_stays (test_races.py)
 4     test_an_accepted_failure_is_refunded_and_checked_again
 5     test_a_lost_payment_is_polled_then_repeated_identically,
       test_two_people_paying_the_same_check_at_once_pay_it_once (test_races.py)
 6     test_an_expired_check_is_not_paid_and_a_new_has_a_new_ref, test_an_expiry_on_the_way_rejects_the_payment
 7     test_a_payment_waits_for_an_inquiry_that_is_pending
 8     test_a_definite_no_rejects_the_payment (38)
The inquiry's states: tests/bills/test_checking.py.
"""

import datetime as dt
import json

import pytest
from django.utils import timezone

from bills import services
from bills.errors import AlreadyPaid, CheckExpired, TotalChanged
from bills.models import BillCheck
from bills.services import paying
from bills.states import BillState
from gateway.services import call
from purchases.errors import ActionRefused
from purchases.models import Order
from purchases.services import submit
from purchases.services.polling import follow
from purchases.states import ActionReason, Status
from testing.factories import make_payment, moves
from testing.orders import at_once
from testing.sandbox_process import eventually
from tests.bills.helpers import check_bill, place
from tests.conftest import Upstream
from upstream import requests
from upstream.budget import CallClass

PAY, STATUS, INQUIRY = "/v1/bill/pay", "/v1/transaction/status", "/v1/bill/inquiry"


def pay(check: BillCheck, *, wait: float = 5.0) -> Order:
    """Place, send and follow a payment, as the command does."""
    order = place(check)
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    return follow(order, seconds=wait)


def test_a_payment_carries_ref_id_and_total_and_succeeds(upstream: Upstream):
    check = check_bill(1)

    order = pay(check)

    assert (order.status, order.kind, order.ref_id) == ("success", "bill", check.ref_id)
    assert (order.max_price, order.price) == (check.total, check.total)
    assert order.sn
    assert check.state == BillState.PAID
    assert upstream.ledger(order) == [("debit", -check.total)]
    assert upstream.calls(order, "pay") == [PAY]
    sent = upstream.control("requests", ref_id=check.ref_id, endpoint=PAY)["requests"][0]["body"]
    assert json.loads(sent)["amount"] == check.total
    with pytest.raises(ActionRefused):
        services.pay_again(order, amount=check.total, actor=None)


def test_an_accepted_failure_is_refunded_and_checked_again(upstream: Upstream):
    check = check_bill(4)

    order = pay(check)

    assert order.status == Status.FAILED
    assert upstream.ledger(order) == [("debit", -check.total), ("refund", check.total)]
    assert check.state == BillState.NOT_PAYABLE
    with_new_ref_id = check_bill(4)
    assert with_new_ref_id.state == BillState.VALID
    assert place(with_new_ref_id).ref_id != order.ref_id


LOST = {"cut": 5, "hang": 6, "500": 7, "broken": 8, "other ref": 9, "float": 10}


def test_a_lost_answer_is_asked_for_by_status_and_paid_once(upstream: Upstream):
    for lost, number in LOST.items():
        check = check_bill(number)
        order = place(check)
        submit(order.pk, call_class=CallClass.INTERACTIVE)
        order.refresh_from_db()
        assert order.status == Status.UNKNOWN, lost

        order = follow(order, seconds=10)

        assert order.status == Status.SUCCESS, lost
        assert upstream.ledger(order) == [("debit", -check.total)], lost
        assert upstream.calls(order, "pay") == [PAY], lost


def test_a_lost_payment_is_polled_then_repeated_identically(upstream: Upstream):
    check = check_bill(11)

    order = pay(check, wait=10)

    assert order.status == Status.SUCCESS
    calls = [name for name in upstream.calls(order) if name != INQUIRY]
    assert calls[:3] == [PAY, STATUS, PAY]
    bodies = [row["body"] for row in upstream.control("requests", ref_id=check.ref_id, endpoint=PAY)["requests"]]
    assert bodies[0] == bodies[1]
    assert upstream.ledger(order) == [("debit", -check.total)]
    assert ("unknown", "queued", "poll") in moves(order)


def test_a_repeated_payment_that_arrives_late_is_charged_once(upstream: Upstream):
    check = check_bill(12)

    order = pay(check, wait=15)

    assert order.status == Status.SUCCESS
    assert upstream.ledger(order) == [("debit", -check.total)]


def test_a_changed_total_is_paid_only_when_it_is_confirmed(upstream: Upstream):
    check = check_bill(34)
    old = check.total
    order = pay(check)
    assert (order.status, order.action_reason) == ("needs_action", ActionReason.AMOUNT_MISMATCH)
    assert upstream.ledger(order) == []

    services.inquire_again(check, actor=None)
    check.refresh_from_db()
    assert check.total == old + 2_500
    with pytest.raises(TotalChanged) as refusal:
        services.pay_again(order, amount=old, actor=None)
    assert refusal.value.total == check.total

    order = services.pay_again(order, amount=check.total, actor=None, enqueue=False)
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    order = follow(order, seconds=5)

    assert order.status == Status.SUCCESS
    assert upstream.ledger(order) == [("debit", -check.total)]


def test_an_expired_check_is_not_paid_and_a_new_has_a_new_ref(upstream: Upstream):
    check = check_bill(1)
    BillCheck.objects.filter(pk=check.pk).update(expires_at=timezone.now())

    with pytest.raises(CheckExpired):
        place(check)

    assert not Order.objects.exists()
    assert check_bill(1).ref_id != check.ref_id
    assert BillCheck.objects.get(pk=check.pk).state == BillState.EXPIRED


def test_an_expiry_on_the_way_rejects_the_payment(upstream: Upstream):
    check = check_bill(33)
    # Our clock is behind the upstream's.
    BillCheck.objects.filter(pk=check.pk).update(expires_at=timezone.now() + dt.timedelta(minutes=5))
    upstream_expired = check.expires_at

    order = place(BillCheck.objects.get(pk=check.pk))
    eventually(lambda: timezone.now() > upstream_expired)
    submit(order.pk, call_class=CallClass.INTERACTIVE)

    order.refresh_from_db()
    assert (order.status, order.error_code) == ("rejected", "INQUIRY_EXPIRED")
    assert upstream.ledger(order) == []
    check.refresh_from_db()
    assert (check.state, check.answer) == (BillState.NOT_PAYABLE, "bill")


def test_a_definite_no_rejects_the_payment(upstream: Upstream):
    for number, code in ((37, "BILL_ALREADY_PAID"), (38, "BILL_NOT_FOUND")):
        order = pay(check_bill(number))

        assert (order.status, order.error_code) == ("rejected", code)
        assert upstream.ledger(order) == []


def test_a_short_balance_is_paid_with_the_same_ref_id_later(upstream: Upstream):
    check = check_bill(20)
    order = pay(check)
    assert (order.status, order.action_reason) == ("needs_action", ActionReason.BALANCE_SHORT)

    upstream.control("topup", amount=5_000_000)
    first, second = (services.pay_again(order, amount=check.total, actor=None, enqueue=False) for _ in range(2))
    assert (first.pk, second.pk, second.status) == (order.pk, order.pk, "queued")
    submit(order.pk, call_class=CallClass.INTERACTIVE)
    order = follow(order, seconds=5)

    assert (order.status, order.ref_id) == ("success", check.ref_id)
    assert upstream.calls(order, "pay") == [PAY, PAY]
    assert upstream.ledger(order) == [("debit", -check.total)]


def test_a_payment_waits_for_an_inquiry_that_is_pending(upstream: Upstream):
    """The person has confirmed the known total, but the service is not ready: the order waits (/v1/bill/pay 7)."""
    check = check_bill(32, wait=0.2)
    known = check_bill(1)
    BillCheck.objects.filter(pk=check.pk).update(
        answer="bill",
        answered_at=timezone.now(),
        next_poll_at=None,
        amount=known.amount,
        admin_fee=known.admin_fee,
        penalty=known.penalty,
        total=known.total,
        expires_at=timezone.now() + dt.timedelta(minutes=5),
    )

    order = pay(BillCheck.objects.get(pk=check.pk), wait=0.5)

    assert (order.status, order.error_code) == ("queued", "INQUIRY_PENDING")
    assert order.next_poll_at > timezone.now()
    assert upstream.ledger(order) == []

    upstream.control("settle", ref_id=check.ref_id, status="valid")
    request = requests.bill_inquiry(ref_id=check.ref_id, product_code=check.product_code, destination=check.destination)
    upstream_total = call(request, call_class=CallClass.INTERACTIVE)
    total = upstream_total.data.total
    Order.objects.filter(pk=order.pk).update(next_poll_at=timezone.now(), max_price=total, selling_price=total)
    order = follow(Order.objects.get(pk=order.pk), seconds=20)
    assert order.status == Status.SUCCESS
    assert upstream.ledger(order) == [("debit", -order.max_price)]


def test_a_month_paid_between_look_and_insert_is_not_paid(upstream: Upstream, monkeypatch):
    first, second = check_bill(1), check_bill(1)
    real, paid = paying.queue_order, []

    def pays_the_first_before(**facts):
        paid.extend(at_once(lambda: make_payment(first, Status.SUCCESS)))
        return real(**facts)

    monkeypatch.setattr(paying, "queue_order", pays_the_first_before)
    with pytest.raises(AlreadyPaid) as refusal:
        place(second)

    assert [refusal.value.order] == paid == [Order.objects.get()]


def test_a_refused_repetition_waits_for_the_grace_period(upstream: Upstream):
    """The first sending is lost; the answer "already paid" to the second may be about the first."""
    check = check_bill(37)
    order = place(check)
    Order.objects.filter(pk=order.pk).update(attempt=1, sent_no=1)

    submit(order.pk, call_class=CallClass.INTERACTIVE)
    order = follow(order, seconds=2)

    assert (order.status, order.error_code) == ("unknown", "BILL_ALREADY_PAID")
    assert upstream.calls(order, "pay") == [PAY]
