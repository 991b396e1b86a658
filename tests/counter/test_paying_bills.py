"""A checked bill is paid: one press makes one payment, and every refusal has its own code."""

import datetime as dt
import re

import pytest
from django.utils import timezone

from bills.models import BillCheck
from customers.models import SavedNumber
from drawers.models import Payment
from gateway.models import Exchange
from purchases.models import Order
from purchases.states import ActionReason, Status
from staff.models import User
from testing.factories import entries_of, make_check, make_order, make_payment
from testing.orders import report
from testing.people import make_person, signed_in
from tests.bills.helpers import at_counter, expire, leads_to_counter, posts_on, standing_on
from tests.core.helpers import amounts_at, codes, has_id, hidden, next_question, words, words_at
from tests.credit.helpers import give_credit
from tests.drawers.helpers import begin
from tests.gateway.helpers import read_balance
from tests.upstream.helpers import INQUIRY
from upstream.error_codes import meaning_of
from upstream.messages import BillInquiry

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
RELEASED = [("hold", 102_500), ("release", 102_500)]
BOOKED = {
    "queued": RELEASED[:1],
    "success": [*RELEASED, ("debit", 102_500)],
    "failed": [*RELEASED, ("debit", 102_500), ("refund", 102_500)],
}


def pay(client, check, amount=None):
    return client.post(f"/counter/bills/{check.ref_id}/pay/", {"amount": check.total if amount is None else amount})


# --- paying -------------------------------------------------------------------------------------------------------


def test_a_total_is_paid_once_however_often_it_is_pressed(cashier):
    check = make_check()

    answers = [pay(cashier, check), pay(cashier, check)]

    order = Order.objects.get()
    assert [answer["Location"] for answer in answers] == ["/counter/"] * 2
    assert (order.ref_id, order.kind, order.max_price) == (check.ref_id, "bill", 102_500)
    assert order.placed_by.username == "cashier"


def test_a_bill_on_credit_names_the_customer_for_whom_it_was_checked(cashier):
    # given: two customers with the same number, who may both buy on credit
    first, second = give_credit("Bu Ani", cap=500_000), give_credit("Pak Beni", cap=500_000)
    check = make_check()
    saved = [
        SavedNumber.objects.create(
            customer=customer, destination=check.destination, product=check.product, kind="customer"
        )
        for customer in (first, second)
    ]

    def debtor() -> str:
        page = cashier.get(f"/counter/bills/{check.ref_id}/").content.decode()
        return re.search(r'name="paid_by_customer"[^>]*value="([^"]*)"', page)[1]

    # then
    named = [debtor()]
    for number in saved:
        BillCheck.objects.filter(pk=check.pk).update(saved_number=number)
        named.append(debtor())
    assert named == ["Bu Ani", "Bu Ani", "Pak Beni"]


def test_a_payment_of_a_colleague_is_not_said_to_be_ones_own_sale(cashier):
    colleague = signed_in(make_person("cashier", username="ani"))
    for status, code in (("queued", "OpenDuplicate"), ("success", "AlreadyPaid"), ("failed", "NotPayable:bill")):
        check = make_check()
        address, form = f"/counter/bills/{check.ref_id}/pay/", {"amount": check.total, "cash_given": "150000"}
        colleague.post(address, form)
        order = Order.objects.get(ref_id=check.ref_id)
        if status != "queued":
            report(order, status)

        answer = cashier.post(address, form | {"cash_given": "110000"}, headers=HTMX)

        assert codes(answer) == {code}
        assert has_id(answer, "counter-bill"), status
        assert "Rp47.500" not in words(answer), status  # the change for the cash that the colleague has taken
        payments = Payment.objects.filter(ref_id=check.ref_id)
        assert list(payments.values_list("seller__username", "cash_given")) == [("ani", 150_000)], status
        assert entries_of(order) == BOOKED[status]
        assert not Exchange.objects.filter(ref_id=order.ref_id).exists(), status
    assert Payment.objects.count() == Order.objects.count() == 3


def test_a_slip_of_an_earlier_sale_of_today_is_asked_about(cashier):
    used = make_order(Status.SUCCESS)
    Payment.objects.filter(pk=used.payment_id).update(method="card", is_cash=False, reference="004217")
    check = make_check()
    form = {"amount": check.total, "paid_by": "card", "paid_reference": "004217"}
    address = f"/counter/bills/{check.ref_id}/pay/"

    asked = cashier.post(address, form, headers=HTMX)

    assert (codes(asked), Order.objects.count()) == ({"SlipUsed"}, 1)
    assert used.ref_id in words(asked)
    assert 'value="004217" required data-sure' in asked.content.decode()
    for _pressed in range(2):  # an answer that was lost: the same form again
        assert cashier.post(address, form | {"confirm_slip": "004217"}).status_code == 302
    paid = Payment.objects.get(ref_id=check.ref_id)
    assert (paid.method, paid.reference, paid.amount) == ("card", "004217", 102_500)
    assert entries_of(Order.objects.get(ref_id=check.ref_id)) == BOOKED["queued"]


def test_cash_that_was_typed_before_another_way_was_chosen_does_not_count(cashier):
    check = make_check()
    address, form = f"/counter/bills/{check.ref_id}/pay/", {"amount": check.total, "cash_given": "1.5jt"}

    assert codes(cashier.post(address, form | {"paid_by": "cash"})) == {"PaymentUnclear"}
    assert not Order.objects.exists()
    cashier.post(address, form | {"paid_by": "qris"})

    payment = Order.objects.get().payment
    assert (payment.method, payment.amount, payment.cash_given) == ("qris", 102_500, None)


def test_the_slip_of_a_payment_is_no_question_when_it_is_sent_again(cashier):
    check = make_check()
    form = {"amount": check.total, "paid_by": "card", "paid_reference": "004217"}

    answers = [cashier.post(f"/counter/bills/{check.ref_id}/pay/", form) for _pressed in range(2)]

    assert [answer["Location"] for answer in answers] == ["/counter/"] * 2
    assert Payment.objects.get().reference == "004217"


def test_a_bill_that_never_or_always_expires_is_shown(cashier):
    for expires_at, standing in (
        ("9999-12-31T23:59:59Z", "payable"),
        ("9999-12-31T23:59:59-12:00", "payable"),
        ("0001-01-01T00:00:00Z", "expired"),
        ("0001-01-01T00:00:00+07:00", "expired"),
    ):
        said = BillInquiry.model_validate(INQUIRY | {"expires_at": expires_at})
        check = make_check(expires_at=said.expires_at)

        pages = [cashier.get(address) for address in ("/bills/", f"/bills/{check.ref_id}/")]

        assert [page.status_code for page in pages] == [200, 200], expires_at
        assert standing_on(at_counter(cashier, check)) == standing, expires_at


def test_a_bill_by_card_names_its_slip_on_the_order_the_receipt_and_in_search(cashier):
    check = make_check()
    begin(User.objects.get(username="cashier"))
    assert has_id(cashier.get(f"/counter/bills/{check.ref_id}/"), "id_paid_reference")
    address, card = f"/counter/bills/{check.ref_id}/pay/", {"amount": check.total, "paid_by": "card"}

    assert codes(cashier.post(address, card)) == {"PaymentUnclear"}
    assert not Order.objects.exists()
    cashier.post(address, {**card, "paid_reference": "EDC-4217"})

    order = Order.objects.get()
    assert order.payment.reference == "EDC-4217"
    assert words_at(cashier.get(order.get_absolute_url()), 'id="sale-reference"') == "EDC-4217"
    assert order.ref_id in cashier.get("/orders/?q=edc-4217").content.decode()
    assert order.ref_id in cashier.get("/find/?q=EDC-4217").content.decode()
    assert order.ref_id not in cashier.get("/orders/?q=EDC-42").content.decode()


def test_a_total_that_changed_meanwhile_is_confirmed_again(cashier):
    check = make_check()
    BillCheck.objects.filter(pk=check.pk).update(total=105_000, penalty=2_500)

    asked = pay(cashier, check)

    assert codes(asked) == {"TotalChanged"}
    assert "Rp102.500 → Rp105.000" in words(asked)
    assert not Order.objects.exists()
    cashier.post(f"/counter/bills/{check.ref_id}/pay/", hidden(asked))
    assert Order.objects.get().max_price == 105_000


def test_beyond_the_limit_of_an_order_the_bill_says_only_that():
    person = make_person("cashier", username="sari", own_approval_above=50_000, own_per_order=100_000)

    page = signed_in(person).get(f"/counter/bills/{make_check().ref_id}/")

    assert (has_id(page, "beyond-limit"), has_id(page, "approval-needed")) == (True, False)
    assert re.search(r'id="counter-pay" data-send\s+disabled', page.content.decode())


def test_a_check_that_expired_or_is_paid_or_old_leads_to_what_can_be_paid(cashier):
    expired = make_check()
    expire(expired)
    older = make_check()
    newer = make_check(product=older.product)
    paid = make_check()
    expire(paid)
    make_payment(paid, Status.SUCCESS)
    same = make_check(product=paid.product)

    for check, code, leads in (
        (expired, "CheckExpired", f"/counter/bills/{expired.ref_id}/again/"),
        (older, "Replaced", f'href="/counter/bills/{newer.ref_id}/"'),
        (same, "AlreadyPaid", f'href="/orders/{paid.ref_id}/"'),
    ):
        answer = pay(cashier, check)
        assert codes(answer) == {code}
        assert leads in answer.content.decode(), code
    assert Order.objects.get().ref_id == paid.ref_id


def test_a_bill_of_a_paid_month_says_so_before_it_is_paid(cashier):
    first = make_check()
    make_payment(first, Status.SUCCESS)
    second = make_check(product=first.product)

    page = at_counter(cashier, second)

    assert standing_on(page) == "paid_before"
    assert f'href="/orders/{first.ref_id}/"' in page.content.decode()
    assert posts_on(page) == set()


def test_an_open_payment_refuses_a_second_and_links_to_it_also_before(cashier):
    for status, facts, code in (
        (Status.PENDING, {}, "OpenDuplicate"),
        (Status.NEEDS_ACTION, {"action_reason": ActionReason.AMOUNT_MISMATCH}, "OpenDuplicate:needs_action"),
    ):
        first = make_check()
        make_payment(first, status, **facts)
        second = make_check(product=first.product, period="Des 2026", details=[])

        page, answer = at_counter(cashier, second), pay(cashier, second)

        assert standing_on(page) == "open_elsewhere", status
        assert posts_on(page) == set(), status
        assert "data-countdown" not in page.content.decode(), status
        assert codes(answer) == {code}
        for shown in (page, answer):
            assert f'href="/orders/{first.ref_id}/"' in shown.content.decode(), status


def test_a_page_leads_to_the_counter_when_the_other_gives_way(cashier):
    first = make_check()
    make_payment(first, Status.NEEDS_ACTION, action_reason=ActionReason.AMOUNT_MISMATCH)
    second = make_check(product=first.product)
    page = cashier.get(second.get_absolute_url())

    expire(first)

    assert (standing_on(page), has_id(page, "bill-counter")) == ("open_elsewhere", False)
    assert has_id(cashier.get(next_question(page)[0]), "bill-counter")
    assert posts_on(at_counter(cashier, second)) == {"pay", "again"}


def test_what_has_no_bill_or_an_amount_that_makes_no_sense_pays_nothing(cashier):
    assert codes(pay(cashier, make_check("none"), amount=1)) == {"NotPayable:none"}
    assert not Order.objects.exists()

    check = make_check()
    for amount in ["", "0", "x", "-5"]:
        assert pay(cashier, check, amount=amount)["Location"] == f"/counter/bills/{check.ref_id}/", amount
        assert not Order.objects.exists(), amount


@pytest.mark.usefixtures("costs_shown")
def test_a_short_balance_is_said_before_and_does_not_forbid(cashier):
    check = make_check()
    read_balance(100_000)

    assert amounts_at(at_counter(cashier, check), 'id="bill-short"') == ["Rp2.500"]
    pay(cashier, check)
    assert Order.objects.count() == 1


# --- a payment that is held or has ended --------------------------------------------------------------------------


def held(check, reason, **facts):
    before = timezone.now() - dt.timedelta(seconds=20)
    BillCheck.objects.filter(pk=check.pk).update(answered_at=before)
    return make_payment(
        check,
        Status.NEEDS_ACTION,
        action_reason=reason,
        sent_at=before + dt.timedelta(seconds=10),
        next_poll_at=None,
        **facts,
    )


def test_a_new_total_is_looked_at_confirmed_and_paid_with_the_same_ref(cashier):
    check = make_check()
    order = held(check, ActionReason.AMOUNT_MISMATCH)
    assert posts_on(at_counter(cashier, check)) == {"ask"}
    assert leads_to_counter(cashier, check)
    assert f"/orders/{check.ref_id}/again/" not in cashier.get(f"/orders/{check.ref_id}/").content.decode()
    BillCheck.objects.filter(pk=check.pk).update(total=105_000, answered_at=timezone.now())

    shown = at_counter(cashier, check)
    cashier.post(f"/counter/bills/{check.ref_id}/pay/", hidden(shown))

    assert amounts_at(shown, 'id="counter-pay"') == ["Rp105.000", "Rp102.500"]
    order.refresh_from_db()
    assert (order.status, order.max_price, Order.objects.count()) == ("queued", 105_000, 1)


def test_a_short_balance_is_paid_again_while_the_check_is_valid(cashier):
    check = make_check()
    order = held(check, ActionReason.BALANCE_SHORT)

    page, shown = cashier.get(f"/orders/{order.ref_id}/"), at_counter(cashier, check)
    assert leads_to_counter(cashier, check)
    answers = [pay(cashier, check), pay(cashier, check)]

    assert standing_on(page) == standing_on(shown) == "pay_again"
    assert amounts_at(shown, 'id="counter-pay"') == ["Rp102.500"]
    assert not has_id(page, "order-needs_action")  # the words about a purchase that waits for somebody else
    assert {answer["Location"] for answer in answers} == {"/counter/"}
    order.refresh_from_db()
    assert order.status == "queued"


def test_a_payment_that_outlived_its_check_is_checked_again(cashier):
    check = make_check()
    order = held(check, ActionReason.BALANCE_SHORT)
    expire(check)

    page = cashier.get(f"/orders/{order.ref_id}/")
    refused = pay(cashier, check)

    assert standing_on(page) == "expired"
    assert leads_to_counter(cashier, check)
    assert posts_on(refused) == {"again"}
    assert 'id="refusal"' in refused.content.decode()
    order.refresh_from_db()
    assert order.status == "needs_action"


def test_each_end_without_payment_offers_what_can_succeed(cashier):
    for status, code, offered in [
        (Status.FAILED, "", {"again"}),
        (Status.CANCELLED, "", {"again"}),
        (Status.CLOSED, "", {"again"}),
        (Status.REVERSED, "", {"again"}),
        (Status.REJECTED, "INQUIRY_EXPIRED", {"again"}),
        (Status.REJECTED, "BILL_NOT_FOUND", {"again"}),
        (Status.REJECTED, "BILL_ALREADY_PAID", set()),
    ]:
        check = make_check()
        make_payment(check, status, error_code=code)

        shown = at_counter(cashier, check)

        assert standing_on(shown) == "ended", status
        assert posts_on(shown) == offered, status
        assert leads_to_counter(cashier, check) == bool(offered), status
        assert not code or str(meaning_of(code).words) in words(shown), status


def test_a_paid_bill_shows_its_facts_on_the_order_and_a_purchase_none_of_a_bill(cashier):
    check = make_check()
    make_payment(check, Status.SUCCESS, sn="SN-1", price=102_500)

    shown = cashier.get(f"/orders/{check.ref_id}/")

    assert "SITI AMINAH" in words(shown)
    assert f"/orders/{check.ref_id}/receipt/" in shown.content.decode()
    assert f"/counter/?product={check.product_code}" not in shown.content.decode()
    assert "bill-panel" not in cashier.get(f"/orders/{make_order(Status.SUCCESS).ref_id}/").content.decode()


def test_a_bill_is_cancelled_but_never_sent_as_a_purchase(admin):
    check = make_check()
    order = held(check, ActionReason.BALANCE_SHORT)

    page = admin.get(f"/orders/{order.ref_id}/").content.decode()
    admin.post(f"/orders/{order.ref_id}/again/")
    order.refresh_from_db()
    assert order.status == "needs_action"
    admin.post(f"/orders/{order.ref_id}/cancel/")

    assert f"/orders/{order.ref_id}/again/" not in page
    order.refresh_from_db()
    assert order.status == "cancelled"


def test_a_payment_that_waits_for_the_biller_says_so(cashier):
    check = make_check()
    make_payment(check, Status.QUEUED, error_code="INQUIRY_PENDING")

    page = cashier.get(f"/orders/{check.ref_id}/")

    assert codes(page) == {"not_charged", "sent_when_ready", "ask_to_cancel"}
