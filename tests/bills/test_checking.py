"""A bill check says what can be done with it now, and an inquiry is safe to repeat."""

import datetime as dt
import time
from dataclasses import replace

import pytest
import time_machine
from django.utils import timezone

from bills import services
from bills.errors import NotABill, NotPayable
from bills.models import BillCheck
from bills.services import inquiring
from bills.states import BillState
from catalogue.destinations import InvalidDestination
from catalogue.models import Product
from gateway.services import call
from purchases.models import Order
from purchases.states import Status
from testing.factories import make_check, make_payment
from tests.bills.helpers import at_counter, check_bill, posts_on, standing_on, start
from tests.conftest import Upstream
from upstream import requests
from upstream.budget import CallClass
from upstream.errors import OutcomeUnknown
from upstream.messages import InquiryStatus

INQUIRY = "/v1/bill/inquiry"


def calls(upstream: Upstream, check: BillCheck) -> list[str]:
    return [row["endpoint"] for row in upstream.control("requests", ref_id=check.ref_id)["requests"]]


def test_a_bill_has_its_periods_its_total_and_its_expiry(upstream: Upstream):
    with pytest.raises(NotABill):
        start(1, product=Product.objects.get(name="Telkomsel 10.000"))
    with pytest.raises(InvalidDestination):
        services.start_check(
            product=Product.objects.filter(type="postpaid").earliest("pk"), destination="1", checked_by=None
        )
    assert not BillCheck.objects.exists()
    check = start(1)
    assert (check.state, check.total, calls(upstream, check)) == (BillState.PENDING, None, [])

    services.inquire(check.pk, call_class=CallClass.INTERACTIVE)
    check = services.follow_check(check, seconds=5)

    assert check.state == BillState.VALID
    assert check.customer_name
    assert check.amount is not None
    total = check.total
    assert total == check.amount + check.admin_fee + check.penalty
    assert sum(line["amount"] for line in check.details) == check.amount
    assert check.expires_at > timezone.now()
    assert calls(upstream, check) == [INQUIRY]
    # then: it expires by itself and stays as it was
    for seconds, state in ((60, BillState.VALID), (-1, BillState.EXPIRED)):
        BillCheck.objects.filter(pk=check.pk).update(expires_at=timezone.now() + dt.timedelta(seconds=seconds))
        check.refresh_from_db()
        assert (check.state, check.total) == (state, total)


def test_a_pending_inquiry_is_repeated_identically(upstream: Upstream):
    check = check_bill(31)

    assert check.state == BillState.VALID
    asked = upstream.control("requests", ref_id=check.ref_id)["requests"]
    assert len(asked) >= 2
    assert len({str(row["body"]) for row in asked}) == 1
    *before, last = check.inquiries.values_list("answer", "total")
    assert (set(before), last) == ({("none", None)}, ("bill", check.total))


def test_a_refused_check_is_not_payable_and_says_why(upstream: Upstream):
    for number, code in ((35, "BILL_ALREADY_PAID"), (36, "BILL_NOT_AVAILABLE"), (23, "INVALID_DESTINATION")):
        check = check_bill(number)

        assert (check.state, check.error_code) == (BillState.NOT_PAYABLE, code)
        assert check.message, code
        assert calls(upstream, check) == [INQUIRY], code
        kept = check.inquiries.get()
        assert (kept.answer, kept.total, kept.error_code, kept.raw["error_code"]) == ("refusal", None, code, code)


def test_a_lost_answer_is_asked_for_again_and_found(upstream: Upstream):
    check = check_bill(39)

    assert check.state == BillState.VALID
    assert len(calls(upstream, check)) >= 2
    assert list(check.inquiries.values_list("answer", "total", "error_code")) == [("bill", check.total, "")]


def test_a_bill_that_expired_before_its_answer_came_is_to_be_checked_again(upstream: Upstream, cashier):
    check = start(33)
    inquiry = requests.bill_inquiry(ref_id=check.ref_id, product_code=check.product_code, destination=check.destination)
    expires_at = call(inquiry).data.expires_at  # this answer is lost
    time.sleep(max(0.0, (expires_at - timezone.now()).total_seconds()) + 0.1)

    services.inquire(check.pk, call_class=CallClass.INTERACTIVE)

    shown = at_counter(cashier, check)
    assert (standing_on(shown), posts_on(shown)) == ("expired", {"again"})


def test_a_filter_by_state_finds_the_same_as_the_check_says(upstream: Upstream):
    for number in (1, 32, 35):
        check_bill(number, wait=0.5)
    BillCheck.objects.filter(pk=check_bill(2).pk).update(expires_at=timezone.now())
    make_payment(make_check(period="Okt 2026"), Status.SUCCESS)
    make_check(product=BillCheck.objects.latest("pk").product, period="Okt 2026")

    states = {
        check.pk: state for state in BillState for check in BillCheck.objects.with_standing().in_state(state.value)
    }

    assert states == {check.pk: check.state for check in BillCheck.objects.all()}
    assert sorted(states.values()) == ["expired", "not_payable", "not_payable", "paid", "pending", "valid"]


def answering(monkeypatch, **facts):
    """Have the upstream put these fields into the data of its next answers to an inquiry."""
    real = inquiring.call

    def other(*args, **kwargs):
        reply = real(*args, **kwargs)
        return replace(reply, data=reply.data.model_copy(update=facts))

    monkeypatch.setattr(inquiring, "call", other)


def test_the_bill_of_another_number_is_no_answer_and_replaces_none(upstream: Upstream, monkeypatch):
    known = check_bill(2)
    for name, value in (("destination", "531290000003"), ("product_code", "ANOTHER")):
        with monkeypatch.context() as patched:
            answering(patched, **{name: value})
            check = check_bill(1, wait=0.5)

        said = f"malformed: {name}"
        assert (check.answer, check.total, check.customer_name, check.message) == ("none", None, "", said)
        assert check.next_poll_at is not None
        with pytest.raises(NotPayable):
            services.pay_bill(check, amount=232_150, paid_by=None, enqueue=False)
        assert not Order.objects.exists()
        assert set(calls(upstream, check)) == {INQUIRY}

    answering(monkeypatch, destination="531290000003", total=50_000)
    with pytest.raises(OutcomeUnknown):
        services.inquire_again(known, actor=None)
    before = known.total
    known.refresh_from_db()
    assert (known.total, known.state) == (before, BillState.VALID)


def test_a_bill_is_what_the_upstream_says_whatever_our_clock_or_notation_says(upstream: Upstream, monkeypatch):
    for facts, state, code in (
        ({"destination": "5312-9000-0001"}, BillState.VALID, ""),
        ({"status": InquiryStatus.EXPIRED}, BillState.EXPIRED, ""),
        ({"total": 0, "amount": 0}, BillState.NOT_PAYABLE, "NOTHING_TO_PAY"),
    ):
        with monkeypatch.context() as patched:
            answering(patched, **facts)
            check = check_bill(1)
        assert (check.state, check.error_code) == (state, code)


def test_due_checks_are_handed_out_once_per_lease_and_not_without_end(upstream: Upstream):
    first, later = start(1), start(2)
    BillCheck.objects.filter(pk=first.pk).update(next_poll_at=timezone.now())

    taken = [services.DUE_CHECKS.take(20) for _ in range(2)]

    assert [[work.pk for work in works] for works in taken] == [[first.pk], []]
    assert services.DUE_CHECKS.earliest().exists()
    assert later.next_poll_at is not None

    check = start(32)
    BillCheck.objects.filter(pk=check.pk).update(next_poll_at=timezone.now())
    # created_at is read-only for the app; an hour passes on the clock instead
    with time_machine.travel(timezone.now() + dt.timedelta(hours=2), tick=True):
        services.inquire(check.pk, call_class=CallClass.INTERACTIVE)
    check.refresh_from_db()
    assert (check.state, check.next_poll_at) == (BillState.PENDING, None)
