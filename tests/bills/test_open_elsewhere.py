"""A bill whose other check has an open payment is not payable with this one, until that payment has ended."""

import datetime as dt

import pytest
from django.utils import timezone

from bills import services
from bills.models import BillCheck, State
from purchases.errors import OpenDuplicate
from purchases.models import Order, OrderEvent
from purchases.order_life import ASKED_ABOUT, FINAL, HoldReason, Status
from tests.factories import make_check, make_payment

pytestmark = pytest.mark.django_db

NOT_PAYABLE, PAYABLE = (State.NOT_PAYABLE, "not_payable"), (State.VALID, "valid")


def pair(status: Status, reason: str = "", *, lives: bool = True) -> tuple[Order, BillCheck]:
    """The payment of an older check, which may have expired, and a newer check of the same bill with another month."""
    first = make_check(period="Okt 2026", details=[])
    order = make_payment(first, status, hold_reason=reason)
    if not lives:
        BillCheck.objects.filter(pk=first.pk).update(expires_at=timezone.now() - dt.timedelta(seconds=1))
    return order, make_check(product=first.product, details=[])


def told(check: BillCheck) -> tuple[State, str]:
    """What the check says of itself, and what the list says of it."""
    return BillCheck.objects.get(pk=check.pk).state, BillCheck.objects.with_state().get(pk=check.pk).now_state


def pay(check: BillCheck) -> Order:
    return services.pay_bill(check, amount=check.total or 0, paid_by=None, enqueue=False)


@pytest.mark.parametrize("status", sorted(ASKED_ABOUT | {Status.QUEUED}))
@pytest.mark.parametrize("lives", [True, False])
def test_a_payment_that_is_under_way_is_waited_for(status, lives):
    order, check = pair(status, lives=lives)

    assert (check.open_elsewhere, told(check)) == (order, NOT_PAYABLE)
    with pytest.raises(OpenDuplicate, match=order.ref_id):
        pay(check)


@pytest.mark.parametrize(
    ("reason", "lives", "in_doubt", "gives_way"),
    [
        (HoldReason.AMOUNT_MISMATCH, True, False, False),
        (HoldReason.BALANCE_SHORT, True, False, False),
        (HoldReason.NEVER_ARRIVED, True, False, False),
        (HoldReason.NEVER_ARRIVED, False, False, False),
        (HoldReason.AMOUNT_MISMATCH, False, True, False),
        (HoldReason.AMOUNT_MISMATCH, False, False, True),
    ],
)
def test_a_held_payment_gives_way_only_when_it_can_certainly_never_be_sent_again(reason, lives, in_doubt, gives_way):
    order, check = pair(Status.HELD, reason, lives=lives)
    if in_doubt:
        OrderEvent.objects.create(order=order, from_status="sending", to_status="unknown", source="submit")

    if gives_way:
        assert (check.open_elsewhere, told(check)) == (None, PAYABLE)
        pay(check)
        order.refresh_from_db()
        assert order.status == Status.CANCELLED
    else:
        assert (check.open_elsewhere, told(check)) == (order, NOT_PAYABLE)
        with pytest.raises(OpenDuplicate, match=order.ref_id):
            pay(check)


@pytest.mark.parametrize("status", sorted(FINAL))
def test_a_payment_that_has_ended_keeps_nobody_from_paying_the_next_bill(status):
    _, check = pair(status)

    assert (check.open_elsewhere, told(check)) == (None, PAYABLE)


def test_the_own_payment_and_another_customers_are_no_others():
    check = make_check()
    make_payment(check, Status.HELD, hold_reason=HoldReason.AMOUNT_MISMATCH)
    make_payment(make_check(product=check.product, destination="9999999999"), Status.PENDING)

    assert (check.open_elsewhere, told(check)) == (None, PAYABLE)
