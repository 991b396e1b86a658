"""A bill's page offers only what can succeed for this person now, and says why."""

import datetime as dt
import re
import uuid

import pytest
import time_machine
from django.utils import timezone

from bills import services
from bills.models import BillCheck
from bills.services import inquiring
from purchases.states import ActionReason, Status
from staff.models import User
from testing.database import undone
from testing.factories import make_biller, make_check, make_payment
from tests.bills.helpers import at_counter, expire, leads_to_counter, posts_on, read, standing_on, start
from tests.conftest import Upstream
from tests.core.helpers import has_id, next_question, words
from upstream.budget import CallClass
from upstream.error_codes import meaning_of
from upstream.errors import OutcomeUnknown

pytestmark = pytest.mark.django_db


def around_now(hours: int) -> dict[str, dt.time]:
    """Daily closed hours that began an hour ago and end so many hours from now."""
    now = timezone.localtime()
    return {
        "cut_off_start": (now - dt.timedelta(hours=1)).time(),
        "cut_off_end": (now + dt.timedelta(hours=hours)).time(),
    }


def refused_payment(check: BillCheck, code: str, reason: ActionReason) -> None:
    make_payment(check, Status.NEEDS_ACTION, action_reason=reason, error_code=code)


# --- closed hours -------------------------------------------------------------------------------------------------


def test_a_payment_is_sent_again_only_when_the_biller_is_open(cashier):
    for hours, posts in ((2, set()), (0, {"pay", "again"})):
        with undone():
            check = make_check(product=make_biller(**around_now(hours)))
            refused_payment(check, "CUT_OFF", ActionReason.CUT_OFF)

            shown = at_counter(cashier, check)

            assert (standing_on(shown), posts_on(shown)) == ("pay_again", posts)
            assert posts or f"{check.product.cut_off_end:%H:%M} WIB" in words(shown)


def test_a_check_is_not_made_again_in_closed_hours(cashier):
    check = make_check("refusal", product=make_biller(**around_now(2)), error_code="CUT_OFF")

    page = at_counter(cashier, check)

    assert (standing_on(page), posts_on(page)) == ("refused", set())
    assert f"{check.product.cut_off_end:%H:%M} WIB" in words(page)


def test_a_bill_of_a_biller_that_is_gone_is_not_checked_again(cashier):
    check = make_check(product=make_biller(is_listed=False))
    expire(check)

    page = at_counter(cashier, check)

    assert (standing_on(page), posts_on(page)) == ("expired", set())


def test_a_number_that_its_biller_no_longer_takes_is_refused_in_words(cashier):
    check = make_check(destination="1")

    answer = cashier.post(f"/counter/bills/{check.ref_id}/again/", headers={"HX-Request": "true"})

    assert answer.status_code == 200
    assert list(BillCheck.objects.all()) == [check]


# --- checked by two people ----------------------------------------------------------------------------------------


def test_a_check_that_a_colleague_repeated_leads_to_the_newer_until_this_expires(cashier):
    older = make_check()
    newer = make_check(product=older.product)
    question, _delay = next_question(cashier.get(older.get_absolute_url()))

    page = at_counter(cashier, older)

    assert (standing_on(page), posts_on(page)) == ("replaced", set())
    assert f'id="bill-newer" href="/counter/bills/{newer.ref_id}/"' in page.content.decode()
    assert posts_on(at_counter(cashier, newer)) == {"pay", "again"}
    expire(newer)
    assert has_id(cashier.get(question), "bill-counter")
    assert "pay" in posts_on(at_counter(cashier, older))


def test_a_newer_check_of_a_paid_month_replaces_nothing():
    paid = make_check(period="Okt 2026", details=[])
    make_payment(paid, Status.SUCCESS)
    older = make_check(product=paid.product, period="Nov 2026", details=[])
    make_check(product=paid.product, period="Okt 2026", details=[])

    assert read(older).now_standing == "payable"


def test_a_replaced_check_is_not_chosen_in_a_batch(cashier):
    batch = uuid.uuid4()
    older = make_check(batch=batch)
    newer = make_check(product=older.product)

    page = cashier.get(f"/counter/batch/{batch}/").content.decode()

    assert 'name="bill"' not in page
    assert f'href="/bills/{newer.ref_id}/"' in page


# --- paid already -------------------------------------------------------------------------------------------------


def test_a_biller_that_says_paid_names_our_own_payment_and_no_other(cashier):
    paid = make_check()
    make_payment(paid, Status.SUCCESS)
    check = make_check("refusal", product=paid.product, error_code="BILL_ALREADY_PAID")
    refused = make_check(product=paid.product)
    make_payment(refused, Status.REJECTED, error_code="BILL_ALREADY_PAID")
    facts = {"product": paid.product, "error_code": "BILL_ALREADY_PAID"}
    elsewhere = make_check("refusal", destination="9999999999", **facts)

    for page in (at_counter(cashier, check), at_counter(cashier, refused)):
        assert has_id(page, "paid-here")
        assert f'href="/orders/{paid.ref_id}/"' in page.content.decode()
    assert not has_id(at_counter(cashier, elsewhere), "paid-here")


# --- a short balance ----------------------------------------------------------------------------------------------


def test_a_short_balance_does_not_ask_the_cashier_to_top_up(cashier):
    check = make_check()
    refused_payment(check, "INSUFFICIENT_BALANCE", ActionReason.BALANCE_SHORT)

    shown = at_counter(cashier, check)

    assert (standing_on(shown), posts_on(shown)) == ("pay_again", {"pay", "again"})
    assert str(meaning_of("INSUFFICIENT_BALANCE").words) in words(shown)
    assert "dashboard" not in re.search(r'class="explained".*?</div>', shown.content.decode(), re.DOTALL).group()


# --- waiting ------------------------------------------------------------------------------------------------------


def test_a_slow_biller_lets_the_cashier_go_on(cashier):
    check = make_check("none")
    pages = [cashier.get(check.get_absolute_url()), at_counter(cashier, check)]
    question, _delay = next_question(pages[0])

    with time_machine.travel(timezone.now() + dt.timedelta(seconds=21), tick=True):
        slow = [cashier.get(question), at_counter(cashier, check)]

    assert [(standing_on(page), has_id(page, "bill-slow")) for page in pages] == [("asking", False)] * 2
    assert [(standing_on(page), has_id(page, "bill-slow")) for page in slow] == [("asking", True)] * 2
    assert (posts_on(pages[1]), posts_on(slow[1]), has_id(slow[0], "bill-counter")) == (set(), {"ask"}, True)


def test_an_unknown_reason_is_shown_while_the_biller_is_asked_again(upstream: Upstream, cashier, monkeypatch):
    check, real = start(1), inquiring.call
    said = OutcomeUnknown("unknown_code: NO_SUCH_CUSTOMER", said_code="NO_SUCH_CUSTOMER", said="Nomor tidak terdaftar.")

    def refused(*_args, **_facts):
        raise said

    monkeypatch.setattr(inquiring, "call", refused)
    services.inquire(check.pk, call_class=CallClass.BACKGROUND)
    shown = at_counter(cashier, check)

    assert (standing_on(shown), posts_on(shown)) == ("asking", {"ask"})
    assert "“Nomor tidak terdaftar.” NO_SUCH_CUSTOMER" in words(shown)
    monkeypatch.setattr(inquiring, "call", real)
    services.inquire(check.pk, call_class=CallClass.BACKGROUND)
    answered = at_counter(cashier, check)
    assert (standing_on(answered), has_id(answered, "provider-says")) == ("payable", False)


# --- a payment that can never be sent again -----------------------------------------------------------------------


def test_a_payment_that_can_never_be_sent_again_ends_by_itself():
    for facts in ({"expires_at": timezone.now()}, {"answer": "refusal"}):
        with undone():
            check = make_check()
            order = make_payment(check, Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT)
            BillCheck.objects.filter(pk=check.pk).update(**facts)

            assert services.EXPIRED_PAYMENTS.take(20) == []

            order.refresh_from_db()
            assert order.status == Status.CANCELLED, facts
            assert order.events.get().facts == {"code": "bill_expired"}
            assert read(check).now_standing == "ended", facts


def test_a_payment_that_is_valid_or_may_be_charged_stays():
    for facts in ({}, {"sent_no": 1}, {"action_reason": ActionReason.NEVER_ARRIVED}):
        with undone():
            check = make_check()
            order = make_payment(check, Status.NEEDS_ACTION, **{"action_reason": ActionReason.BALANCE_SHORT, **facts})
            if facts:
                expire(check)

            assert services.EXPIRED_PAYMENTS.take(20) == []

            order.refresh_from_db()
            assert order.status == Status.NEEDS_ACTION, facts


# --- the payment may have arrived ---------------------------------------------------------------------------------


def test_an_expired_bill_with_a_doubtful_payment_waits(cashier):
    check = make_check()
    make_payment(check, Status.NEEDS_ACTION, action_reason=ActionReason.NEVER_ARRIVED)
    expire(check)

    page = at_counter(cashier, check)

    assert (standing_on(page), posts_on(page)) == ("decide", set())
    assert f'href="/orders/{check.ref_id}/"' in page.content.decode()


def test_a_cashier_ends_the_own_payment_that_needs_action(cashier):
    check = make_check()
    person = User.objects.get(username="cashier")
    order = make_payment(check, Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT, placed_by=person)

    shown = cashier.get(f"/orders/{check.ref_id}/")
    cashier.post(f"/orders/{check.ref_id}/cancel/")

    order.refresh_from_db()
    assert order.status == Status.CANCELLED
    assert f'action="/orders/{check.ref_id}/cancel/"' in shown.content.decode()


def test_a_payment_rejected_without_a_code_has_a_page(cashier):
    check = make_check()
    make_payment(check, Status.REJECTED, error_code="")

    answer = at_counter(cashier, check)

    assert (answer.status_code, standing_on(answer), leads_to_counter(cashier, check)) == (200, "ended", True)
