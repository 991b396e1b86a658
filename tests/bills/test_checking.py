"""A bill check tells what can be done with it now, and asking is safe to repeat."""

import datetime as dt
from dataclasses import replace

import pytest
import time_machine
from django.utils import timezone

from bills import services
from bills.errors import NotABill
from bills.models import BillCheck, State
from purchases.errors import InvalidDestination
from purchases.models import Product
from purchases.order_life import Status
from tests.conftest import Upstream
from tests.factories import make_check, make_payment
from upstream.budget import CallClass
from upstream.client import Client

INQUIRY = "/v1/bill/inquiry"


def start(number: int, *, product: Product | None = None) -> BillCheck:
    """A stored check of magic customer `number` at the electricity company, not asked yet."""
    product = product or Product.objects.filter(type="postpaid", category__name__startswith="PLN").earliest("pk")
    return services.start_check(product=product, destination=f"5312900000{number:02d}", checked_by=None, enqueue=False)


def check_bill(number: int, *, wait: float = 5.0) -> BillCheck:
    """Start, ask, and follow without any worker: what the command does."""
    check = start(number)
    services.ask(check.pk, call_class=CallClass.INTERACTIVE)
    return services.follow_check(check, seconds=wait)


def calls(upstream: Upstream, check: BillCheck) -> list[str]:
    return [row["endpoint"] for row in upstream.control("requests", ref_id=check.ref_id)["requests"]]


def test_a_bill_is_told_with_its_periods_its_total_and_how_long_it_lives(upstream: Upstream):
    check = check_bill(1)

    assert check.state == State.VALID
    assert check.customer_name
    assert check.amount is not None
    assert check.total == check.amount + check.admin_fee + check.penalty
    assert sum(line["amount"] for line in check.details) == check.amount
    assert check.expires_at > timezone.now()
    assert calls(upstream, check) == [INQUIRY]


def test_a_check_has_its_ref_id_before_anything_is_asked(upstream: Upstream):
    check = start(1)

    assert (check.state, check.total) == (State.PENDING, None)
    assert calls(upstream, check) == []


def test_a_pending_inquiry_is_followed_by_asking_the_identical_question(upstream: Upstream):
    check = check_bill(31)

    assert check.state == State.VALID
    asked = upstream.control("requests", ref_id=check.ref_id)["requests"]
    assert len(asked) >= 2
    assert len({str(row["body"]) for row in asked}) == 1


def test_an_inquiry_that_stays_pending_stays_pending(upstream: Upstream):
    check = check_bill(32, wait=1)

    assert check.state == State.PENDING
    assert check.next_ask_at is not None


def test_a_check_expires_by_itself_and_stays_as_it_was(upstream: Upstream):
    check = check_bill(33)
    total = check.total
    assert check.state == State.VALID

    BillCheck.objects.filter(pk=check.pk).update(expires_at=timezone.now() - dt.timedelta(seconds=1))

    check.refresh_from_db()
    assert (check.state, check.total) == (State.EXPIRED, total)


@pytest.mark.parametrize(
    ("number", "code"), [(35, "BILL_ALREADY_PAID"), (36, "BILL_NOT_AVAILABLE"), (23, "INVALID_DESTINATION")]
)
def test_a_refused_check_is_not_payable_and_says_why(upstream: Upstream, number, code):
    check = check_bill(number)

    assert (check.state, check.error_code) == (State.NOT_PAYABLE, code)
    assert check.message
    assert calls(upstream, check) == [INQUIRY]


def test_a_lost_answer_is_asked_for_again_and_found(upstream: Upstream):
    check = check_bill(39)

    assert check.state == State.VALID
    assert len(calls(upstream, check)) >= 2


def test_a_prepaid_product_or_an_impossible_number_is_not_checked(upstream: Upstream):
    with pytest.raises(NotABill):
        start(1, product=Product.objects.get(name="Telkomsel 10.000"))
    with pytest.raises(InvalidDestination):
        services.start_check(
            product=Product.objects.filter(type="postpaid").earliest("pk"), destination="1", checked_by=None
        )

    assert not BillCheck.objects.exists()


def test_the_list_and_the_detail_tell_the_same_state(upstream: Upstream):
    for number in (1, 32, 35):
        check_bill(number, wait=0.5)
    BillCheck.objects.filter(pk=check_bill(2).pk).update(expires_at=timezone.now())
    make_payment(make_check(period="Okt 2026"), Status.SUCCESS)
    paid_before = make_check(product=BillCheck.objects.latest("pk").product, period="Okt 2026")
    assert paid_before.state == State.NOT_PAYABLE

    states = {check.pk: check.now_state for check in BillCheck.objects.with_state()}

    assert states == {check.pk: check.state for check in BillCheck.objects.all()}
    assert sorted(states.values()) == ["expired", "not_payable", "not_payable", "paid", "pending", "valid"]


def test_a_bill_of_nothing_is_not_payable(upstream: Upstream, monkeypatch):
    real = Client.bill_inquiry

    def nothing_owed(self, **kwargs):
        answer = real(self, **kwargs)
        return replace(answer, data=answer.data.model_copy(update={"total": 0, "amount": 0}))

    monkeypatch.setattr(Client, "bill_inquiry", nothing_owed)
    check = check_bill(1)

    assert (check.state, check.error_code) == (State.NOT_PAYABLE, "NOTHING_TO_PAY")


def test_nobody_asks_for_ever(upstream: Upstream):
    check = start(32)
    BillCheck.objects.filter(pk=check.pk).update(next_ask_at=timezone.now())
    # created_at is read-only for the app; an hour passes on the clock instead
    with time_machine.travel(timezone.now() + dt.timedelta(hours=2), tick=True):
        services.ask(check.pk, call_class=CallClass.INTERACTIVE)

    check.refresh_from_db()
    assert (check.state, check.next_ask_at) == (State.PENDING, None)


def test_the_sweep_hands_out_due_checks_once_per_lease(upstream: Upstream, monkeypatch):
    first, later = start(1), start(2)
    BillCheck.objects.filter(pk=first.pk).update(next_ask_at=timezone.now())
    taken: list[int] = []
    monkeypatch.setattr("bills.services.checking.publish", lambda task, check_id: taken.append(check_id) or True)

    assert (services.sweep_checks(), services.sweep_checks()) == (1, 0)
    assert taken == [first.pk]
    assert later.pk not in taken
