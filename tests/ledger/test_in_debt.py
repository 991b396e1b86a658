"""An account whose balance the upstream has taken below zero: its orders end, and its books say so."""

import pytest

from gateway import services as gateway
from ledger import services as ledger
from ledger.models import Entry
from purchases.errors import BalanceShort
from purchases.states import Status
from reconciliation import services as reconciliation
from testing.factories import reported
from testing.orders import OneAnswer, ask, place, send
from tests.ledger.helpers import open_books

pytestmark = pytest.mark.django_db(transaction=True)


def test_books_open_in_debt_and_an_order_is_refused():
    open_books(-5_000)

    with pytest.raises(BalanceShort):
        place()

    assert list(Entry.objects.values_list("kind", "balance_after")) == [("opening", -5_000)]
    assert (ledger.available(), reconciliation.position().reported) == (-5_000, -5_000)


def test_an_order_ends_though_its_answers_name_a_debt(monkeypatch: pytest.MonkeyPatch):
    order = place()

    send(order, OneAnswer(reported(order, "pending", balance=-1)), monkeypatch)
    ask(order, OneAnswer(reported(order, "success", balance=-1)), monkeypatch)

    order.refresh_from_db()
    assert order.status == Status.SUCCESS
    assert gateway.latest_reading().balance == -1
