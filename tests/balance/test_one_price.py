"""What an order cost is one number, in the order, in the books and in reconciliation: the first report fixes it."""

from __future__ import annotations

import itertools

import pytest

from balance import services as balance
from balance.models import Entry, Spending
from purchases.models import Incident, Order, OrderEvent
from purchases.services.sending import claim
from tests.balance.test_ledger import PRICE, open_with, place, report

pytestmark = pytest.mark.django_db(transaction=True)

SUBMIT = OrderEvent.Source.SUBMIT


def sent() -> Order:
    order = place()
    claim(order.pk)
    return order


def numbers(order: Order) -> set[int | None]:
    """The order's price as the order, the books (debit and refund) and reconciliation have it."""
    order.refresh_from_db()
    entries = Entry.objects.filter(ref_id=order.ref_id, kind__in=["debit", "refund"])
    return {order.price, Spending.objects.get(ref_id=order.ref_id).amount, *entries.values_list("amount", flat=True)}


def kinds(order: Order) -> list[str]:
    return sorted(order.incidents.values_list("kind", flat=True))


def test_a_price_that_is_named_only_with_the_success_is_charged_once_in_the_books_too():
    open_with(1_000_000)
    order = sent()

    report(order, "pending", source=SUBMIT, price=0)
    report(order, "success", price=PRICE)

    assert numbers(order) == {PRICE}
    assert balance.books().balance == 1_000_000 - PRICE
    assert kinds(order) == [Incident.Kind.OTHER_PRICE]


def test_another_price_later_is_an_incident_and_the_first_one_stays():
    order = sent()
    report(order, "pending", source=SUBMIT, price=10_000)

    for _ in range(2):
        report(order, "success", price=10_400)

    assert numbers(order) == {10_000}
    assert kinds(order) == [Incident.Kind.OTHER_PRICE]
    assert "10400" in order.incidents.get().detail


def test_a_failure_at_no_price_refunds_what_was_charged_and_leaves_the_price():
    order = sent()
    report(order, "pending", source=SUBMIT)

    report(order, "failed", price=0)

    assert numbers(order) == {PRICE}
    assert balance.books().balance == 0


def test_old_news_at_another_price_is_an_incident():
    order = sent()
    report(order, "success", price=10_000)

    report(order, "pending", source=SUBMIT, price=10_400)

    assert numbers(order) == {10_000}
    assert kinds(order) == [Incident.Kind.OTHER_PRICE]


def test_the_price_that_was_confirmed_is_taken_where_the_upstream_names_none():
    order = sent()

    for status in ("pending", "success"):
        report(order, status, price=0)

    assert numbers(order) == {PRICE}
    assert order.incidents.get().kind == Incident.Kind.OTHER_PRICE


@pytest.mark.parametrize("end", ["success", "failed"])
@pytest.mark.parametrize("prices", list(itertools.permutations([0, 10_000, 10_400], 2)))
def test_whatever_prices_are_named_in_whatever_order_all_three_agree_and_a_person_learns_of_it(
    prices: tuple[int, int], end: str
):
    order = sent()

    for status, price in zip(("pending", end), prices, strict=True):
        report(order, status, price=price)

    assert numbers(order) == {prices[0] or PRICE}
    assert Incident.Kind.OTHER_PRICE in kinds(order)
