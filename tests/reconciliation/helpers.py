"""Differences, orders and readings for the tests of reconciliation and its pages."""

import re
from typing import Any

from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from catalogue.models import Product
from gateway.models import Exchange
from gateway.services import next_number
from ledger import services as ledger
from purchases.models import Order
from purchases.services import submit
from purchases.services.polling import follow
from reconciliation import services as reconciliation
from reconciliation.models import Difference, ReconciliationRun
from reconciliation.services.on_demand import reconcile_now
from testing.orders import place, report, sent
from tests.conftest import Upstream
from tests.gateway.helpers import read_balance
from upstream.budget import CallClass
from upstream.endpoints import Endpoint

OPENING = 10_000_000


def make_difference(amount: int, label: str = "", **facts: Any) -> Difference:
    """A difference of this amount that no run has found; the books' sum includes it."""
    now = timezone.now()
    facts = {
        "from_no": next_number(),
        "to_no": next_number(),
        "from_at": now,
        "to_at": now,
        "label": label or ("topup" if amount > 0 else "unexplained_debit"),
        **facts,
    }
    with transaction.atomic():
        difference = Difference.objects.create(amount=amount, **facts)
        ledger.set_found(Difference.objects.open().aggregate(total=Sum("amount"))["total"] or 0)
    return difference


def tell(balance: int) -> ReconciliationRun:
    """Report this balance as the upstream does, and compare it."""
    read_balance(balance)
    return reconciliation.reconcile()


def bought(status: str = "success", **facts: Any) -> Order:
    """An order that was sent and ended in this status."""
    return report(sent(**facts), status)


def asked(order: Order, status: str = "") -> Exchange:
    """A status request about the order: the upstream answered `status`, or nothing usable."""
    now, number = timezone.now(), next_number()
    answered = {"answered_no": next_number(), "answered_at": now} if status else {"answered_no": None}
    return Exchange.objects.create(
        pk=number,
        endpoint=Endpoint.TRANSACTION_STATUS,
        ref_id=order.ref_id,
        sent_at=now,
        status=status,
        outcome="x",
        **answered,
    )


def said_codes(answer: Any) -> list[str]:
    """The codes of the page's sentences about books and differences, from top to bottom."""
    return re.findall(r'data-said="([^"]+)"', answer.content.decode())


def steps(answer: Any) -> set[str]:
    """The addresses of the page's own buttons."""
    return set(re.findall(r'method="post" action="(/balance/[^"]+)"', answer.content.decode()))


def reconcile(seconds: float = 10) -> ReconciliationRun:
    """Compare now, waiting up to `seconds` for open orders; asserts that the upstream answered."""
    run, fault = reconcile_now(seconds=seconds)
    assert fault == ""
    return run


def spend_in_dashboard(upstream: Upstream, amount: int) -> None:
    """Move the balance by `amount` (rupiah, signed) outside of the API."""
    now = upstream.process.control("ledger")["balance"]
    upstream.control("account", balance=now + amount)


def buy(number: int, *, wait: float = 10.0, send: bool = True, **facts: Any) -> Order:
    """A purchase of scenario `number`, sent and followed for `wait` seconds."""
    destination = f"0812900000{number:02d}" if number < 100 else f"0812{number:08d}"
    order = place(Product.objects.get(name="Telkomsel 10.000"), destination=destination, confirm_repeat=True, **facts)
    if send:
        submit(order.pk, call_class=CallClass.INTERACTIVE)
        order = follow(order, seconds=wait)
    return order


def agree(upstream: Upstream) -> None:
    """Assert that the books agree with the sandbox's own ledger."""
    assert ledger.books().balance == upstream.process.control("ledger")["balance"]
