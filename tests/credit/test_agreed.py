"""The payment of an order that a second person approves: agreed at the request, stored when the order is placed."""

import pytest
from django.test import Client

from approvals.models import Approval, hash_of
from bills.models import BillCheck
from catalogue.models import Product
from credit.errors import OverCap
from credit.models import CreditEntry
from credit.services import set_credit
from drawers.models import Payment
from drawers.services import close_shift, expected_cash
from ledger.services import books
from purchases.models import Order
from purchases.services import submit
from staff.models import User
from testing.factories import entries_of, make_check, make_product, moves
from testing.people import browser_of, make_person
from tests.approvals.helpers import approve, approver
from tests.credit.helpers import give_credit, owed_by, send_sale
from tests.drawers.helpers import begin, pieces_of
from tests.ledger.helpers import open_books
from upstream.budget import CallClass

pytestmark = pytest.mark.django_db(transaction=True)

NUMBER = "081290000001"


@pytest.fixture
def browser():
    return browser_of("cashier", own_approval_above=5_000)


@pytest.fixture
def seller(browser):
    return User.objects.get(username="cashier")


def ask(browser: Client, product: Product, number: str = NUMBER, **more: str) -> Approval:
    """Have the cashier confirm the review of a sale above the limit."""
    assert "/approvals/" in send_sale(browser, product, number, **more)["Location"]
    return Approval.objects.latest("pk")


def sales(ref_id: str) -> list[tuple[object, ...]]:
    """The payment of this order: shift, shift that sold it, method, rupiah, cash given."""
    payments = Payment.objects.filter(ref_id=ref_id)
    return list(payments.values_list("sold_in", "agreed_in", "method", "amount", "cash_given"))


AGREED = [
    ({"paid_by": "qris"}, None),
    ({"paid_by": "cash", "cash_given": "20.000"}, 20_000),
    ({"paid_by": "credit", "paid_by_customer": "Bu Sri"}, None),
]


def test_given_an_approval_then_it_is_paid_as_agreed(upstream, browser, seller):
    open_books(1_000_000)
    shift, customer, budi = begin(seller, cash=100_000), give_credit(cap=15_000), approver()
    product = Product.objects.get(name="Telkomsel 10.000")
    for count, (typed, given) in enumerate(AGREED):
        method, number = typed["paid_by"], f"08129000{count}001"
        owed = product.sells_for if method == "credit" else 0

        approval = ask(browser, product, number, **typed)
        assert (approval.facts["payment"]["method"], approval.sha256) == (method, hash_of(approval.content))
        assert 'data-fact="payment">' in browser.get(approval.get_absolute_url()).content.decode()
        assert (Order.objects.count(), CreditEntry.objects.count(), owed_by(customer)) == (count, 0, 0)
        approve(approval, budi)
        order = Order.objects.latest("pk")
        assert owed_by(customer) == owed, method
        submit(order.pk, call_class=CallClass.INTERACTIVE)

        assert sales(order.ref_id) == [(shift.pk, None, method, product.sells_for, given)]
        assert list(CreditEntry.objects.values_list("kind", "amount", "ref_id", "person__username")) == (
            [("sale", owed, order.ref_id, "cashier")] if owed else []
        )
        assert moves(order)[:2] == [("", "queued", "staff"), ("queued", "sending", "submit")]
        assert entries_of(order)[0] == ("hold", product.price)
        assert upstream.calls(order, "create") == ["/v1/transaction/create"]


def test_given_a_full_account_then_it_stays_open_until_there_is_room(browser, seller):
    customer, product, budi = give_credit(cap=10_500), make_product(), approver()
    open_books(1_000_000)
    begin(seller)
    approval = ask(browser, product, paid_by="credit", paid_by_customer="Bu Sri")
    set_credit(customer, cap=10_499, due_days=14, actor=budi)

    with pytest.raises(OverCap):
        approve(approval, budi)

    approval.refresh_from_db()
    assert (approval.is_open, Order.objects.count(), owed_by(customer), books().reserved) == (True, 0, 0, 0)
    set_credit(customer, cap=10_500, due_days=14, actor=budi)
    assert approve(approval, budi).state == "approved"
    assert owed_by(customer) == 10_500


def test_given_a_renamed_customer_then_the_approval_is_void(browser, seller):
    customer, product = give_credit(), make_product()
    approval = ask(browser, product, paid_by="credit", paid_by_customer="Bu Sri")
    type(customer).objects.filter(pk=customer.pk).update(name="Bu Sri Rahayu")

    decided = approve(approval, approver())

    assert (decided.state, list(decided.changes), Order.objects.count()) == ("void", ["payment"], 0)


def test_given_a_bill_above_the_limit_then_it_is_on_the_account(browser, seller):
    customer, check = give_credit(cap=200_000), make_check()
    open_books(1_000_000)
    fields = {"amount": check.total, "fee": 0, "paid_by": "credit", "paid_by_customer": "Bu Sri"}
    browser.post(f"/counter/bills/{check.ref_id}/pay/", fields)
    approval = Approval.objects.get()

    approve(approval, approver())

    assert BillCheck.objects.get().order == Order.objects.get()
    assert list(CreditEntry.objects.values_list("kind", "amount", "ref_id")) == [("sale", check.total, check.ref_id)]
    assert owed_by(customer) == check.total


def test_given_a_closed_shift_then_it_enters_the_sellers_next(browser, seller):
    """Also when another person has sold meanwhile; a shift of another seller takes nothing."""
    first, other = begin(seller, cash=100_000), begin(make_person("supervisor"))
    product = make_product()
    approval = ask(browser, product, paid_by="qris")
    close_shift(first, pieces=pieces_of(100_000), actor=seller)
    approve(approval, approver())
    order = Order.objects.get()
    assert sales(order.ref_id) == [(None, first.pk, "qris", 10_500, None)]

    second = begin(seller, drawer=first.drawer, cash=100_000)

    assert sales(order.ref_id) == [(second.pk, first.pk, "qris", 10_500, None)]
    assert not other.payments.exists()
    browser = browser_of("admin", username="looks")
    assert 'id="later"' in browser.get(f"/shifts/{first.pk}/").content.decode()
    assert f"sold in shift {first.pk}" in browser.get(f"/shifts/{second.pk}/").content.decode()


def test_given_no_drawer_at_the_request_then_it_enters_no_shift_that_opens_before_the_approval(browser, seller):
    begin(make_person("supervisor"))
    open_books(1_000_000)
    ask(browser, make_product(), paid_by="cash")
    check = make_check()
    browser.post(f"/counter/bills/{check.ref_id}/pay/", {"amount": check.total, "fee": 0, "paid_by": "cash"})
    shift, budi = begin(seller, cash=100_000), approver()

    for approval in Approval.objects.order_by("pk"):
        approve(approval, budi)

    purchase, bill = Order.objects.order_by("pk")
    assert bill.ref_id == check.ref_id
    for order in (purchase, bill):
        assert sales(order.ref_id) == [(None, None, "cash", order.customer_pays, None)]
        assert order.payment.seller == seller
    assert expected_cash(shift) == 100_000
    assert close_shift(shift, pieces=pieces_of(100_000), actor=seller).difference == 0
