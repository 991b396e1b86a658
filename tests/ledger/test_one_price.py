"""The cost of an order is one number, in the order and in the books: the first report fixes it."""

import itertools

import pytest

from ledger import services as ledger
from ledger.models import Entry
from purchases.models import Incident, Order, OrderEvent
from purchases.services.sending import claim
from testing.orders import place, report
from tests.ledger.helpers import open_books

pytestmark = pytest.mark.django_db(transaction=True)

SUBMIT, PRICE = OrderEvent.Source.SUBMIT, 10_500


def sent() -> Order:
    order = place()
    claim(order.pk)
    return order


def numbers(order: Order) -> set[int | None]:
    """The order's prices in the order and in the books (debit and refund)."""
    order.refresh_from_db()
    entries = Entry.objects.filter(ref_id=order.ref_id, kind__in=["debit", "refund"])
    return {order.price, *entries.values_list("amount", flat=True)}


def kinds(order: Order) -> list[str]:
    return sorted(order.incidents.values_list("kind", flat=True))


def test_a_price_named_only_with_the_success_is_charged_once():
    open_books(1_000_000)
    order = sent()

    report(order, "pending", source=SUBMIT, price=0)
    report(order, "success", price=PRICE)

    assert numbers(order) == {PRICE}
    assert ledger.books().balance == 1_000_000 - PRICE
    assert kinds(order) == [Incident.Kind.OTHER_PRICE]


def test_another_price_later_is_an_incident_the_first_stays():
    order = sent()
    report(order, "pending", source=SUBMIT, price=10_000)

    for _ in range(2):
        report(order, "success", price=10_400)

    assert numbers(order) == {10_000}
    assert kinds(order) == [Incident.Kind.OTHER_PRICE]
    assert "10400" in order.incidents.get().detail


def test_a_failure_at_no_price_refunds_what_was_charged():
    order = sent()
    report(order, "pending", source=SUBMIT)

    report(order, "failed", price=0)

    assert numbers(order) == {PRICE}
    assert ledger.books().balance == 0


def test_old_news_at_another_price_is_an_incident():
    order = sent()
    report(order, "success", price=10_000)

    report(order, "pending", source=SUBMIT, price=10_400)

    assert numbers(order) == {10_000}
    assert kinds(order) == [Incident.Kind.OTHER_PRICE]


def test_where_no_price_is_named_the_confirmed_one_counts():
    order = sent()

    for status in ("pending", "success"):
        report(order, status, price=0)

    assert numbers(order) == {PRICE}
    assert order.incidents.get().kind == Incident.Kind.OTHER_PRICE


@pytest.mark.parametrize("end", ["success", "failed"])
@pytest.mark.parametrize("prices", list(itertools.permutations([0, 10_000, 10_400], 2)))
def test_whatever_prices_are_named_order_and_books_agree(prices: tuple[int, int], end: str):
    order = sent()

    for status, price in zip(("pending", end), prices, strict=True):
        report(order, status, price=price)

    assert numbers(order) == {prices[0] or PRICE}
    assert Incident.Kind.OTHER_PRICE in kinds(order)
