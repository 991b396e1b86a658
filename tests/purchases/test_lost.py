"""After a restore: orders that only the journal of sent orders has are taken in, and nothing is bought twice."""

import datetime as dt
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.utils import timezone

from approvals.errors import ApprovalRefused
from approvals.models import Approval, ApprovalState
from audit.models import AuditEvent
from bills.services import take_in_lost
from catalogue.models import Product
from credit.models import CreditEntry
from customers.models import Customer
from drawers import services as drawers
from drawers.errors import DrawerRefused
from drawers.models import DrawerEntry, Payment, Shift
from drawers.presenting.sales import money_back
from drawers.services import PaymentFacts, expected_cash, give_back, take_credit_payment, unsettled, will_be_owed
from earnings.services.journal import journal_of
from gateway.services import open_restored, read_balance
from ledger.services import books
from purchases.errors import ActionRefused
from purchases.models import LostOrder, Order
from purchases.services import note_given_back, queue_waiting_orders, send_again, submit
from purchases.services.lost import take_in
from purchases.services.polling import follow
from purchases.services.sending import claim
from purchases.states import ActionReason, Status
from reconciliation.services import reconcile
from staff.models import User
from testing import orders
from testing.factories import entries_of
from testing.people import browser_of, make_person
from tests.approvals.helpers import approve, approver, ask_order, cashier
from tests.conftest import Upstream
from tests.core.helpers import words
from tests.credit.helpers import account_of, give_credit, owed_by, sell_to
from tests.drawers.helpers import begin, end, pieces_of
from tests.purchases.magic import Lost, ask, ended, killed, place
from upstream.budget import CallClass

pytestmark = pytest.mark.usefixtures("sent_folder")

INTERACTIVE = CallClass.INTERACTIVE
MANY = 50


def sell(number: int = 1, **facts: Any) -> Order:
    """A sale to magic destination `number`, sent."""
    product = facts.pop("product", None) or Product.objects.get(name="Telkomsel 10.000")
    order = orders.place(
        product, destination=f"0812{number:08d}" if number > 99 else f"0812900000{number:02d}", **facts
    )
    submit(order.pk, call_class=INTERACTIVE)
    order.refresh_from_db()
    return order


def test_lost_orders_are_found_and_as_many_more_are_charged_once_each(upstream: Upstream):
    # given: opened books, and orders after the restored moment
    read_balance()
    reconcile()
    before = books().balance
    with Lost():
        lost = [sell(5_000 + number) for number in range(MANY)]
    assert Order.objects.count() == LostOrder.objects.exclude(order=None).count() == MANY
    assert {order.status for order in Order.objects.all()} == {Status.UNKNOWN}
    assert books().reserved == sum(order.max_price for order in lost)

    # when: each is polled, the shop opens, and as many more are sold
    found = [ended(Order.objects.get(ref_id=order.ref_id)) for order in lost]
    open_restored(actor=User.objects.create_superuser("owner"))
    again = [ended(order) for order in [sell(6_000 + number) for number in range(MANY)]]

    every = [*found, *again]
    for order in every:
        assert order.status == Status.SUCCESS
        assert entries_of(order) == [("hold", order.max_price), ("release", order.max_price), ("debit", order.price)]
    assert [order.attempt for order in found] == [1] * MANY
    moved = [
        (row["ref_id"], row["kind"], row["amount"]) for row in upstream.control("ledger")["mutations"] if row["ref_id"]
    ]
    assert sorted(moved) == sorted((order.ref_id, "debit", -order.price) for order in every)
    sent = upstream.control("requests", endpoint="/v1/transaction/create")["requests"]
    assert sorted(row["ref_id"] for row in sent) == sorted(order.ref_id for order in every)
    answer = read_balance()
    assert answer.data.balance == books().balance == before - sum(order.price for order in every)
    assert books().reserved == 0
    assert reconcile().state == "balanced"


def test_an_order_is_taken_in_with_its_outcome(upstream: Upstream):
    with Lost():
        failed, pending = sell(4), sell(3)

    taken_in = [
        (ended(Order.objects.get(ref_id=failed.ref_id)), Status.FAILED),
        (ask(Order.objects.get(ref_id=pending.ref_id), times=1), Status.PENDING),
    ]

    for order, status in taken_in:
        assert (order.status, order.events.first().facts["code"]) == (status, "taken_in")
        assert len(upstream.calls(order, "create")) == 1, status
        assert AuditEvent.objects.filter(kind="order_taken_in", subject=order.ref_id).count() == 1, status


def test_one_that_never_left_is_not_charged_and_not_sent(upstream: Upstream, monkeypatch, settings):
    settings.ORDER_NOT_FOUND_GRACE_SECONDS = 0.0
    monkeypatch.setattr("gateway.services.call", killed)
    with Lost(), pytest.raises(KeyboardInterrupt):
        sell(1)
    monkeypatch.undo()

    order = ask(Order.objects.get(), times=3)

    assert (order.status, order.action_reason) == (Status.NEEDS_ACTION, ActionReason.NEVER_ARRIVED)
    assert (upstream.calls(order, "create"), upstream.ledger(order)) == ([], [])


def test_the_same_journal_or_form_again_takes_in_and_buys_nothing_twice(upstream: Upstream):
    with Lost():
        order = sell(1, idempotency_key="of-a-form")

    call_command("hold_restored", to=dt.datetime.now(dt.UTC))
    take_in(LostOrder.objects.get())
    product = Product.objects.get(name="Telkomsel 10.000")
    same = orders.place(product, destination=order.destination, idempotency_key="of-a-form")

    assert same.ref_id == order.ref_id
    assert (Order.objects.count(), Payment.objects.count(), LostOrder.objects.count()) == (1, 1, 1)
    assert AuditEvent.objects.filter(kind="order_taken_in").count() == 1


def test_the_journal_of_another_account_is_not_this_shops(upstream: Upstream, sent_folder):
    with Lost():
        sell(1)
        (day,) = sent_folder.iterdir()
        day.write_text(day.read_text().replace('"account":""', '"account":"of-another-shop"'))

    assert not LostOrder.objects.exists()


def test_the_payment_comes_back_into_its_shift_and_on_its_account(upstream: Upstream):
    seller, debtor = make_person("cashier"), give_credit(cap=20_000)
    before = begin(seller, cash=0)
    drawers.close_shift(before, pieces=pieces_of(0), actor=seller)
    shift, at_once = begin(seller, drawer=before.drawer), uuid4()
    with Lost():
        cash = sell(1, placed_by=seller, payment=PaymentFacts(cash_given=20_000, paid_at_once=at_once))
        owed = sell(100, placed_by=seller, payment=PaymentFacts(method="credit", customer=debtor))

    paid, on_credit = (Payment.objects.get(ref_id=order.ref_id) for order in (cash, owed))
    assert (paid.sold_in, paid.seller, paid.cash_given, paid.amount) == (shift, seller, 20_000, cash.customer_pays)
    assert (paid.paid_at_once, on_credit.paid_at_once) == (at_once, None)
    assert on_credit.debt is not None
    assert owed_by(debtor) == owed.customer_pays
    assert [lost.lacks for lost in LostOrder.objects.all()] == [[], []]


def test_what_is_not_known_here_is_named_and_not_guessed_and_the_sale_still_ends(upstream: Upstream):
    with Lost():
        seller, debtor = make_person("cashier", username="new"), give_credit()
        begin(seller)
        cash = sell(1, placed_by=seller)
        owed = sell(4, placed_by=seller, payment=PaymentFacts(method="credit", customer=debtor))
    lacks = dict(LostOrder.objects.values_list("ref_id", "lacks"))

    assert lacks == {cash.ref_id: ["shift", "seller"], owed.ref_id: ["shift", "debtor", "seller"]}
    assert not CreditEntry.objects.exists()
    payments = Payment.objects.filter(sold_in=None, agreed_in=None, seller=None, debt=None)
    assert {(row.method, row.amount) for row in payments} == {
        ("cash", cash.customer_pays),
        ("credit", owed.customer_pays),
    }
    order = follow(Order.objects.get(ref_id=owed.ref_id), seconds=5)
    assert order.status == Status.FAILED
    assert upstream.ledger(order)[0] == ("debit", -order.price)


def lost_beyond_the_cap(number: int) -> tuple[Shift, Customer, Order]:
    """A customer at the cap pays and buys on credit again, in the lost time: the shift, the customer, the order."""
    seller, product = make_person("cashier"), Product.objects.get(name="Telkomsel 10.000")
    shift, price = begin(seller, cash=100_000), product.sells_for
    debtor = give_credit(cap=price)
    sell_to(debtor, by=seller, product=product)
    with Lost():
        take_credit_payment(account_of(debtor), amount=price, method="cash", actor=seller)
        lost = sell(number, placed_by=seller, payment=PaymentFacts(method="credit", customer=debtor))
    return shift, debtor, lost


def test_a_lost_sale_on_an_account_without_room_here_gives_nothing_back(upstream: Upstream):
    shift, debtor, lost = lost_beyond_the_cap(4)
    seller, price = shift.cashier, lost.customer_pays
    payment = Payment.objects.select_related("debt").get(ref_id=lost.ref_id)
    assert (LostOrder.objects.get().lacks, payment.debt, payment.sold_in, owed_by(debtor)) == (
        ["debtor"],
        None,
        shift,
        price,
    )
    assert will_be_owed([payment]) == set()

    assert ended(Order.objects.get(ref_id=lost.ref_id)).status == Status.FAILED

    payment.refresh_from_db()
    assert (payment.outcome, payment.method, payment.ended_in) == ("nothing", "credit", shift)
    assert not Payment.objects.owed().exists()
    assert money_back(payment, is_owed=payment.is_owed).code == "no_account"
    for way in ({"method": "cash", "shift": shift}, {"method": "credit", "customer": debtor}):
        with pytest.raises(DrawerRefused) as refusal:
            give_back(payment, actor=seller, **way)
        assert refusal.value.reason == "on_no_account"
    assert (expected_cash(shift), owed_by(debtor)) == (100_000, price)
    assert list(CreditEntry.objects.values_list("kind", "amount")) == [("sale", price)]
    assert list(DrawerEntry.objects.values_list("kind", "amount")) == [("opening", 100_000)]


def test_a_lost_sale_on_no_account_that_is_reversed_after_its_success_is_no_refund(upstream: Upstream):
    shift, debtor, lost = lost_beyond_the_cap(1)
    seller, price = shift.cashier, lost.customer_pays
    order = ended(Order.objects.get(ref_id=lost.ref_id))
    payment = Payment.objects.get(ref_id=lost.ref_id)
    assert (order.status, payment.outcome, payment.is_on_no_account) == (Status.SUCCESS, "kept", True)
    assert will_be_owed([payment]) == set()

    order = end(order, "reversed")

    payment.refresh_from_db()
    assert will_be_owed([payment]) == set()
    assert not payment.is_owed
    assert not Payment.objects.owed().exists()
    assert not Payment.objects.refunds().exists()
    assert not Order.objects.need_attention().filter(pk=order.pk).exists()
    assert payment not in unsettled([shift])
    browser = browser_of("admin", language="en")
    assert f"/orders/{order.ref_id}/" not in browser.get("/work/").content.decode()
    page = words(browser.get(f"/orders/{order.ref_id}/"))
    assert ("Give no money." in page, "is owed" in page, "gives the money back" in page) == (True, False, False)
    with pytest.raises(ActionRefused):
        note_given_back(order, actor=User.objects.create_superuser("owner"), note="in cash")
    with pytest.raises(DrawerRefused) as refusal:
        drawers.note_given_back(payment, actor=seller, note="in cash")
    assert refusal.value.reason == "on_no_account"
    booked = {(each.debit, each.credit): each.amount for each in journal_of(timezone.localdate())}
    assert ("refunds", "owed") not in booked
    assert booked["other", "sales"] == booked["refunds", "other"] == booked["receivables", "sales"] == price
    assert (expected_cash(shift), owed_by(debtor)) == (100_000, price)


def test_a_second_order_for_the_same_number_waits_for_the_first(upstream: Upstream):
    with Lost():
        first = follow(sell(1), seconds=10)
        assert first.status == Status.SUCCESS
        second = sell(1, confirm_repeat=True)

    waiting = LostOrder.objects.get(ref_id=second.ref_id)
    assert (waiting.order, waiting.lacks) == (None, ["twin"])
    follow(Order.objects.get(ref_id=first.ref_id), seconds=5)
    assert take_in_lost() == 0

    for ref_id in (first.ref_id, second.ref_id):
        order = follow(Order.objects.get(ref_id=ref_id), seconds=5)
        assert order.status == Status.SUCCESS
        assert upstream.ledger(order) == [("debit", -order.price)]


def test_an_order_of_a_product_that_is_not_known_here_waits_for_the_catalogue(upstream: Upstream, sent_folder):
    with Lost():
        order = sell(1)
        (day,) = sent_folder.iterdir()
        day.write_text(day.read_text().replace(order.product_code, "NEW-ONE"))
    waiting = LostOrder.objects.get()
    assert (waiting.order, waiting.lacks) == (None, ["product"])

    Product.objects.filter(code=order.product_code).update(code="NEW-ONE")
    assert take_in_lost() == 0

    assert Order.objects.get().product.code == "NEW-ONE"


def test_an_approval_that_was_executed_is_not_executed_again(upstream: Upstream):
    sari, budi = cashier(own_approval_above=1_000), approver()
    waiting = ask_order(Product.objects.get(name="Telkomsel 10.000"), sari)
    with Lost():
        order = Order.objects.get(ref_id=approve(waiting, budi).result)
        submit(order.pk, call_class=INTERACTIVE)

    current = Approval.objects.get()
    assert (current.state, current.result, current.decided_by) == (ApprovalState.APPROVED, order.ref_id, budi)
    with pytest.raises(ApprovalRefused):
        approve(waiting, budi)
    order = follow(Order.objects.get(), seconds=5)
    assert len(upstream.calls(order, "create")) == 1


def test_an_approval_whose_approver_is_not_known_here_is_void(upstream: Upstream):
    sari = cashier(own_approval_above=1_000)
    waiting = ask_order(Product.objects.get(name="Telkomsel 10.000"), sari)
    with Lost():
        order = Order.objects.get(ref_id=approve(waiting, approver()).result)
        submit(order.pk, call_class=INTERACTIVE)

    current = Approval.objects.get()
    assert (current.state, current.changes["code"]) == (ApprovalState.VOID, "executed_before")
    assert order.ref_id in current.changes["words"]["id"]


def test_what_was_sent_again_in_the_lost_time_is_polled(upstream: Upstream):
    # given: an order that needs action and is sent again afterwards
    order = orders.place(Product.objects.get(name="Telkomsel 10.000"), destination="081290000001")
    claim(order.pk)
    orders.answer(order, Status.NEEDS_ACTION, action_reason=ActionReason.BALANCE_SHORT)
    with Lost():
        send_again(Order.objects.get(), actor=User.objects.create_superuser("owner"))
        submit(order.pk, call_class=INTERACTIVE)

    order = follow(Order.objects.get(), seconds=5)

    assert order.status == Status.SUCCESS
    assert len(upstream.calls(order, "create")) == 1
    assert upstream.ledger(order) == [("debit", -order.price)]


@pytest.mark.parametrize("has_journal", [True, False])
def test_a_waiting_order_that_a_lost_top_up_sent_is_not_sent_again(upstream: Upstream, settings, tmp_path, has_journal):
    # given: an order that waits for a top-up; in the lost time it was queued by itself and sent
    upstream.control("account", balance=1_000)
    assert look_at_balance().state == "balanced"
    order = orders.place(Product.objects.get(name="Telkomsel 10.000"), destination="081290000001", wait_for_topup=True)
    with Lost():
        upstream.control("topup", amount=200_000)
        look_at_balance()
        assert queue_waiting_orders() == 1
        submit(order.pk, call_class=INTERACTIVE)
        assert follow(order, seconds=5).status == Status.SUCCESS
        settings.SENT_FOLDER = settings.SENT_FOLDER if has_journal else tmp_path / "none"
    order.refresh_from_db()
    assert (order.status, order.action_reason) == (Status.NEEDS_ACTION, ActionReason.BALANCE_SHORT)
    assert not order.waits_for_topup

    # when: the shop opens, the balance is enough again, and a person sends it again
    owner = User.objects.create_superuser("owner")
    open_restored(actor=owner)
    look_at_balance()
    assert queue_waiting_orders() == 0
    with pytest.raises(ActionRefused):
        send_again(order, actor=owner)

    assert follow(order, seconds=5).status == Status.SUCCESS
    assert len(upstream.calls(order, "create")) == 1
    assert upstream.ledger(order) == [("debit", -order.price)]


def look_at_balance() -> Any:
    """Read the balance, and compare it with the books."""
    read_balance()
    return reconcile()


def test_what_was_queued_before_a_second_restore_is_polled_too(upstream: Upstream):
    # given: a waiting order of a restored shop; the shop opens and sends it, and loses its disk again
    call_command("hold_restored", to=dt.datetime.now(dt.UTC))
    order = place(1)
    with Lost():
        open_restored(actor=User.objects.create_superuser("owner"))
        submit(order.pk, call_class=INTERACTIVE)
        assert follow(order, seconds=5).status == Status.SUCCESS

    order.refresh_from_db()
    assert order.status == Status.UNKNOWN
    open_restored(actor=User.objects.create_superuser("owner"))
    submit(order.pk, call_class=INTERACTIVE)

    assert follow(order, seconds=5).status == Status.SUCCESS
    assert len(upstream.calls(order, "create")) == 1
