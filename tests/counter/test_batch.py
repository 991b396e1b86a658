"""All saved bills of a customer are checked together, chosen and reviewed, and each is paid for itself."""

import html
import re
import uuid

import pytest
from django.utils import timezone

from bills.models import BillCheck
from bills.services.inquiring import months_of
from customers.models import SavedNumber
from drawers.models import Payment
from drawers.services import expected_cash, rounded_up
from purchases.models import Order
from purchases.states import ActionReason, Status
from staff.models import User
from testing.factories import make_biller, make_check, make_payment
from tests.core.helpers import amounts_at, codes, counts_at, has_id, next_question, words
from tests.credit.helpers import give_credit
from tests.customers.helpers import make_customer
from tests.drawers.helpers import begin, sell
from tests.gateway.helpers import read_balance

pytestmark = pytest.mark.django_db


def start_batch(client, customer):
    return client.post(f"/counter/batch/customer/{customer.pk}/")["Location"]


def answer(batch_check, **facts):
    """Let the biller answer this check of a batch with a bill."""
    given = {
        "answer": "bill",
        "customer_name": "SITI AMINAH",
        "period": "Nov 2026",
        "amount": 100_000,
        "admin_fee": 2_500,
        "penalty": 0,
        "total": 102_500,
        "expires_at": timezone.now() + timezone.timedelta(minutes=5),
        "answered_at": timezone.now(),
        "next_poll_at": None,
    }
    given |= facts
    BillCheck.objects.filter(pk=batch_check.pk).update(months=months_of(given["period"], []), **given)


def answered_batch(client, bills, **facts):
    """The address of a batch of so many bills of one customer, and its checks, all answered by the biller."""
    numbers = [(f"1111{i}", make_biller()) for i in range(bills)]
    address = start_batch(client, make_customer("Bu Sari", *numbers))
    checks = list(BillCheck.objects.order_by("pk"))
    for check in checks:
        answer(check, **facts)
    return address, checks


def test_all_saved_bills_are_checked_together_with_progress(cashier):
    first, second = make_biller(), make_biller()
    customer = make_customer("Bu Sari", ("1111", first), ("2222", second), ("081234567890", "phone"))

    address = start_batch(cashier, customer)
    waiting = cashier.get(address)
    live = next_question(waiting)[0]
    unchanged = cashier.get(live).content.decode()
    answer(BillCheck.objects.get(destination="1111"))
    changed = cashier.get(live)

    assert BillCheck.objects.count() == 2
    assert '<progress value="0" max="2"' in waiting.content.decode()
    assert counts_at(waiting, 'id="batch-progress"') == [0, 2]
    assert "batch-row" not in unchanged
    assert '<progress value="1" max="2"' in changed.content.decode()
    assert counts_at(changed, 'id="batch-progress"') == [1, 2]
    assert changed.content.decode().count("batch-row") == 1
    assert "Rp102.500" in changed.content.decode()


def test_what_cannot_be_checked_is_left_out_and_keeps_no_other_from_its_check(cashier):
    bad = make_biller(availability="inactive")
    customers = [
        make_customer("Bu Ani", ("2222", bad)),
        make_customer("Bu Sari", ("1111", make_biller()), ("2222", bad)),
        make_customer("Bu Rini", ("12 34 # 5", make_biller()), ("3333", make_biller())),
    ]

    alone, some, wrong = (
        cashier.post(f"/counter/batch/customer/{customer.pk}/", follow=True) for customer in customers
    )

    assert codes(alone) == {"no_bill_checked"}
    assert counts_at(some, 'data-code="bills_left_out"') == [1]
    assert counts_at(wrong, 'id="batch-progress"') == [0, 1]  # its biller no longer takes the saved number
    assert [*BillCheck.objects.order_by("pk").values_list("destination", flat=True)] == ["1111", "3333"]


def test_credit_is_offered_only_if_all_chosen_bills_are_of_one_customer(cashier):
    # given: two bills of one customer, and one of another; both may buy on credit
    nita, yanto = give_credit("Mbak Nita", cap=500_000), give_credit("Pak Yanto", cap=500_000)
    for number, customer in (("1111", nita), ("2222", nita), ("3333", yanto)):
        SavedNumber.objects.create(customer=customer, destination=number, product=make_biller(), kind="customer")
    ticked = list(SavedNumber.objects.order_by("pk").values_list("pk", flat=True))
    address = cashier.post("/counter/batch/due/", {"number": ticked})["Location"]
    checks = {check.destination: check for check in BillCheck.objects.all()}
    for check in checks.values():
        answer(check)

    def payer(*numbers: str) -> str:
        query = "&".join(f"bill={checks[number].ref_id}" for number in numbers)
        page = cashier.get(f"{address}review/?{query}").content.decode()
        return re.search(r'name="paid_by_customer"[^>]*value="([^"]*)"', page)[1]

    # then
    assert [payer("1111", "2222"), payer("3333")] == ["Mbak Nita", "Pak Yanto"]
    assert [payer("1111", "3333"), payer("1111", "2222", "3333")] == ["", ""]


@pytest.mark.usefixtures("costs_shown")
def test_the_chosen_bills_are_reviewed_with_total_and_balance(cashier):
    billers = [make_biller() for _ in range(3)]
    customer = make_customer("Bu Sari", *[(f"1111{i}", biller) for i, biller in enumerate(billers)])
    address = start_batch(cashier, customer)
    checks = list(BillCheck.objects.order_by("pk"))
    for check in checks[:2]:
        answer(check)
    read_balance(500_000)

    chosen = "&".join(f"bill={check.ref_id}" for check in checks)
    page = cashier.get(f"{address}review/?{chosen}")

    assert counts_at(page, 'id="chosen-count"') == [2]
    assert counts_at(page, 'id="left-out"') == [1]
    for amount in ("Rp205.000", "Rp295.000"):
        assert amount in words(page)
    assert not Order.objects.exists()


def test_back_from_the_review_leaves_out_the_same_bills(cashier):
    address = start_batch(cashier, make_customer("Bu Sari", ("1111", make_biller()), ("2222", make_biller())))
    wanted, left = BillCheck.objects.order_by("destination")
    answer(wanted)
    answer(left, total=50_000, amount=47_500)

    review = cashier.get(f"{address}review/", {"bill": wanted.ref_id}).content.decode()
    back = html.unescape(re.search(r'id="counter-leave" href="([^"]+)"', review)[1])
    page = cashier.get(back)
    live = cashier.get(re.sub("seen=[^&]*", "seen=x", next_question(page)[0]))

    for shown in (page, live):
        boxes = re.findall(r'name="bill" value="([^"]+)"\s+(checked)?', shown.content.decode())
        assert boxes == [(wanted.ref_id, "checked"), (left.ref_id, "")]
        assert amounts_at(shown, "data-chosen-sum") == ["Rp102.500"]


def test_a_paid_bill_of_a_batch_leads_to_its_payment(cashier):
    biller = make_biller()
    paid = make_check(product=biller, destination="1111", period="Nov 2026")
    make_payment(paid, Status.SUCCESS)
    address = start_batch(cashier, make_customer("Bu Sari", ("1111", biller)))
    answer(BillCheck.objects.latest("pk"))

    page = cashier.get(address)

    assert codes(page) == {"paid_before"}
    assert f'href="/orders/{paid.ref_id}/"' in page.content.decode()
    assert 'name="bill"' not in page.content.decode()


def test_a_refused_bill_of_a_batch_does_not_stop_the_others(cashier):
    address, checks = answered_batch(cashier, 3)
    review = cashier.get(f"{address}review/?" + "&".join(f"bill={check.ref_id}" for check in checks))
    fields = re.findall(r'name="bill" value="([^"]+)"', review.content.decode())
    BillCheck.objects.filter(pk=checks[1].pk).update(total=110_000)

    pages = [cashier.post(f"{address}pay/", {"bill": fields}, follow=True) for _ in range(2)]

    assert {order.ref_id for order in Order.objects.all()} == {checks[0].ref_id, checks[2].ref_id}
    assert codes(pages[0]) == {"payments_placed", "bills_not_paid", "TotalChanged"}
    assert counts_at(pages[0], 'data-code="payments_placed"') == [2]
    assert counts_at(pages[0], 'data-code="bills_not_paid"') == [1]
    assert amounts_at(pages[0], 'data-code="TotalChanged"') == ["Rp110.000"]
    for check in (checks[0], checks[2]):
        assert f"/orders/{check.ref_id}/" in pages[0].content.decode()


def test_the_button_says_what_is_paid_and_what_is_only_asked(cashier):
    address, (first, second) = answered_batch(cashier, 2)
    BillCheck.objects.filter(pk=second.pk).update(total=300_000)
    User.objects.filter(username="cashier").update(own_approval_above=200_000)
    chosen = f"bill={first.ref_id}&bill={second.ref_id}"

    both, single = (cashier.get(f"{address}review/?{query}") for query in (chosen, f"bill={second.ref_id}"))

    assert amounts_at(both, 'id="counter-pay"') == ["Rp102.500", "Rp300.000"]
    assert amounts_at(single, 'id="counter-pay"') == []


def test_a_review_confirmed_in_two_tabs_pays_each_bill_once(cashier):
    address, checks = answered_batch(cashier, 3)
    fields = [f"{check.ref_id}:102500" for check in checks]

    first, second = (cashier.post(f"{address}pay/", {"bill": chosen}, follow=True) for chosen in (fields[:2], fields))
    third = cashier.post(f"{address}pay/", {"bill": fields}, follow=True)

    new, known = 'data-code="payments_placed"', 'data-code="payments_placed_before"'
    assert [counts_at(page, new) for page in (first, second, third)] == [[2], [1], []]
    assert [counts_at(page, known) for page in (first, second, third)] == [[], [2], [3]]
    assert Order.objects.count() == 3


def test_one_slip_pays_the_bills_of_one_press_and_is_asked_about_at_the_next(cashier):
    begin(User.objects.get(username="cashier"))
    address, checks = answered_batch(cashier, 3)
    fields = [f"{check.ref_id}:102500" for check in checks]
    card = {"paid_by": "card", "paid_reference": "004217"}
    assert has_id(cashier.get(f"{address}review/", {"bill": checks[0].ref_id}), "id_paid_reference")
    assert codes(cashier.post(f"{address}pay/", {"bill": fields[:2], "paid_by": "card"})) == {"PaymentUnclear"}
    assert not Order.objects.exists()

    for _pressed in range(2):  # an answer that was lost: the same form again
        cashier.post(f"{address}pay/", {"bill": fields[:2], **card}, follow=True)
    assert Order.objects.count() == 2
    asked = cashier.post(f"{address}pay/", {"bill": fields[2:], **card})

    assert (codes(asked), Order.objects.count()) == ({"SlipUsed"}, 2)
    assert 'value="004217" required data-sure' in asked.content.decode()
    cashier.post(f"{address}pay/", {"bill": fields[2:], "confirm_slip": "004217", **card})
    assert [*Payment.objects.values_list("reference", flat=True)] == ["004217"] * 3
    orders = cashier.get("/orders/?q=004217").content.decode()
    assert all(order.ref_id in orders for order in Order.objects.all())


def test_a_bill_of_a_batch_with_an_open_payment_leads_to_it_until_its_end(cashier):
    biller = make_biller()
    other = make_payment(
        make_check(product=biller, destination="1111"), Status.NEEDS_ACTION, action_reason=ActionReason.AMOUNT_MISMATCH
    )
    address = start_batch(cashier, make_customer("Bu Sari", ("1111", biller)))
    answer(BillCheck.objects.latest("pk"), period="Des 2026")

    page = cashier.get(address)

    assert codes(page) == {"open_elsewhere"}
    assert "Payable" not in words(page)
    assert f'href="/orders/{other.ref_id}/"' in page.content.decode()
    assert 'name="bill"' not in page.content.decode()
    assert has_id(page, "nothing-payable")
    Order.objects.filter(pk=other.pk).update(
        status=Status.FAILED, action_reason="", final_at=timezone.now(), ended_no=9, next_poll_at=None
    )
    changed = cashier.get(next_question(page)[0]).content.decode()
    assert 'name="bill"' in changed
    assert "Rp102.500" in changed


def test_nothing_chosen_and_forged_choices_pay_nothing(cashier):
    customer = make_customer("Bu Sari", ("1111", make_biller()))
    address = start_batch(cashier, customer)
    answer(BillCheck.objects.get())
    stranger = make_check()

    page = cashier.get(f"{address}review/", follow=True)
    cashier.post(f"{address}pay/", {"bill": [f"{stranger.ref_id}:{stranger.total}", "x", ":", "B1:-5"]})

    assert codes(page) == {"no_bill_chosen"}
    assert not Order.objects.exists()


def test_a_paid_batch_shows_each_payment(cashier):
    batch = uuid.uuid4()
    check = make_check(batch=batch)
    make_payment(check, Status.SUCCESS)

    page = cashier.get(f"/counter/batch/{batch}/")

    assert "Success" in words(page)
    assert has_id(page, "all-paid")
    assert next_question(page) is None


def test_bills_paid_together_are_one_payment_for_the_change_and_the_coins(cashier):
    shift = begin(User.objects.get(username="cashier"))
    address, checks = answered_batch(cashier, 2, amount=100_050, total=102_550)
    fields = [f"{check.ref_id}:102550" for check in checks]

    # "300" is 300.000 at a counter, also without the page's script
    page = cashier.post(f"{address}pay/", {"bill": fields, "paid_by": "cash", "cash_given": "300"}, follow=True)

    assert amounts_at(page, "data-change") == ["Rp94.900"]
    assert has_id(page, "all-paid")
    assert sum(order.payment.cash_given for order in Order.objects.all()) == 300_000
    assert expected_cash(shift) == 200_000 + 205_100
    assert rounded_up(shift) == (0, 0)
    sell(shift.cashier, 10_525)
    assert rounded_up(shift) == (1, 75)


def test_after_a_part_is_paid_the_next_customer_is_asked_about_the_rest(cashier):
    address, (paid, left) = answered_batch(cashier, 2)
    assert not has_id(cashier.get(address), "next-customer")

    page = cashier.post(f"{address}pay/", {"bill": f"{paid.ref_id}:102500", "paid_by": "cash"}, follow=True)

    assert re.findall(r'data-left="([^"]+)"', page.content.decode()) == [left.ref_id]
    assert (has_id(page, "ask-unpaid"), has_id(page, "next-customer")) == (True, True)
    assert "data-paid-sum" not in page.content.decode()
    page = cashier.post(f"{address}pay/", {"bill": f"{left.ref_id}:102500", "paid_by": "cash"}, follow=True)
    assert (has_id(page, "ask-unpaid"), has_id(page, "next-customer")) == (False, True)
    assert "data-paid-sum" not in page.content.decode()  # they are in progress
    Order.objects.update(status=Status.SUCCESS, final_at=timezone.now(), ended_no=9, next_poll_at=None)
    assert "data-paid-sum>Rp205.000<" in cashier.get(address).content.decode()


def test_an_auditor_does_not_pay_a_batch_and_is_not_led_to_the_counter(cashier, auditor):
    batch = uuid.uuid4()
    check = make_check(batch=batch)
    address = f"/counter/batch/{batch}/"

    page = auditor.get(address)
    assert 'type="checkbox" name="bill"' not in page.content.decode()
    assert (has_id(page, "only-seen"), has_id(page, "nothing-payable")) == (True, False)
    assert auditor.get(f"{address}review/?bill={check.ref_id}").status_code == 403
    assert auditor.post(f"{address}pay/", {"bill": f"{check.ref_id}:{check.total}"}).status_code == 403
    assert not Order.objects.exists()

    make_payment(make_check(batch=batch), Status.SUCCESS)
    pages = [browser.get(address) for browser in (cashier, auditor)]
    assert [has_id(page, "next-customer") for page in pages] == [True, False]
    main = pages[1].content.decode().partition("<main")[2]
    assert 'href="/counter/"' not in main
    assert 'href="/bills/"' in main
    assert cashier.get(f"/counter/batch/{uuid.uuid4()}/").status_code == 404
