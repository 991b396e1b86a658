"""Books for the pages' tests, opened and moved as in the shop: by the upstream's reports."""

import re
from typing import Any

from django.db import transaction

from ledger import services as ledger
from ledger.models import Entry
from purchases.models import Order
from purchases.states import Status
from reconciliation import services as reconciliation
from reconciliation.models import Difference
from testing.factories import make_order
from tests.gateway.helpers import read_balance


def open_books(balance: int = 1_000_000) -> None:
    """Open the books: the upstream reports this balance (rupiah) for the first time."""
    read_balance(balance)
    assert reconciliation.reconcile().state == "balanced"


def upstream_tells(balance: int) -> Difference | None:
    """Report and compare this balance; returns the newest difference, if there is one."""
    read_balance(balance)
    reconciliation.reconcile()
    return Difference.objects.first()


def spend(amount: int, *, kind: str = "purchase", status: Status = Status.SUCCESS, refunded: bool = False) -> Order:
    """An order that is only in our books: reserved, debited, perhaps refunded."""
    status = Status.FAILED if refunded else status
    order = make_order(status, kind=kind, max_price=amount, price=amount)
    with transaction.atomic():
        for step in ("hold", "debit", *(["refund"] if refunded else [])):
            post(step, order.ref_id, amount, order_kind=kind)
    return order


def post(kind: str, ref_id: str, amount: int = 0, *, order_kind: str = "purchase") -> None:
    """Post one step of an order, in its transaction; rupiah."""
    ledger.post([ledger.Step(kind=Entry.Kind(kind), ref_id=ref_id, order_kind=order_kind, amount=amount)])


def closing_lines(answer: Any) -> dict[str, str]:
    """The amounts of a daily closing, by the names of its lines."""
    row = r'<tr[^>]* id="line-(\w+)">.*?<td\s+class="num[^"]*">([^<]+)</td></tr>'
    return dict(re.findall(row, answer.content.decode(), re.DOTALL))


def entries_of_orders() -> list[tuple[str, int]]:
    """The entries of all orders, oldest first: kind and rupiah."""
    return list(Entry.objects.exclude(ref_id="").order_by("pk").values_list("kind", "amount"))


def kinds() -> list[str]:
    """The kinds of all entries, oldest first."""
    return list(Entry.objects.order_by("pk").values_list("kind", flat=True))
