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


@pytest.mark.parametrize("facts", [PaymentFacts(), PaymentFacts(method="transfer", reference="BCA 7781")])
def test_a_paid_order_that_is_cancelled_owes_its_money_and_says_so(upstream: Upstream, facts):
    shift = begin(cash=100_000)
    order = unavailable(sell(shift.cashier, 10_500, payment=facts))
    browser, in_drawer = signed_in(shift.cashier), expected_cash(shift)

    for address in (order.get_absolute_url(), "/counter/"):
        assert amounts_at(browser.get(address), f'data-back="{facts.method}"') == ["Rp10.500"], address
    answered = browser.post(f"/orders/{order.ref_id}/cancel/", follow=True)

    assert amounts_at(answered, "data-toast") == ["Rp10.500"]
    order.refresh_from_db()
    payment = order.payment
    assert (order.status, payment.outcome, payment.sold_in, payment.ended_in) == ("cancelled", "owed", shift, shift)
    assert expected_cash(shift) == in_drawer, "it is in the drawer until somebody gives it back"
    assert list(Entry.objects.order_by("pk").values_list("kind", "amount")) == [("hold", 10_500), ("release", 10_500)]
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


@pytest.mark.parametrize("address", ["/counter/", "order"])
def test_given_another_way_to_pay_then_an_open_page_says_that(address):
    shift = begin(cash=100_000)
    order = unavailable(sell(shift.cashier, 10_500))
    browser = signed_in(shift.cashier)
    page = browser.get(order.get_absolute_url() if address == "order" else address)
    question, _delay = next_question(page)
    assert amounts_at(page, 'data-back="cash"') == ["Rp10.500"]
    assert "data-back" not in browser.get(question).content.decode(), "nothing is new"

    change_payment(order.payment, method="qris", actor=shift.cashier)

    assert amounts_at(browser.get(question), 'data-back="qris"') == ["Rp10.500"]


@pytest.mark.parametrize("address", ["/counter/", "order"])
def test_given_a_debt_that_is_paid_then_an_open_page_says_that(address):
    cashier, customer = begin(cash=100_000).cashier, give_credit()
    order = unavailable(sell_to(customer, 10_500, by=cashier))
    browser = signed_in(cashier)
    page = browser.get(order.get_absolute_url() if address == "order" else address)
    question, _delay = next_question(page)
    assert amounts_at(page, 'data-back="credit"') == ["Rp10.500"]

    take_credit_payment(account_of(customer), amount=10_500, method="cash", actor=cashier)

    assert amounts_at(browser.get(question), 'data-back="debt_paid"') == ["Rp10.500"]


@pytest.mark.parametrize("facts", [PaymentFacts(method="transfer"), PaymentFacts()])
def test_a_sale_in_no_drawer_of_a_shop_with_drawers_is_owed_and_says_so(facts):
    begin(make_person("cashier", username="with a drawer"))
    seller = make_person("supervisor", username="seller")
    order = unavailable(sell(seller, 10_500, payment=facts))
    browser = signed_in(seller)

    for address in (order.get_absolute_url(), "/counter/"):
        assert amounts_at(browser.get(address), f'data-back="{facts.method}"') == ["Rp10.500"], address
    browser.post(f"/orders/{order.ref_id}/cancel/")

    payment = Payment.objects.get()
    assert (payment.outcome, payment.sold_in) == ("owed", None)


def test_a_debt_says_how_much_of_it_comes_off_and_how_much_is_paid():
    cashier, customer = begin(cash=100_000).cashier, give_credit()
    order = unavailable(sell_to(customer, 10_500, by=cashier))
    take_credit_payment(account_of(customer), amount=6_000, method="cash", actor=cashier)

    assert amounts_at(detail(signed_in(cashier), order), 'data-back="debt_part"') == ["Rp10.500", "Rp6.000"]


def test_a_customer_to_whom_the_shop_owes_money_has_paid_the_debt():
    cashier, customer = begin(cash=100_000).cashier, give_credit()
    failed = sell_to(customer, 5_000, by=cashier)
    take_credit_payment(account_of(customer), amount=5_000, method="cash", actor=cashier)
    take_off(end(failed, "failed"), actor=cashier)
    order = unavailable(sell_to(customer, 3_000, by=cashier))
    assert owed_by(customer) == -2_000

    assert amounts_at(detail(signed_in(cashier), order), 'data-back="debt_paid"') == ["Rp3.000"]


def test_the_paid_debt_of_a_deleted_customer_goes_back_in_money():
    cashier, customer = begin(cash=100_000).cashier, give_credit()
    order = unavailable(sell_to(customer, 10_500, by=cashier))
    take_credit_payment(account_of(customer), amount=10_500, method="cash", actor=cashier)
    with transaction.atomic():
        customer.delete()
    browser = signed_in(cashier)

    assert amounts_at(detail(browser, order), 'data-back="debtor_deleted"') == ["Rp10.500"]
    answered = browser.post(f"/orders/{order.ref_id}/cancel/", follow=True)

    assert amounts_at(answered, "data-toast") == ["Rp10.500"]
    assert Payment.objects.get().outcome == "owed"
