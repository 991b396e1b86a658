"""A month of a bill is billed until it is paid, and never again."""

from collections.abc import Callable

import pytest

from tests.sandbox.calls import check_bill, error_of, final, movements, pay
from tests.sandbox_process import SandboxProcess

Ref = Callable[[], str]
MONTHS = ["Jan", "Feb", "Mar", "Apr", "Mei", "Jun", "Jul", "Agu", "Sep", "Okt", "Nov", "Des"]


def months(bill: dict[str, object]) -> list[int]:
    """The months of a bill, counted through, so that the next one is one more."""
    details = bill["details"]
    assert isinstance(details, list)
    names = [line["period"].split() for line in details]
    return [int(year) * 12 + MONTHS.index(name) for name, year in names]


def check(sandbox: SandboxProcess, ref_id: str, destination: str) -> dict[str, object]:
    data: dict[str, object] = check_bill(sandbox, ref_id, destination=destination).json()["data"]
    return data


def customer_in_arrears(sandbox: SandboxProcess, ref: Ref, ending: str) -> str:
    """A customer number that ends so and owes several months."""
    numbers = (f"{n}{ending}" for n in range(520, 620))
    return next(number for number in numbers if len(months(check(sandbox, ref(), number))) > 1)


def test_a_magic_customer_who_paid_several_months_is_billed_the_month_after_the_last(
    sandbox: SandboxProcess, ref: Ref
) -> None:
    destination = customer_in_arrears(sandbox, ref, "90000001")
    paid: list[int] = []

    for _ in range(3):
        ref_id = ref()
        billed = months(check(sandbox, ref_id, destination))
        assert not set(billed) & set(paid)
        assert not paid or billed == [paid[-1] + 1]
        paid += billed
        pay(sandbox, ref_id)
        assert final(sandbox, ref_id)["status"] == "success"


@pytest.mark.parametrize("ending", ["90000001", "7001234"], ids=["magic", "ordinary"])
def test_a_paid_month_cannot_be_paid_with_a_check_that_was_made_before(
    sandbox: SandboxProcess, ref: Ref, ending: str
) -> None:
    first, second = ref(), ref()
    for ref_id in (first, second):
        check_bill(sandbox, ref_id, destination=ending)

    pay(sandbox, first)
    final(sandbox, first)

    assert error_of(pay(sandbox, second)) == (422, "BILL_ALREADY_PAID")
    assert movements(sandbox, second) == []


def test_an_ordinary_customer_who_paid_all_months_has_no_bill(sandbox: SandboxProcess, ref: Ref) -> None:
    destination = customer_in_arrears(sandbox, ref, "7")
    ref_id = ref()
    check_bill(sandbox, ref_id, destination=destination)

    pay(sandbox, ref_id)
    final(sandbox, ref_id)

    assert error_of(check_bill(sandbox, ref(), destination=destination)) == (422, "BILL_ALREADY_PAID")


def test_a_month_whose_payment_failed_is_billed_again(sandbox: SandboxProcess, ref: Ref) -> None:
    destination = customer_in_arrears(sandbox, ref, "90000004")
    ref_id = ref()
    before = months(check(sandbox, ref_id, destination))

    pay(sandbox, ref_id)
    assert final(sandbox, ref_id)["status"] == "failed"

    assert months(check(sandbox, ref(), destination)) == before
