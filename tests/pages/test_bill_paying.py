"""Paying a checked bill: one press, one payment, and every refusal in its own words."""

import datetime as dt
import re

import pytest
from django.utils import timezone

from bills.models import BillCheck
from purchases.models import Order
from purchases.order_life import HoldReason, Status
from tests.factories import make_check, make_order, make_payment
from tests.pages.conftest import read_balance
from tests.pages.test_bill_checking import expire
from tests.pages.test_buying import hidden, words

pytestmark = pytest.mark.django_db


def pay(client, check, amount=None):
    return client.post(f"/bills/{check.ref_id}/pay/", {"amount": check.total if amount is None else amount})


# --- paying -------------------------------------------------------------------------------------------------------


def test_the_confirmed_total_is_paid_once_however_often_it_is_pressed(cashier):
    check = make_check()

    answers = [pay(cashier, check), pay(cashier, check)]

    order = Order.objects.get()
    assert [answer["Location"] for answer in answers] == [f"/orders/{order.ref_id}/"] * 2
    assert (order.ref_id, order.kind, order.max_price) == (check.ref_id, "bill", 102_500)
    assert order.placed_by.username == "cashier"


def test_a_total_that_changed_meanwhile_is_shown_old_and_new_and_takes_a_new_confirmation(cashier):
    check = make_check()
    BillCheck.objects.filter(pk=check.pk).update(total=105_000, penalty=2_500)

    asked = pay(cashier, check)

    assert "Rp102.500 → Rp105.000" in words(asked)
    assert not Order.objects.exists()
    cashier.post(f"/bills/{check.ref_id}/pay/", hidden(asked))
    assert Order.objects.get().max_price == 105_000


def test_a_check_that_expired_between_review_and_click_says_so_and_one_click_checks_again(cashier):
    check = make_check()
    expire(check)

    answer = pay(cashier, check)

    assert "This check has expired. Check the bill again, then pay it." in words(answer)
    assert f"/bills/{check.ref_id}/again/" in answer.content.decode()
    assert not Order.objects.exists()


def test_an_older_check_leads_to_the_newer_one(cashier):
    older = make_check()
    newer = make_check(product=older.product)

    answer = pay(cashier, older)

    assert "was checked again meanwhile" in words(answer)
    assert f'href="/bills/{newer.ref_id}/"' in answer.content.decode()
    assert not Order.objects.exists()


def test_a_bill_that_we_have_paid_leads_to_its_payment(cashier):
    first = make_check()
    expire(first)
    make_payment(first, Status.SUCCESS)
    second = make_check(product=first.product)

    answer = pay(cashier, second)

    assert "was already paid with order" in words(answer)
    assert f'href="/orders/{first.ref_id}/"' in answer.content.decode()


def test_a_bill_of_a_paid_period_says_so_before_anything_is_pressed(cashier):
    first = make_check()
    make_payment(first, Status.SUCCESS)
    second = make_check(product=first.product)

    page = cashier.get(second.get_absolute_url())

    assert "This bill is already paid." in words(page)
    assert f'href="/orders/{first.ref_id}/"' in page.content.decode()
    assert 'id="bill-pay"' not in page.content.decode()


def test_an_open_payment_of_the_same_bill_refuses_a_second_and_links_to_it(cashier):
    first = make_check()
    make_payment(first, Status.PENDING)
    second = make_check(product=first.product, period="Des 2026", details=[])

    answer = pay(cashier, second)

    assert "is still open" in words(answer)
    assert f'href="/orders/{first.ref_id}/"' in answer.content.decode()


@pytest.mark.parametrize(
    ("status", "said"),
    [(Status.PENDING, "Wait for its outcome"), (Status.HELD, "is held and goes on only when a person decides")],
)
def test_a_bill_with_an_open_payment_says_so_before_anything_is_pressed(cashier, status, said):
    first = make_check()
    make_payment(first, status, hold_reason=HoldReason.AMOUNT_MISMATCH if status == Status.HELD else "")
    second = make_check(product=first.product, period="Des 2026", details=[])

    page = cashier.get(second.get_absolute_url())

    assert "This bill has an open payment." in words(page)
    assert said in words(page)
    assert f'href="/orders/{first.ref_id}/"' in page.content.decode()
    assert 'id="bill-pay"' not in page.content.decode()
    assert "Payable for" not in words(page)
    assert re.search(r'id="bill-poll" hidden hx-get="[^"]+open_elsewhere', page.content.decode())


def test_the_page_of_a_bill_offers_to_pay_once_the_open_payment_gives_way(cashier):
    first = make_check()
    make_payment(first, Status.HELD, hold_reason=HoldReason.AMOUNT_MISMATCH)
    second = make_check(product=first.product)
    live = re.search(r'hx-get="([^"]+/live/[^"]+)"', cashier.get(second.get_absolute_url()).content.decode()).group(1)

    expire(first)

    assert 'id="bill-pay"' in cashier.get(live).content.decode()


def test_what_has_no_bill_cannot_be_paid_by_force(cashier):
    check = make_check("none")

    answer = pay(cashier, check, amount=1)

    assert "The biller has not answered yet" in words(answer)
    assert not Order.objects.exists()


@pytest.mark.parametrize("amount", ["", "0", "x", "-5"])
def test_an_amount_that_makes_no_sense_pays_nothing(cashier, amount):
    check = make_check()

    assert pay(cashier, check, amount=amount)["Location"] == f"/bills/{check.ref_id}/"
    assert not Order.objects.exists()


def test_a_short_balance_is_said_before_and_does_not_forbid(cashier):
    check = make_check()
    read_balance(100_000)

    assert "The balance is Rp2.500 short." in words(cashier.get(f"/bills/{check.ref_id}/"))
    pay(cashier, check)
    assert Order.objects.count() == 1


# --- a payment that is held or has ended --------------------------------------------------------------------------


def held(check, reason, **facts):
    before = timezone.now() - dt.timedelta(seconds=20)
    BillCheck.objects.filter(pk=check.pk).update(answered_at=before)
    return make_payment(
        check, Status.HELD, hold_reason=reason, sent_at=before + dt.timedelta(seconds=10), next_check_at=None, **facts
    )


@pytest.mark.parametrize("page", ["/bills/{}/", "/orders/{}/"])
def test_a_changed_total_is_looked_at_before_it_can_be_paid(cashier, page):
    check = make_check()
    held(check, HoldReason.AMOUNT_MISMATCH)

    shown = cashier.get(page.format(check.ref_id)).content.decode()

    assert f"/bills/{check.ref_id}/ask/" in shown
    assert f"/bills/{check.ref_id}/pay/" not in shown
    assert f"/orders/{check.ref_id}/again/" not in shown


@pytest.mark.parametrize("page", ["/bills/{}/", "/orders/{}/"])
def test_the_new_total_is_confirmed_and_paid_with_the_same_ref_id(cashier, page):
    check = make_check()
    order = held(check, HoldReason.AMOUNT_MISMATCH)
    BillCheck.objects.filter(pk=check.pk).update(total=105_000, answered_at=timezone.now())

    shown = cashier.get(page.format(check.ref_id))
    cashier.post(f"/bills/{check.ref_id}/pay/", hidden(shown))

    assert "Confirm Rp105.000 (was Rp102.500) and pay" in words(shown)
    order.refresh_from_db()
    assert (order.status, order.max_price, Order.objects.count()) == ("queued", 105_000, 1)


def test_a_short_balance_is_paid_again_with_the_same_ref_id_while_the_check_lives(cashier):
    check = make_check()
    order = held(check, HoldReason.BALANCE_SHORT)

    page = cashier.get(f"/orders/{order.ref_id}/")
    answers = [pay(cashier, check), pay(cashier, check)]

    assert "Pay Rp102.500 again" in words(page)
    assert "Someone who may resolve orders" not in words(page)
    assert {answer["Location"] for answer in answers} == {f"/orders/{order.ref_id}/"}
    order.refresh_from_db()
    assert order.status == "queued"


def test_a_payment_held_until_its_check_expired_is_checked_again(cashier):
    check = make_check()
    order = held(check, HoldReason.BALANCE_SHORT)
    expire(check)

    page = cashier.get(f"/orders/{order.ref_id}/")
    refused = pay(cashier, check)

    assert "held until its check expired" in words(page)
    assert f"/bills/{check.ref_id}/again/" in page.content.decode()
    assert "This check has expired" in words(refused)
    order.refresh_from_db()
    assert order.status == "held"


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (Status.FAILED, "", "The payment failed, and the upstream refunds what was charged."),
        (Status.REJECTED, "INQUIRY_EXPIRED", "The payment came after the check had expired."),
        (Status.REJECTED, "BILL_ALREADY_PAID", "It was paid elsewhere between the check and the payment."),
        (Status.REJECTED, "BILL_NOT_FOUND", "The upstream no longer knows this check."),
        (Status.CANCELLED, "", "The payment was cancelled before anything was charged."),
    ],
)
@pytest.mark.parametrize("page", ["/bills/{}/", "/orders/{}/"])
def test_each_end_without_payment_says_so_and_offers_a_new_check(cashier, page, status, code, said):
    check = make_check()
    make_payment(check, status, error_code=code)

    shown = cashier.get(page.format(check.ref_id))

    assert said in words(shown)
    assert f"/bills/{check.ref_id}/again/" in shown.content.decode()
    assert f"/bills/{check.ref_id}/pay/" not in shown.content.decode()


def test_a_paid_bill_shows_its_facts_on_the_order_and_the_receipt(cashier):
    check = make_check()
    make_payment(check, Status.SUCCESS, sn="SN-1", price=102_500)

    shown = cashier.get(f"/orders/{check.ref_id}/")

    assert "SITI AMINAH" in words(shown)
    assert f"/orders/{check.ref_id}/receipt/" in shown.content.decode()
    assert f"/products/{check.product_code}/buy/" not in shown.content.decode()


def test_a_held_bill_can_be_cancelled_by_someone_who_may_resolve_and_is_never_sent_as_a_purchase(admin):
    check = make_check()
    order = held(check, HoldReason.BALANCE_SHORT)

    page = admin.get(f"/orders/{order.ref_id}/").content.decode()
    admin.post(f"/orders/{order.ref_id}/again/")
    order.refresh_from_db()
    assert order.status == "held"
    admin.post(f"/orders/{order.ref_id}/cancel/")

    assert f"/orders/{order.ref_id}/again/" not in page
    order.refresh_from_db()
    assert order.status == "cancelled"


def test_a_payment_that_waits_for_the_biller_says_that_it_goes_by_itself(cashier):
    check = make_check()
    make_payment(check, Status.QUEUED, error_code="INQUIRY_PENDING")

    assert "is sent by itself as soon as it is ready" in words(cashier.get(f"/orders/{check.ref_id}/"))


def test_an_order_of_a_purchase_shows_nothing_of_bills(cashier):
    order = make_order(Status.SUCCESS)

    assert "bill-panel" not in cashier.get(f"/orders/{order.ref_id}/").content.decode()
