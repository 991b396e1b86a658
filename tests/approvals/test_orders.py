"""Orders above a person's limit: nothing is placed before a second person has approved exactly this order."""

import datetime as dt
import uuid

import pytest
from django.utils import timezone

from approvals.errors import AlreadyAsked
from approvals.models import Approval
from bills.models import BillCheck
from bills.services import pay_bill
from ledger.services import books
from purchases.errors import AboveLimit, BalanceShort
from purchases.models import Order
from purchases.states import ActionReason, Status
from testing.factories import make_check, make_order, make_product, moves
from testing.orders import at_once
from testing.people import make_person
from tests.approvals.helpers import NUMBER, approve, approver, ask_bill, ask_order, place
from tests.ledger.helpers import open_books

pytestmark = pytest.mark.django_db


def test_given_an_approval_then_the_order_is_the_askers_once(sari):
    open_books(1_000_000)
    product, key, budi = make_product(price=12_000), str(uuid.uuid4()), approver()
    approval = ask_order(product, sari, idempotency_key=key)
    assert ask_order(product, sari, idempotency_key=key) == approval
    with pytest.raises(AlreadyAsked):  # another form for the same
        ask_order(product, sari)

    decided = approve(approval, budi)

    order = Order.objects.get()
    assert decided.result == order.ref_id == approval.facts["ref_id"]
    assert (order.status, order.placed_by, order.max_price) == ("queued", sari, 12_000)
    assert moves(order) == [("", "queued", "staff")]
    assert order.events.get().facts == {"code": "approved", "approval": approval.pk, "by": "budi"}
    assert books().reserved == 12_000
    assert place(product, sari, idempotency_key=key) == order
    assert (Approval.objects.count(), Order.objects.count()) == (1, 1)


def test_given_another_product_now_then_it_is_void(sari):
    now, budi = timezone.localtime(), approver()
    start, end = ((now + dt.timedelta(minutes=minutes)).time() for minutes in (-5, 5))
    for change, found in (
        ({"price": 12_500}, {"price": [12_000, 12_500], "selling_price": [12_000, 12_500]}),
        ({"price": 11_500}, {"price": [12_000, 11_500], "selling_price": [12_000, 11_500]}),
        ({"selling_price": 13_000}, {"selling_price": [12_000, 13_000]}),
        ({"name": "Another"}, {"product_name": ["Telkomsel 10.000", "Another"]}),
        ({"availability": "inactive"}, "NotForSale:unavailable"),
        ({"is_listed": False}, "NotForSale:delisted"),
        ({"cut_off_start": start, "cut_off_end": end}, "NotForSale:cut_off"),
    ):
        product = make_product(price=12_000)
        approval = ask_order(product, sari)
        type(product).objects.filter(pk=product.pk).update(**change)

        decided = approve(approval, budi)

        assert decided.state == "void", change
        assert decided.changes == found or decided.changes["code"] == found, change
        assert not Order.objects.exists(), change


def test_given_the_same_was_bought_meanwhile_then_it_is_void(sari):
    budi = approver()
    for status, code in ((Status.PENDING, "OpenDuplicate"), (Status.SUCCESS, "RepeatToday")):
        product = make_product(price=12_000)
        approval = ask_order(product, sari)
        make_order(status, product=product, destination=NUMBER)

        decided = approve(approval, budi)

        assert (decided.state, decided.changes["code"]) == ("void", code)
        assert Order.objects.filter(product=product).count() == 1


def test_given_a_short_balance_then_it_stays_open_unless_it_waits(sari):
    open_books(5_000)
    product, budi = make_product(price=12_000), approver()
    approval = ask_order(product, sari)

    with pytest.raises(BalanceShort):
        approve(approval, budi)

    approval.refresh_from_db()
    assert approval.is_open
    assert not Order.objects.exists()
    other = ask_order(make_product(price=13_000), sari, wait_for_topup=True)
    assert Order.objects.get(ref_id=approve(other, budi).result).action_reason == ActionReason.BALANCE_SHORT


def test_given_an_approvers_own_limit_then_no_more_is_approved(sari):
    approval = ask_order(make_product(price=12_000), sari)
    person = make_person("admin", username="small", own_per_order=11_999)

    with pytest.raises(AboveLimit):
        approve(approval, person)
    assert not Order.objects.exists()


def test_given_a_bill_above_the_limit_then_it_waits_and_is_paid(sari):
    open_books(1_000_000)
    check = make_check()

    approval = ask_bill(check, sari)
    assert approval.expires_at == check.expires_at
    assert not Order.objects.exists()
    decided = approve(approval, approver())

    order = Order.objects.get()
    assert decided.result == order.ref_id == check.ref_id
    assert (order.kind, order.placed_by, order.max_price) == ("bill", sari, 102_500)
    assert BillCheck.objects.get().order == order
    assert ask_again(check, sari) == order


def ask_again(check, person) -> Order:
    return pay_bill(check, amount=check.total, paid_by=person)


def test_given_a_bill_that_changed_expired_or_was_paid_then_its_approval_is_over(sari, time_machine):
    other_total, paid, late = checks = [make_check(), make_check(), make_check()]
    approvals, budi = [ask_bill(check, sari) for check in checks], approver()

    BillCheck.objects.filter(pk=other_total.pk).update(total=110_000, amount=107_500)
    decided = approve(approvals[0], budi)
    assert (decided.state, decided.changes["price"]) == ("void", [102_500, 110_000])
    assert not Order.objects.exists()

    pay_bill(paid, amount=paid.total, paid_by=None)
    assert approve(approvals[1], budi).changes["code"] == "AlreadyPaid"
    assert Order.objects.count() == 1

    time_machine.move_to(late.expires_at + dt.timedelta(seconds=1))
    assert approve(approvals[2], budi).state == "expired"
    assert Order.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_given_two_approvers_at_once_then_one_order_is_placed(sari):
    open_books(1_000_000)
    approval = ask_order(make_product(price=12_000), sari)
    people = [approver(f"approver-{n}") for n in range(5)]

    results = at_once(*(lambda person=person: approve(approval, person) for person in people))

    assert Order.objects.count() == 1
    assert books().reserved == 12_000
    assert sorted(type(result).__name__ for result in results) == ["Approval"] + ["ApprovalRefused"] * 4


@pytest.mark.django_db(transaction=True)
def test_given_approval_and_another_sale_at_once_then_one_order_is_open(sari):
    open_books(1_000_000)
    product, budi = make_product(price=12_000), approver()
    approval = ask_order(product, sari)

    at_once(lambda: approve(approval, budi), lambda: place(product, budi))

    approval.refresh_from_db()
    assert Order.objects.count() == 1
    assert books().reserved == 12_000
    assert (approval.state == "approved") == (Order.objects.get().placed_by == sari)
