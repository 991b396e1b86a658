"""A month of a bill is billed until it is paid, and never again."""

import pytest

from tests.sandbox.calls import CUSTOMER, data_of, error_of, magic_bill, new_ref

MONTHS = ["Jan", "Feb", "Mar", "Apr", "Mei", "Jun", "Jul", "Agu", "Sep", "Okt", "Nov", "Des"]
PAID_BEFORE = (422, "BILL_ALREADY_PAID")


@pytest.fixture
def in_month(sandbox):
    """Moves the sandbox to a day of this month ("2026-03"), until the test ends."""
    yield lambda month: sandbox.control("time", now=f"{month}-15T08:00:00+07:00")
    sandbox.control("time", now=None)


def billed_months(sandbox, ref_id, destination):
    """The months of a new inquiry as numbers; the next month's number is higher by one."""
    details = data_of(sandbox.inquire(ref_id, destination=destination))["details"]
    names = [line["period"].split() for line in details]
    return [int(year) * 12 + MONTHS.index(name) for name, year in names]


def customer_in_arrears(sandbox, ending):
    """A customer number with this ending that owes several months."""
    numbers = (f"{n}{ending}" for n in range(520, 620))
    return next(number for number in numbers if len(billed_months(sandbox, new_ref(), number)) > 1)


def test_a_magic_customer_who_paid_is_billed_the_next_month(sandbox):
    destination = customer_in_arrears(sandbox, "90000003")
    paid = []

    for _ in range(3):
        ref_id = new_ref()
        billed = billed_months(sandbox, ref_id, destination)
        assert not set(billed) & set(paid)
        assert not paid or billed == [paid[-1] + 1]
        paid += billed
        sandbox.pay(ref_id)
        sandbox.settle(ref_id, "success")


@pytest.mark.parametrize("destination", [magic_bill(1), CUSTOMER], ids=["magic", "ordinary"])
def test_a_paid_month_is_refused_under_an_earlier_inquiry(sandbox, destination):
    first, second = new_ref(), new_ref()
    for ref_id in (first, second):
        sandbox.inquire(ref_id, destination=destination)

    sandbox.pay(first)
    sandbox.final(first)

    assert error_of(sandbox.pay(second)) == PAID_BEFORE
    assert sandbox.movements(second) == []


def test_an_ordinary_customer_who_paid_all_months_has_no_bill(sandbox):
    destination, ref_id = customer_in_arrears(sandbox, "7"), new_ref()
    sandbox.inquire(ref_id, destination=destination)

    sandbox.pay(ref_id)
    sandbox.final(ref_id)

    assert error_of(sandbox.inquire(destination=destination)) == PAID_BEFORE


def test_a_magic_customer_with_an_open_payment_can_pay_another(sandbox):
    for _ in range(2):
        assert sandbox.order("bill", new_ref(), 3).status_code == 200


def test_a_month_whose_payment_failed_is_billed_again(sandbox):
    destination, ref_id = customer_in_arrears(sandbox, "90000003"), new_ref()
    before = billed_months(sandbox, ref_id, destination)

    sandbox.pay(ref_id)
    sandbox.settle(ref_id, "failed")

    assert billed_months(sandbox, new_ref(), destination) == before


def test_next_month_a_customer_keeps_the_name_and_an_unpaid_month_its_amount(sandbox, in_month):
    def ask_all():
        return [data_of(sandbox.inquire(destination=f"70{n}7")) for n in range(10, 50)]

    def amounts(bill):
        return {line["period"]: line["amount"] for line in bill["details"]}

    in_month("2026-12")
    before = ask_all()
    in_month("2027-01")
    after = ask_all()

    assert [bill["customer_name"] for bill in after] == [bill["customer_name"] for bill in before]
    arrears = [{name: amount for name, amount in amounts(bill).items() if name != "Jan 2027"} for bill in after]
    assert any(len(months) == 2 for months in arrears)
    assert all(months.items() <= amounts(bill).items() for months, bill in zip(arrears, before, strict=True))
    assert all("Jan 2027" in amounts(bill) for bill in after)
