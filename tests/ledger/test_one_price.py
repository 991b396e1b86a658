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

SUBMIT, POLL, PRICE = OrderEvent.Source.SUBMIT, OrderEvent.Source.POLL, 10_500


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


def test_the_first_price_named_is_charged_once_and_another_one_is_an_incident():
    open_books(1_000_000)
    for reports, price, change in (
        ([("pending", 0), ("success", PRICE)], PRICE, -PRICE),  # named only with the success
        ([("pending", 10_000), ("success", 10_400), ("success", 10_400)], 10_000, -10_000),
        ([("pending", PRICE), ("failed", 0)], PRICE, 0),  # what was charged is refunded
        ([("success", 10_000), ("pending", 10_400)], 10_000, -10_000),  # old news
        ([("pending", 0), ("success", 0)], PRICE, -PRICE),  # none is named: the confirmed one counts
    ):
        order, before = sent(), ledger.books().balance

        for status, named in reports:
            report(order, status, source=SUBMIT if status == "pending" else POLL, price=named)

        assert numbers(order) == {price}, reports
        assert ledger.books().balance - before == change, reports
        assert kinds(order) == [Incident.Kind.OTHER_PRICE], reports
        if 10_400 in reports[1]:
            assert "10400" in order.incidents.get().detail


def test_whatever_prices_are_named_order_and_books_agree():
    for end, prices in itertools.product(("success", "failed"), itertools.permutations([0, 10_000, 10_400], 2)):
        order = sent()

        for status, price in zip(("pending", end), prices, strict=True):
            report(order, status, price=price)

        assert numbers(order) == {prices[0] or PRICE}, (end, prices)
        assert Incident.Kind.OTHER_PRICE in kinds(order), (end, prices)
