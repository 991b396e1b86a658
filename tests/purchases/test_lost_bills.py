"""After a restore: bills that were paid in the lost time come back with their checks, and none is paid twice."""

import pytest
from django.db import transaction

from approvals.models import Approval, ApprovalState
from bills.models import BillCheck
from bills.services import inquire_again, pay_again, take_in_lost
from bills.services.paying import cancel_expired, lock_check_for_payment
from gateway.services import open_restored
from purchases.errors import ActionRefused
from purchases.models import Order
from purchases.services import cancel_order, submit
from purchases.services.polling import follow
from purchases.states import ActionReason, Status
from staff.models import User
from testing.orders import Meanwhile
from tests.approvals.helpers import approve, approver, ask_bill, cashier
from tests.bills import helpers as bills
from tests.conftest import Upstream
from tests.purchases.magic import Lost, ask, killed
from upstream.budget import CallClass

pytestmark = pytest.mark.usefixtures("sent_folder")

INTERACTIVE = CallClass.INTERACTIVE


@pytest.fixture
def not_taken_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Orders of the journal wait after the restore."""
    monkeypatch.setattr("backoffice.management.commands.hold_restored.take_in_lost", lambda: 1)


def test_a_bill_comes_back_with_its_check_and_is_not_paid_again(upstream: Upstream):
    asked_before = bills.check_bill(1)
    with Lost():
        checks = [asked_before, bills.check_bill(15)]
        for check in checks:
            submit(bills.place(check).pk, call_class=INTERACTIVE)

    for check in checks:
        order = follow(Order.objects.get(ref_id=check.ref_id), seconds=10)

        kept = BillCheck.objects.get(ref_id=check.ref_id)
        assert (kept.order, kept.total, kept.customer_name) == (order, check.total, check.customer_name)
        assert order.status == Status.SUCCESS
        assert upstream.ledger(order) == [("debit", -order.price)]
        assert len(upstream.calls(order, "pay")) == 1


def test_a_bill_that_is_paid_while_it_is_taken_in_is_paid_once(upstream: Upstream, not_taken_in):
    check = bills.check_bill(1)
    with Lost():
        submit(bills.place(check).pk, call_class=INTERACTIVE)

    with transaction.atomic():
        lock_check_for_payment(check.pk)
        taking = Meanwhile(take_in_lost)
        assert taking.is_blocked_by_us()
        bills.place(check)
    taking.end()

    order = follow(Order.objects.get(), seconds=10)
    assert (order.ref_id, order.status) == (check.ref_id, Status.SUCCESS)
    assert upstream.ledger(order) == [("debit", -order.price)]
    assert len(upstream.calls(order, "pay")) == 1


def test_while_its_approval_is_decided_a_lost_bill_locks_no_check(upstream: Upstream, not_taken_in):
    check, budi = bills.check_bill(1), approver()
    approval = ask_bill(check, cashier(own_approval_above=1_000))
    with Lost():
        approve(approval, budi)
        submit(Order.objects.get().pk, call_class=INTERACTIVE)

    with transaction.atomic():
        Approval.objects.select_for_update().get()
        taking = Meanwhile(take_in_lost)
        assert taking.is_blocked_by_us()
        list(BillCheck.objects.select_for_update(nowait=True))
    taking.end()

    assert BillCheck.objects.get().order == Order.objects.get()
    assert Approval.objects.get().state == ApprovalState.APPROVED


def test_a_bill_that_has_risen_in_the_lost_time_comes_back_as_it_was_paid(upstream: Upstream):
    check = bills.check_bill(34)
    before = check.total
    with Lost():
        rejected = bills.place(check)
        submit(rejected.pk, call_class=INTERACTIVE)
        inquire_again(check, actor=None)
        check.refresh_from_db()
        pay_again(rejected, amount=check.total or 0, actor=None, enqueue=False)
        submit(rejected.pk, call_class=INTERACTIVE)

    order = follow(Order.objects.get(ref_id=check.ref_id), seconds=10)

    kept = BillCheck.objects.get(ref_id=check.ref_id)
    assert before != kept.total == order.max_price == order.price
    assert sum(line["amount"] + line["penalty"] for line in kept.details) + (kept.admin_fee or 0) == kept.total


def test_a_bill_that_never_left_waits_for_a_person(upstream: Upstream, monkeypatch, settings):
    settings.ORDER_NOT_FOUND_GRACE_SECONDS = 0.0
    check = bills.check_bill(1)
    monkeypatch.setattr("gateway.services.call", killed)
    with Lost(), pytest.raises(KeyboardInterrupt):
        submit(bills.place(check).pk, call_class=INTERACTIVE)
    monkeypatch.undo()

    order = ask(Order.objects.get(), times=3)

    assert order.action_reason == ActionReason.NEVER_ARRIVED
    assert upstream.calls(order, "pay") == []


def test_a_bill_whose_new_total_was_paid_in_the_lost_time_is_not_cancelled(upstream: Upstream):
    # given: the customer confirms a risen total, and the bill is paid; this database has the old total
    check = bills.check_bill(34)
    order = bills.place(check)
    submit(order.pk, call_class=INTERACTIVE)
    with Lost():
        inquire_again(check, actor=None)
        check.refresh_from_db()
        pay_again(order, amount=check.total or 0, actor=None, enqueue=False)
        submit(order.pk, call_class=INTERACTIVE)
        assert follow(order, seconds=5).status == Status.SUCCESS
    bills.expire(check)

    cancel_expired(10)
    order = Order.objects.get()
    assert (order.status, order.action_reason) == (Status.NEEDS_ACTION, ActionReason.AMOUNT_MISMATCH)

    # when: a person cancels it
    with pytest.raises(ActionRefused):
        cancel_order(order, actor=User.objects.create_superuser("owner"))

    order = follow(order, seconds=5)
    assert order.status == Status.SUCCESS
    assert upstream.ledger(order) == [("debit", -order.price)]


def test_a_queued_bill_that_was_cancelled_in_the_lost_time_is_not_paid(upstream: Upstream, settings):
    settings.ORDER_NOT_FOUND_GRACE_SECONDS = 0.0
    order = bills.place(bills.check_bill(1))
    with Lost():
        cancel_order(order, actor=User.objects.create_superuser("owner"))
    open_restored(actor=User.objects.create_superuser("owner"))

    order = ask(order, times=3)

    assert order.action_reason == ActionReason.NEVER_ARRIVED
    assert upstream.calls(order, "pay") == []
