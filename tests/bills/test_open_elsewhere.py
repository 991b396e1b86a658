"""A check is not payable while another check of the same bill has an open payment."""

import datetime as dt

import pytest
from django.utils import timezone

from bills.models import BillCheck
from bills.states import Standing
from purchases.errors import OpenDuplicate
from purchases.models import Order
from purchases.states import FINAL, POLLED, ActionReason, Status
from testing.factories import make_check, make_payment
from tests.bills.helpers import place, read

pytestmark = pytest.mark.django_db


def pair(status: Status, reason: str = "", *, is_valid: bool = True) -> tuple[Order, BillCheck]:
    """The payment of an older check, which may have expired, and a newer check of the same bill with another month."""
    first = make_check(period="Okt 2026", details=[])
    order = make_payment(first, status, action_reason=reason)
    if not is_valid:
        BillCheck.objects.filter(pk=first.pk).update(expires_at=timezone.now() - dt.timedelta(seconds=1))
    return order, make_check(product=first.product, details=[])


def stands(check: BillCheck) -> tuple[str | None, str]:
    """The open payment that blocks the check, and the check's standing."""
    fresh = read(check)
    return fresh.open_ref, fresh.now_standing


def test_a_payment_that_is_under_way_is_waited_for():
    for status, is_valid in ((Status.PENDING, True), *((status, False) for status in sorted(POLLED | {Status.QUEUED}))):
        order, check = pair(status, is_valid=is_valid)
        assert stands(check) == (order.ref_id, Standing.OPEN_ELSEWHERE), status
        with pytest.raises(OpenDuplicate, match=order.ref_id):
            place(check)


WAITING = [
    (ActionReason.AMOUNT_MISMATCH, True, False, False),
    (ActionReason.BALANCE_SHORT, True, False, False),
    (ActionReason.NEVER_ARRIVED, True, False, False),
    (ActionReason.NEVER_ARRIVED, False, False, False),
    (ActionReason.AMOUNT_MISMATCH, False, True, False),
    (ActionReason.AMOUNT_MISMATCH, False, False, True),
]


def test_a_payment_gives_way_only_if_never_sent_again():
    for reason, is_valid, in_doubt, gives_way in WAITING:
        case = (reason, is_valid, in_doubt)
        order, check = pair(Status.NEEDS_ACTION, reason, is_valid=is_valid)
        if in_doubt:
            Order.objects.filter(pk=order.pk).update(sent_no=1)

        if gives_way:
            assert stands(check) == (None, Standing.PAYABLE), case
            place(check)
            order.refresh_from_db()
            assert order.status == Status.CANCELLED, case
        else:
            assert stands(check) == (order.ref_id, Standing.OPEN_ELSEWHERE), case
            with pytest.raises(OpenDuplicate, match=order.ref_id):
                place(check)


def test_an_ended_payment_is_in_nobodys_way():
    for status in sorted(FINAL):
        _, check = pair(status)

        assert stands(check) == (None, Standing.PAYABLE), status


def test_the_own_payment_and_another_customers_are_no_others():
    check = make_check()
    make_payment(check, Status.NEEDS_ACTION, action_reason=ActionReason.AMOUNT_MISMATCH)
    make_payment(make_check(product=check.product, destination="9999999999"), Status.PENDING)

    assert stands(check) == (None, Standing.TOTAL_CHANGED)
