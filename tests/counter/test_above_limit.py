"""The review says whether the sale needs a second person, by the customer's price or by a higher cost."""

import uuid
from typing import Any

import pytest

from approvals.models import Approval
from catalogue.models import Product
from purchases.models import Order
from purchases.services import submit
from purchases.services.polling import follow
from staff.models import RoleLimits
from testing.factories import make_biller, make_check, make_product
from testing.people import browser_of, code_of, make_person
from tests.conftest import Upstream
from tests.core.helpers import amounts_at, has_id, hidden
from tests.counter.helpers import NUMBER, review, send
from tests.gateway.helpers import read_balance
from tests.ledger.helpers import entries_of_orders, open_books
from upstream.budget import CallClass

pytestmark = pytest.mark.django_db

LIMIT, COST = 200_000, 197_675


def seller(role: str = "cashier", **facts: Any) -> Any:
    """The browser of a seller who needs approval above the limit."""
    return browser_of(role, own_approval_above=LIMIT, **facts)


def offer(cost: int, price: int) -> None:
    """Give the shop one product, named T200."""
    make_product(code="T200", name="Telkomsel 200.000", price=cost, selling_price=price)


@pytest.mark.parametrize(
    ("role", "cost", "price", "is_above"),
    [
        ("cashier", COST, LIMIT, False),
        ("cashier", COST, LIMIT + 1, True),
        ("supervisor", LIMIT, 190_000, False),
        ("supervisor", LIMIT + 1, 190_000, True),
    ],
)
def test_the_review_says_it_and_the_sale_does_it(role: str, cost: int, price: int, *, is_above: bool):
    open_books(1_000_000)
    browser = seller(role)
    make_person("admin")
    offer(cost, price)

    shown = review(browser, f"{NUMBER} 200")
    answer = send(browser, shown, reason="A regular")

    assert has_id(shown, "approval-needed") == is_above
    assert has_id(answer, "counter-approval") == is_above
    assert (Approval.objects.count(), Order.objects.count()) == ((1, 0) if is_above else (0, 1))
    assert entries_of_orders() == ([] if is_above else [("hold", cost)])


def test_a_sale_above_by_its_price_alone_is_sent_once_approved(upstream: Upstream):
    # given: the customer's price is above the limit, the cost is not
    cost = Product.objects.get(code="TSEL10").price
    Product.objects.filter(code="TSEL10").update(selling_price=cost + 1_001)
    read_balance(1_000_000)
    browser, supervisor = browser_of("cashier", own_approval_above=cost + 1_000), make_person("supervisor")

    # when
    send(browser, review(browser, "081290000001 10"), reason="A wedding")

    # then: nothing is stored, reserved or sent
    waiting = Approval.objects.get()
    ref_id = waiting.facts["ref_id"]
    assert (Order.objects.count(), entries_of_orders()) == (0, [])
    assert upstream.control("requests", ref_id=ref_id)["requests"] == []

    # when: the supervisor approves it at the counter
    fields = {"seal": waiting.seal, "approver": supervisor.pk, "secret": "secret-words", "code": code_of(supervisor)}
    browser.post(f"/counter/approvals/{waiting.pk}/approve/", fields, headers={"HX-Request": "true"})
    order = Order.objects.get()
    submit(order.pk, call_class=CallClass.BACKGROUND)
    follow(order, seconds=30)

    # then: it is charged once
    order.refresh_from_db()
    assert (order.ref_id, order.status, order.price, order.selling_price) == (ref_id, "success", cost, cost + 1_001)
    assert entries_of_orders() == [("hold", cost), ("release", cost), ("debit", cost)]
    assert upstream.calls(order, "create") == ["/v1/transaction/create"]
    assert upstream.ledger(order) == [("debit", -cost)]


def test_a_bill_says_it_for_its_total_with_the_fee():
    open_books(1_000_000)
    browser = seller()
    for fee, is_above in ((2_326, True), (2_325, False)):
        check = make_check(product=make_biller(fee=fee), total=COST)

        page = browser.get(f"/counter/bills/{check.ref_id}/")
        browser.post(f"/counter/bills/{check.ref_id}/pay/", {**hidden(page), "reason": "Office"})

        assert has_id(page, "approval-needed") == is_above
        assert (Approval.objects.count(), Order.objects.count()) == ((1, 0) if is_above else (1, 1))
        assert entries_of_orders() == ([] if is_above else [("hold", COST)])


def test_of_bills_together_those_above_with_their_fee_are_only_asked():
    open_books(1_000_000)
    browser, batch = seller(), uuid.uuid4()
    biller = make_biller(fee=2_326)
    dear, cheap = (
        make_check(product=biller, destination=number, total=total, batch=batch)
        for number, total in (("11111", COST), ("22222", COST - 1))
    )

    page = browser.get(f"/counter/batch/{batch}/review/?bill={dear.ref_id}&bill={cheap.ref_id}")
    bills = [f"{check.ref_id}:{check.total}:2326" for check in (dear, cheap)]
    browser.post(f"/counter/batch/{batch}/pay/", {"bill": bills, "reason": "Office"})

    assert amounts_at(page, 'id="counter-pay"') == ["Rp200.000", "Rp200.001"]
    assert Approval.objects.get().subject == dear.ref_id
    assert Order.objects.get().ref_id == cheap.ref_id
    assert entries_of_orders() == [("hold", COST - 1)]


@pytest.mark.parametrize("own", ["own_per_order", "own_per_day"])
def test_beyond_an_own_limit_nobody_is_asked_for_approval(own: str):
    # given: the seller's own limit is the cost, and every price is above the limit for approvals
    open_books(1_000_000)
    browser = seller(**{own: COST})
    RoleLimits.objects.update_or_create(role="cashier", defaults={"per_order": 1_000_000, "approval_above": 1_000_000})
    offer(COST, LIMIT + 2_000)
    for cost, is_beyond in ((COST, False), (COST + 1, True)):
        Product.objects.filter(code="T200").update(price=cost)
        check = make_check(product=make_biller(fee=5_000), total=cost)

        sale, bill = review(browser, f"{NUMBER} 200"), browser.get(f"/counter/bills/{check.ref_id}/")

        for page in (sale, bill):
            assert (has_id(page, "beyond-limit"), has_id(page, "approval-needed")) == (is_beyond, not is_beyond)


@pytest.mark.parametrize(("cost", "field"), [(COST, "id_approval_reason"), (LIMIT + 50_000, "id_below_cost")])
def test_a_refused_review_keeps_the_typed_reason(cost: int, field: str):
    open_books(1_000_000)
    browser = seller("supervisor")
    make_person("admin")
    offer(cost, LIMIT + 1)
    shown = review(browser, f"{NUMBER} 200")
    Product.objects.filter(code="T200").update(selling_price=LIMIT + 2)

    answer = send(browser, shown, reason="A regular").content.decode()

    assert not Approval.objects.exists()
    assert 'value="A regular"' in answer.partition(f'id="{field}"')[2].partition(">")[0]
