"""Every answer of a biller is kept, with the asker and the time."""

import re

import pytest
from django.db import ProgrammingError, transaction
from django.utils import timezone

from bills import services
from bills.models import BillCheck, Inquiry
from bills.services import inquiring
from bills.states import AnswerKind, Standing
from purchases.services import submit
from purchases.states import ActionReason, Status
from testing.factories import make_check, make_payment
from testing.people import make_person
from tests.bills.helpers import at_counter, check_bill, leads_to_counter, place, posts_on, read, standing_on, start
from tests.conftest import Upstream
from tests.core.helpers import words
from upstream.budget import CallClass
from upstream.error_codes import ErrorCode
from upstream.errors import Rejected


def answers(check: BillCheck) -> list[tuple[str, int | None, str]]:
    return list(check.inquiries.values_list("answer", "total", "error_code"))


def refuse(monkeypatch, code: ErrorCode) -> None:
    """Have the biller refuse the next inquiries."""

    def refused(*args, **kwargs):
        error = Rejected(code, message="No.", http_status=422)
        error.raw = {"status": "error", "error_code": code, "message": "No."}
        raise error

    monkeypatch.setattr(inquiring, "call", refused)


def test_a_changed_total_is_kept_beside_the_first_with_who_asked(upstream: Upstream):
    check = check_bill(34)
    submit(place(check).pk, call_class=CallClass.INTERACTIVE)
    sari = make_person("cashier", username="sari")

    services.inquire_again(check, actor=sari)

    first, second = check.inquiries.all()
    assert (first.answer, first.total, first.asked_by) == ("bill", check.total, None)
    assert (second.answer, second.total, second.asked_by) == ("bill", check.total + 2_500, sari)
    assert first.asked_at < second.asked_at
    assert [inquiry.raw["data"]["total"] for inquiry in (first, second)] == [first.total, second.total]
    assert BillCheck.objects.get(pk=check.pk).total == second.total


def test_an_answer_that_comes_late_names_who_asked_last(upstream: Upstream):
    check = start(1)
    sari = make_person("cashier", username="sari")

    assert services.inquire_again(check, actor=sari) is None
    services.inquire(check.pk, call_class=CallClass.BACKGROUND)

    assert check.inquiries.get().asked_by == sari


@pytest.mark.django_db
def test_a_kept_answer_is_never_changed():
    Inquiry.objects.create(bill_check=make_check(), sent_no=1, answer=AnswerKind.BILL, total=102_500)

    for change in (lambda kept: kept.update(total=1), lambda kept: kept.delete()):
        with pytest.raises(ProgrammingError), transaction.atomic():
            change(Inquiry.objects.all())


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("code", "standing"),
    [(ErrorCode.CUT_OFF, Standing.TOTAL_CHANGED), (ErrorCode.BILL_ALREADY_PAID, Standing.REFUSED)],
)
def test_only_a_definite_refusal_takes_back_a_bill_that_we_have(monkeypatch, code, standing):
    check = make_check()
    make_payment(
        check,
        Status.NEEDS_ACTION,
        action_reason=ActionReason.AMOUNT_MISMATCH,
        sent_at=timezone.now(),
        next_poll_at=None,
    )
    refuse(monkeypatch, code)

    inquiry = services.inquire_again(check, actor=None)

    assert (inquiry.answer, inquiry.error_code, read(check).now_standing) == ("refusal", code, standing)


@pytest.mark.django_db(transaction=True)
def test_an_answer_about_a_bill_being_paid_changes_nothing(monkeypatch):
    check = make_check()
    make_payment(check, Status.PENDING)
    refuse(monkeypatch, ErrorCode.BILL_ALREADY_PAID)

    services.inquire_again(check, actor=None)

    assert answers(check) == [("refusal", None, "BILL_ALREADY_PAID")]
    assert read(check).now_standing == Standing.PAYING


def test_a_changed_total_shows_old_and_new_and_who_asked(cashier):
    check = make_check()
    sari = make_person("cashier", username="sari")
    Inquiry.objects.create(bill_check=check, sent_no=1, answer=AnswerKind.BILL, total=100_000)
    assert 'id="bill-history"' not in cashier.get(f"/bills/{check.ref_id}/").content.decode()  # answered once
    Inquiry.objects.create(bill_check=check, sent_no=2, answer=AnswerKind.BILL, total=102_500, asked_by=sari)
    facts = {"action_reason": ActionReason.AMOUNT_MISMATCH, "max_price": 100_000}
    order = make_payment(check, Status.NEEDS_ACTION, **facts)

    for kind in ("bills", "orders"):
        shown = cashier.get(f"/{kind}/{check.ref_id}/")
        history = re.search(r'id="bill-history">(.*?)</ol>', shown.content.decode(), re.DOTALL).group(1)
        assert re.search(r"<s>Rp100\.000</s>\s*→\s*<strong>Rp102\.500</strong>\s*<span[^>]*>sari<", history), kind
        assert standing_on(shown) == "confirm", kind
        assert "Rp100.000 → Rp102.500" in words(shown), kind
    assert leads_to_counter(cashier, check)
    assert posts_on(at_counter(cashier, check)) == {"pay", "again"}

    # then: the new confirmation is kept beside the one before
    services.pay_again(order, amount=102_500, actor=sari, enqueue=False)
    event = order.events.get()
    assert (event.to_status, event.actor) == ("queued", sari)
    assert event.facts == {"code": "price_confirmed", "before": 100_000, "after": 102_500}
