"""An order that may be cancelled or closed says which money the customer then gets back, as the books have it."""

import pytest
from django.db import transaction

from drawers.models import Payment
from drawers.services import PaymentFacts, change_payment, expected_cash, take_credit_payment
from ledger.models import Entry
from purchases.models import Order
from purchases.services.sending import claim
from purchases.states import ActionReason, Status
from testing.orders import answer
from testing.people import make_person, signed_in
from tests.conftest import Upstream
from tests.core.helpers import amounts_at, next_question
from tests.credit.helpers import account_of, give_credit, owed_by, sell_to, take_off
from tests.drawers.helpers import begin, end, sell
from tests.purchases.helpers import detail

pytestmark = pytest.mark.django_db(transaction=True)


def unavailable(order: Order) -> Order:
    """Send the order; the upstream says that the product is not available, so the order needs action."""
    claim(order.pk)
    return answer(order, Status.NEEDS_ACTION, action_reason=ActionReason.UNAVAILABLE)


def test_a_paid_order_that_is_cancelled_owes_its_money_and_says_so(upstream: Upstream):
    shift = begin(cash=100_000)
    browser = signed_in(shift.cashier)
    for facts in (PaymentFacts(), PaymentFacts(method="transfer", reference="BCA 7781")):
        order, in_drawer = unavailable(sell(shift.cashier, 10_500, payment=facts)), expected_cash(shift)

        for address in (order.get_absolute_url(), "/counter/"):
            assert amounts_at(browser.get(address), f'data-back="{facts.method}"') == ["Rp10.500"], address
        answered = browser.post(f"/orders/{order.ref_id}/cancel/", follow=True)

        assert amounts_at(answered, "data-toast") == ["Rp10.500"]
        order.refresh_from_db()
        payment, entries = order.payment, Entry.objects.filter(ref_id=order.ref_id).order_by("pk")
        assert (order.status, payment.outcome, payment.sold_in, payment.ended_in) == ("cancelled", "owed", shift, shift)
        assert expected_cash(shift) == in_drawer, "it is in the drawer until somebody gives it back"
        assert list(entries.values_list("kind", "amount")) == [("hold", 10_500), ("release", 10_500)]
        assert upstream.calls(order) == []
        assert f'id="row-refund-{payment.pk}"' in browser.get("/work/").content.decode()


def test_a_sale_on_credit_that_is_cancelled_gives_no_money_back():
    cashier, customer = begin().cashier, give_credit("Bu Sri")
    order = unavailable(sell_to(customer, 10_500, by=cashier))
    browser = signed_in(cashier)

    assert amounts_at(detail(browser, order), 'data-back="credit"') == ["Rp10.500"]
    answered = browser.post(f"/orders/{order.ref_id}/cancel/", follow=True)

    assert amounts_at(answered, "data-toast") == ["Rp10.500"]
    assert owed_by(customer) == 10_500, "until somebody notes it"


def test_an_order_of_a_shop_without_drawers_asks_whether_it_was_paid():
    seller = make_person("cashier", username="seller")
    order = unavailable(sell(seller, 10_500))
    browser = signed_in(seller)

    assert amounts_at(detail(browser, order), 'data-back="perhaps"') == ["Rp10.500"]
    answered = browser.post(f"/orders/{order.ref_id}/cancel/", follow=True)

    assert amounts_at(answered, "data-toast") == ["Rp10.500"]
    assert Payment.objects.get().outcome == "nothing"


def test_given_another_way_to_pay_then_an_open_page_says_that():
    shift = begin(cash=100_000)
    order = unavailable(sell(shift.cashier, 10_500))
    browser = signed_in(shift.cashier)
    questions = []
    for address in ("/counter/", order.get_absolute_url()):
        page = browser.get(address)
        assert amounts_at(page, 'data-back="cash"') == ["Rp10.500"], address
        questions.append(next_question(page)[0])
        assert "data-back" not in browser.get(questions[-1]).content.decode(), "nothing is new"

    change_payment(order.payment, method="qris", actor=shift.cashier)

    for question in questions:
        assert amounts_at(browser.get(question), 'data-back="qris"') == ["Rp10.500"], question


def test_a_sale_in_no_drawer_of_a_shop_with_drawers_is_owed_and_says_so():
    begin(make_person("cashier", username="with a drawer"))
    seller = make_person("supervisor", username="seller")
    browser = signed_in(seller)
    for facts in (PaymentFacts(method="transfer"), PaymentFacts()):
        order = unavailable(sell(seller, 10_500, payment=facts))

        for address in (order.get_absolute_url(), "/counter/"):
            assert amounts_at(browser.get(address), f'data-back="{facts.method}"') == ["Rp10.500"], address
        browser.post(f"/orders/{order.ref_id}/cancel/")

        payment = Payment.objects.get(ref_id=order.ref_id)
        assert (payment.outcome, payment.sold_in) == ("owed", None)


def test_a_customer_to_whom_the_shop_owes_money_has_paid_the_debt():
    cashier, customer = begin(cash=100_000).cashier, give_credit()
    failed = sell_to(customer, 5_000, by=cashier)
    take_credit_payment(account_of(customer), amount=5_000, method="cash", actor=cashier)
    take_off(end(failed, "failed"), actor=cashier)
    order = unavailable(sell_to(customer, 3_000, by=cashier))
    assert owed_by(customer) == -2_000

    assert amounts_at(detail(signed_in(cashier), order), 'data-back="debt_paid"') == ["Rp3.000"]


def test_an_open_page_says_how_much_of_a_debt_is_paid_also_of_a_deleted_customer():
    cashier, customer = begin(cash=100_000).cashier, give_credit()
    order = unavailable(sell_to(customer, 10_500, by=cashier))
    browser = signed_in(cashier)
    questions = []
    for address in ("/counter/", order.get_absolute_url()):
        page = browser.get(address)
        assert amounts_at(page, 'data-back="credit"') == ["Rp10.500"], address
        questions.append(next_question(page)[0])

    take_credit_payment(account_of(customer), amount=6_000, method="cash", actor=cashier)
    assert amounts_at(detail(browser, order), 'data-back="debt_part"') == ["Rp10.500", "Rp6.000"]
    take_credit_payment(account_of(customer), amount=4_500, method="cash", actor=cashier)
    for question in questions:
        assert amounts_at(browser.get(question), 'data-back="debt_paid"') == ["Rp10.500"], question
    with transaction.atomic():
        customer.delete()

    assert amounts_at(detail(browser, order), 'data-back="debtor_deleted"') == ["Rp10.500"]
    answered = browser.post(f"/orders/{order.ref_id}/cancel/", follow=True)
    assert amounts_at(answered, "data-toast") == ["Rp10.500"]
    assert Payment.objects.get().outcome == "owed"
