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


@pytest.mark.parametrize(
    ("status", "code"), [("queued", "OpenDuplicate"), ("success", "AlreadyPaid"), ("failed", "NotPayable:bill")]
)
def test_a_payment_of_a_colleague_is_not_said_to_be_ones_own_sale(cashier, status, code):
    check = make_check()
    colleague = make_person("cashier", username="ani")
    form = {"amount": check.total, "cash_given": "150000"}
    signed_in(colleague).post(f"/counter/bills/{check.ref_id}/pay/", form)
    order = Order.objects.get()
    if status != "queued":
        report(order, status)

    answer = cashier.post(f"/counter/bills/{check.ref_id}/pay/", form | {"cash_given": "110000"}, headers=HTMX)

    assert codes(answer) == {code}
    assert has_id(answer, "counter-bill")
    assert "Rp47.500" not in words(answer)  # the change for the cash that the colleague has taken
    assert list(Payment.objects.values_list("seller__username", "cash_given")) == [("ani", 150_000)]
    assert entries_of(order) == BOOKED[status]
    assert not Exchange.objects.filter(ref_id=order.ref_id).exists()


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


def test_the_slip_of_a_payment_is_no_question_when_it_is_sent_again(cashier):
    check = make_check()
    form = {"amount": check.total, "paid_by": "card", "paid_reference": "004217"}

    answers = [cashier.post(f"/counter/bills/{check.ref_id}/pay/", form) for _pressed in range(2)]

    assert [answer["Location"] for answer in answers] == ["/counter/"] * 2
    assert Payment.objects.get().reference == "004217"


@pytest.mark.parametrize(
    ("expires_at", "standing"),
    [
        ("9999-12-31T23:59:59Z", "payable"),
        ("9999-12-31T23:59:59-12:00", "payable"),
        ("0001-01-01T00:00:00Z", "expired"),
        ("0001-01-01T00:00:00+07:00", "expired"),
    ],
)
def test_a_bill_that_never_or_always_expires_is_shown(cashier, expires_at, standing):
    said = BillInquiry.model_validate(INQUIRY | {"expires_at": expires_at})
    check = make_check(expires_at=said.expires_at)

    pages = [cashier.get(address) for address in ("/bills/", f"/bills/{check.ref_id}/")]

    assert [page.status_code for page in pages] == [200, 200]
    assert standing_on(at_counter(cashier, check)) == standing


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


def test_a_check_that_expired_before_the_click_is_not_paid(cashier):
    check = make_check()
    expire(check)

    answer = pay(cashier, check)

    assert codes(answer) == {"CheckExpired"}
    assert f"/counter/bills/{check.ref_id}/again/" in answer.content.decode()
    assert not Order.objects.exists()


def test_an_older_check_leads_to_the_newer_one(cashier):
    older = make_check()
    newer = make_check(product=older.product)

    answer = pay(cashier, older)

    assert codes(answer) == {"Replaced"}
    assert f'href="/counter/bills/{newer.ref_id}/"' in answer.content.decode()
    assert not Order.objects.exists()


def test_a_bill_that_we_have_paid_leads_to_its_payment(cashier):
    first = make_check()
    expire(first)
    make_payment(first, Status.SUCCESS)
    second = make_check(product=first.product)

    answer = pay(cashier, second)

    assert codes(answer) == {"AlreadyPaid"}
    assert f'href="/orders/{first.ref_id}/"' in answer.content.decode()


def test_a_bill_of_a_paid_month_says_so_before_it_is_paid(cashier):
    first = make_check()
    make_payment(first, Status.SUCCESS)
    second = make_check(product=first.product)

    page = at_counter(cashier, second)

    assert standing_on(page) == "paid_before"
    assert f'href="/orders/{first.ref_id}/"' in page.content.decode()
    assert posts_on(page) == set()


def test_an_open_payment_refuses_a_second_and_links_to_it(cashier):
    first = make_check()
    make_payment(first, Status.PENDING)
    second = make_check(product=first.product, period="Des 2026", details=[])

    answer = pay(cashier, second)

    assert codes(answer) == {"OpenDuplicate"}
    assert f'href="/orders/{first.ref_id}/"' in answer.content.decode()


@pytest.mark.parametrize("status", [Status.PENDING, Status.NEEDS_ACTION])
def test_a_bill_with_an_open_payment_says_so_before_it_is_paid(cashier, status):
    first = make_check()
    make_payment(first, status, action_reason=ActionReason.AMOUNT_MISMATCH if status == Status.NEEDS_ACTION else "")
    second = make_check(product=first.product, period="Des 2026", details=[])

    page = at_counter(cashier, second)

    assert standing_on(page) == "open_elsewhere"
    assert f'href="/orders/{first.ref_id}/"' in page.content.decode()
    assert posts_on(page) == set()
    assert "data-countdown" not in page.content.decode()


def test_a_page_leads_to_the_counter_when_the_other_gives_way(cashier):
    first = make_check()
    make_payment(first, Status.NEEDS_ACTION, action_reason=ActionReason.AMOUNT_MISMATCH)
    second = make_check(product=first.product)
    page = cashier.get(second.get_absolute_url())

    expire(first)

    assert (standing_on(page), has_id(page, "bill-counter")) == ("open_elsewhere", False)
    assert has_id(cashier.get(next_question(page)[0]), "bill-counter")
    assert posts_on(at_counter(cashier, second)) == {"pay", "again"}


def test_what_has_no_bill_cannot_be_paid_by_force(cashier):
    check = make_check("none")

    answer = pay(cashier, check, amount=1)

    assert codes(answer) == {"NotPayable:none"}
    assert not Order.objects.exists()


def test_an_amount_that_makes_no_sense_pays_nothing(cashier):
    for amount in ["", "0", "x", "-5"]:
        check = make_check()

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


def test_a_changed_total_is_looked_at_before_it_can_be_paid(cashier):
    check = make_check()
    held(check, ActionReason.AMOUNT_MISMATCH)

    assert posts_on(at_counter(cashier, check)) == {"ask"}
    assert leads_to_counter(cashier, check)
    assert f"/orders/{check.ref_id}/again/" not in cashier.get(f"/orders/{check.ref_id}/").content.decode()


def test_a_new_total_is_confirmed_and_paid_with_the_same_ref(cashier):
    check = make_check()
    order = held(check, ActionReason.AMOUNT_MISMATCH)
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


def test_a_paid_bill_shows_its_facts_on_the_order(cashier):
    check = make_check()
    make_payment(check, Status.SUCCESS, sn="SN-1", price=102_500)

    shown = cashier.get(f"/orders/{check.ref_id}/")

    assert "SITI AMINAH" in words(shown)
    assert f"/orders/{check.ref_id}/receipt/" in shown.content.decode()
    assert f"/counter/?product={check.product_code}" not in shown.content.decode()


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


def test_an_order_of_a_purchase_shows_nothing_of_bills(cashier):
    order = make_order(Status.SUCCESS)

    assert "bill-panel" not in cashier.get(f"/orders/{order.ref_id}/").content.decode()
