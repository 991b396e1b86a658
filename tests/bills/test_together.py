"""One customer pays several bills at once: each is paid once, and the cash fits the placed orders."""

import uuid

import pytest

from approvals.models import Approval
from bills.models import BillCheck
from bills.services import SeenBill, pay_together, place_payment
from credit.errors import CreditRefused
from drawers.models import Payment
from drawers.services import PaymentFacts
from gateway.models import Exchange
from purchases.models import Order
from staff.models import User
from testing.database import undone
from testing.factories import make_check
from testing.people import make_person
from tests.credit.helpers import give_credit, owed_by
from tests.ledger.helpers import entries_of_orders, open_books

pytestmark = pytest.mark.django_db

GIVEN = 400_000


@pytest.fixture
def seller():
    open_books(1_000_000)
    return make_person("cashier")


@pytest.fixture
def bills():
    """Three bills of Rp102.500 each, as a person has seen them."""
    return [SeenBill(make_check(destination=f"1111{n}"), 102_500, 0) for n in range(3)]


def pay(bills, seller, *, cash_given=GIVEN):
    return pay_together(bills, paid_by=seller, payment=PaymentFacts(cash_given=cash_given))


def raise_total(bill):
    """Raise the total, as the biller may after a person has seen the bill."""
    BillCheck.objects.filter(pk=bill.check.pk).update(total=110_000)


def paid():
    """The payments in their order: the bill, and the cash given for it."""
    numbers = dict(Order.objects.values_list("ref_id", "destination"))
    rows = Payment.objects.order_by("pk").values_list("ref_id", "amount", "cash_given")
    assert all(amount == 102_500 for _ref_id, amount, _given in rows)
    return [(numbers[ref_id][-1], given) for ref_id, _amount, given in rows]


def assert_only_reserved(orders: int) -> None:
    """Assert that so many payments are queued, each with its reservation, and nothing was sent."""
    assert list(Order.objects.values_list("status", flat=True)) == ["queued"] * orders
    assert entries_of_orders() == [("hold", 102_500)] * orders
    assert not Exchange.objects.filter(endpoint="bill_pay").exists()


GIVEN_FOR = [
    ([], [("0", 195_000), ("1", 102_500), ("2", 102_500)]),
    ([2], [("0", 297_500), ("1", 102_500)]),
    ([0], [("1", 297_500), ("2", 102_500)]),
    ([0, 1], [("2", 400_000)]),
    ([0, 1, 2], []),
]


def test_what_is_given_is_all_of_the_placed_payments(bills, seller):
    for refused, expected in GIVEN_FOR:
        with undone():
            for number in refused:
                raise_total(bills[number])

            came = pay(bills, seller)

            assert paid() == expected, refused
            assert not expected or sum(given for _bill, given in expected) == GIVEN
            assert [refusal.code for refusal in came.refusals.values()] == ["TotalChanged"] * len(refused)
            assert_only_reserved(len(expected))


def test_pressed_again_nothing_is_paid_or_noted_twice(bills, seller):
    pay(bills, seller)
    before = paid()

    again = pay(bills, seller)

    assert (len(again.placed), len(again.known), paid()) == (0, 3, before)
    assert_only_reserved(3)


def test_what_was_cut_off_goes_on_with_the_same_cash(bills, seller):
    part = PaymentFacts(cash_given=102_500)
    place_payment(
        bills[0].check, amount=102_500, fee=0, paid_by=seller, payment=part
    )  # and then the process was killed

    came = pay(bills, seller)

    assert (len(came.placed), len(came.known)) == (2, 1)
    assert paid() == [("0", 102_500), ("1", 195_000), ("2", 102_500)]
    assert_only_reserved(3)


def test_less_cash_than_was_paid_before_notes_no_change(bills, seller):
    pay(bills[:2], seller, cash_given=205_000)

    pay(bills, seller, cash_given=102_500)

    assert paid() == [("0", 102_500), ("1", 102_500), ("2", 102_500)]
    assert_only_reserved(3)


def test_bills_that_a_colleague_has_paid_take_none_of_ones_own_cash(bills, seller):
    pay(bills[:2], make_person("cashier", username="ani"), cash_given=205_000)

    came = pay(bills, seller)

    assert (len(came.placed), len(came.known), came.change) == (1, 2, GIVEN - 102_500)
    assert paid() == [("0", 102_500), ("1", 102_500), ("2", GIVEN)]
    assert_only_reserved(3)


def test_a_bill_that_was_paid_by_itself_takes_none_of_the_cash_for_the_others(bills, seller):
    BillCheck.objects.update(batch=uuid.uuid4())
    bills = [SeenBill(BillCheck.objects.get(pk=bill.check.pk), bill.total, 0) for bill in bills]
    alone = PaymentFacts(cash_given=150_000)
    place_payment(bills[0].check, amount=102_500, fee=0, paid_by=seller, payment=alone)

    came = pay(bills, seller, cash_given=210_000)

    assert (len(came.placed), len(came.known), came.change) == (2, 1, 5_000)
    assert paid() == [("0", 150_000), ("1", 107_500), ("2", 102_500)]
    assert_only_reserved(3)


def test_a_bill_that_a_colleague_has_asked_for_takes_none_of_ones_own_cash(bills, seller):
    colleague = make_person("cashier", username="ani")
    User.objects.filter(pk__in=[seller.pk, colleague.pk]).update(own_approval_above=105_000)
    raise_total(bills[0])
    bills[0] = SeenBill(bills[0].check, 110_000, 0)
    pay(bills[:1], User.objects.get(pk=colleague.pk), cash_given=110_000)

    came = pay(bills, User.objects.get(pk=seller.pk))

    assert (came.asked, len(came.placed), came.change) == (1, 2, GIVEN - 205_000)
    assert Approval.objects.get().asked_by == colleague
    assert paid() == [("1", GIVEN - 102_500), ("2", 102_500)]
    assert_only_reserved(2)


def test_a_bill_that_waits_for_approval_keeps_its_cash(bills, seller):
    User.objects.filter(pk=seller.pk).update(own_approval_above=105_000)
    raise_total(bills[0])
    bills[0] = SeenBill(bills[0].check, 110_000, 0)

    came = pay(bills, User.objects.get(pk=seller.pk))

    assert (came.asked, len(came.placed)) == (1, 2)
    assert Approval.objects.get().facts["payment"]["cash_given"] == 110_000
    assert paid() == [("1", 187_500), ("2", 102_500)]
    assert_only_reserved(2)


def test_above_the_cap_of_all_of_them_nothing_is_placed(bills, seller):
    customer = give_credit("Bu Sri", cap=307_499)

    with pytest.raises(CreditRefused):
        pay_together(bills, paid_by=seller, payment=PaymentFacts(method="credit", customer=customer))

    assert (paid(), owed_by(customer)) == ([], 0)
    assert_only_reserved(0)
