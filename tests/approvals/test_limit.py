"""An order above the limit needs a second person: by the amount that the customer pays, or by a higher cost."""

from contextlib import nullcontext

import pytest

from bills.services import pay_again, pay_bill
from gateway.models import Exchange
from ledger.services import books
from purchases.errors import ActionRefused, NeedsApproval
from purchases.models import Order
from purchases.services import cancel_order, send_again
from purchases.states import ActionReason, Status
from staff.models import User
from testing.factories import make_biller, make_check, make_order, make_payment, make_product
from testing.people import make_person
from tests.approvals.helpers import approve, approver, ask_bill, ask_order, browser, cashier, place
from tests.bills.helpers import at_counter, posts_on
from tests.core.helpers import has_id
from tests.ledger.helpers import entries_of_orders, open_books
from tests.purchases.helpers import offered

pytestmark = pytest.mark.django_db

LIMIT, COST = 200_000, 197_675


@pytest.fixture
def sari(db: None) -> User:
    open_books(1_000_000)
    return cashier(own_approval_above=LIMIT)


def assert_nothing_happened(calls: int) -> None:
    """Assert that there is no order, no reservation, and no call to the upstream beyond so many."""
    assert (Order.objects.count(), entries_of_orders(), books().reserved) == (0, [], 0)
    assert Exchange.objects.count() == calls


def test_given_the_higher_one_at_the_limit_or_a_command_then_it_is_placed(sari: User):
    for cost, price, person in ((COST, LIMIT, sari), (LIMIT, LIMIT, sari), (COST, LIMIT * 2, None)):
        order = place(make_product(price=cost, selling_price=price), person)

        assert (order.status, order.max_price) == (Status.QUEUED, cost), price
        assert person is None or order.selling_price == price
    assert entries_of_orders() == [("hold", COST), ("hold", LIMIT), ("hold", COST)]


def test_given_the_price_the_cost_or_the_most_to_pay_above_then_asked(sari: User):
    calls, price, leader = Exchange.objects.count(), LIMIT + 1, make_person("supervisor", own_approval_above=LIMIT)

    with pytest.raises(NeedsApproval):
        place(make_product(price=COST, selling_price=199_000), sari, max_price=LIMIT + 1, takes_less=True)
    ask_order(make_product(price=LIMIT + 1, selling_price=190_000), leader, reason="A regular")
    approval = ask_order(make_product(price=COST, selling_price=price), sari)

    assert_nothing_happened(calls)
    assert (approval.facts["price"], approval.facts["selling_price"]) == (COST, price)
    approve(approval, approver())
    order = Order.objects.get()
    assert (order.status, order.ref_id, order.placed_by) == (Status.QUEUED, approval.facts["ref_id"], sari)
    assert entries_of_orders() == [("hold", COST)]


def test_given_a_bill_whose_fee_takes_it_above_then_asked_and_at_the_limit_paid(sari: User):
    check = make_check(product=make_biller(fee=2_326), total=COST)
    calls = Exchange.objects.count()

    approval = ask_bill(check, sari)

    assert_nothing_happened(calls)
    approve(approval, approver())
    order = Order.objects.get()
    assert (order.status, order.max_price, order.selling_price) == (Status.QUEUED, COST, LIMIT + 1)
    assert entries_of_orders() == [("hold", COST)]

    at_it = make_check(product=make_biller(fee=2_325), total=COST)
    order = pay_bill(at_it, amount=COST, paid_by=sari, enqueue=False)
    assert (order.status, order.selling_price) == (Status.QUEUED, LIMIT)
    assert entries_of_orders() == [("hold", COST)] * 2


@pytest.fixture
def leader(db: None) -> User:
    """A person who sends orders again, and needs approval above the limit."""
    open_books(1_000_000)
    return make_person("supervisor", own_approval_above=LIMIT)


def test_given_a_cost_that_rose_then_the_price_counts_as_well(leader: User):
    calls = Exchange.objects.count()
    for price, is_refused in ((LIMIT + 1, True), (LIMIT, False)):
        product = make_product(price=COST + 500, selling_price=price)
        facts = {"product": product, "max_price": COST, "selling_price": price}
        order = make_order(Status.NEEDS_ACTION, **facts, action_reason=ActionReason.PRICE_CHANGED)

        with pytest.raises(ActionRefused, match="second person") if is_refused else nullcontext():
            send_again(order, actor=leader, max_price=COST + 500)

        order.refresh_from_db()
        wanted = (Status.NEEDS_ACTION, COST) if is_refused else (Status.QUEUED, COST + 500)
        assert (order.status, order.max_price, order.selling_price) == (*wanted, price)
        assert entries_of_orders() == ([] if is_refused else [("hold", COST + 500)])

    # the same cost is sent again, also for a price above
    facts = {"product": make_product(price=COST, selling_price=204_000), "selling_price": 204_000}
    order = make_order(Status.NEEDS_ACTION, **facts, action_reason=ActionReason.BALANCE_SHORT)
    assert send_again(order, actor=leader).status == Status.QUEUED
    assert entries_of_orders() == [("hold", COST + 500), ("hold", COST)]
    assert Exchange.objects.count() == calls


@pytest.mark.parametrize(
    ("cost", "moves"), [(LIMIT, {"confirm_price", "cancel"}), (LIMIT + 1, {"cancel"})], ids=["at it", "above it"]
)
def test_given_a_risen_cost_then_only_what_can_succeed_is_offered(leader: User, cost: int, moves: set[str]):
    # given: an order at cost, whose price would follow it above the limit
    facts = {"product": make_product(price=cost), "max_price": COST, "selling_price": COST, "placed_by": leader}
    order = make_order(Status.NEEDS_ACTION, **facts, action_reason=ActionReason.PRICE_CHANGED)
    client, is_above = browser(leader), moves == {"cancel"}

    page = client.get(order.get_absolute_url())
    panel = client.get(f"{order.get_absolute_url()}panel/", headers={"HX-Request": "true"})

    assert offered(page) == offered(panel) == moves
    assert has_id(page, "above-limit") is has_id(panel, "above-limit") is is_above
    strip = client.get("/counter/").content.decode().partition("data-held")[2]
    assert (f"{order.ref_id}/cancel/" in strip, f"{order.ref_id}/again/" in strip) == (True, not is_above)
    assert ("Cancel the order…" in client.get("/work/").content.decode()) is is_above


@pytest.mark.parametrize(("total", "posts"), [(LIMIT, {"pay", "again"}), (LIMIT + 1, set())], ids=["at it", "above it"])
def test_given_a_risen_total_then_only_what_can_succeed_is_offered(sari: User, total: int, posts: set[str]):
    # given: a bill that was paid by the former total, and whose new total the person has seen
    check, calls = make_check(total=total, product=make_biller(fee=0)), Exchange.objects.count()
    prices = {"max_price": COST, "selling_price": COST, "fee": 0}
    reason = ActionReason.AMOUNT_MISMATCH
    order = make_payment(check, Status.NEEDS_ACTION, action_reason=reason, placed_by=sari, **prices)
    client, is_above = browser(sari), not posts

    panel = at_counter(client, check)
    pages = [client.get(check.get_absolute_url()), client.get(order.get_absolute_url())]
    client.post(f"/counter/bills/{check.ref_id}/pay/", {"amount": total})

    assert posts_on(panel) == posts
    assert [has_id(page, "bill-counter") for page in pages] == [not is_above] * 2
    assert [has_id(page, "above-limit") for page in [panel, *pages]] == [is_above] * 3
    order.refresh_from_db()
    assert (order.status, entries_of_orders()) == (("needs_action", []) if is_above else ("queued", [("hold", LIMIT)]))
    assert Exchange.objects.count() == calls


def test_given_a_risen_cost_above_then_cancelled_it_is_asked_again(leader: User):
    product = make_product(price=LIMIT + 1)
    facts = {"product": product, "max_price": COST, "selling_price": COST, "placed_by": leader}
    order = make_order(Status.NEEDS_ACTION, **facts, action_reason=ActionReason.PRICE_CHANGED)

    cancel_order(order, actor=leader)
    approve(ask_order(product, leader), approver())

    again = Order.objects.exclude(pk=order.pk).get()
    assert (again.status, again.max_price) == (Status.QUEUED, LIMIT + 1)
    assert entries_of_orders() == [("hold", LIMIT + 1)]


def test_given_a_total_that_rose_then_the_new_price_with_fee_counts(sari: User):
    check = make_check(product=make_biller(fee=2_000), total=LIMIT - 1_999)
    facts = {"max_price": LIMIT - 10_000, "selling_price": LIMIT - 8_000, "fee": 2_000, "placed_by": sari}
    order = make_payment(check, Status.NEEDS_ACTION, action_reason=ActionReason.AMOUNT_MISMATCH, **facts)
    calls = Exchange.objects.count()

    with pytest.raises(ActionRefused, match="second person"):
        pay_again(order, amount=LIMIT - 1_999, actor=sari)

    order.refresh_from_db()
    assert (order.status, order.max_price, order.selling_price) == ("needs_action", LIMIT - 10_000, LIMIT - 8_000)
    assert (entries_of_orders(), Exchange.objects.count()) == ([], calls)
