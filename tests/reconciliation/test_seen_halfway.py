"""A comparison during an uncommitted move misses nothing, and finds nothing false."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from ledger import services as ledger
from purchases.models import Order
from purchases.services import approve_verdict, propose_verdict
from reconciliation import services as reconciliation
from reconciliation.models import Difference
from testing.orders import CALLBACK, Meanwhile, at_once, never_arrived, report, sent
from testing.people import make_person
from tests.gateway.helpers import read_balance
from tests.ledger.helpers import open_books
from tests.reconciliation.helpers import bought, tell

pytestmark = pytest.mark.django_db(transaction=True)

OPENED, PRICE = 1_000_000, 10_500


def verdict_on(order: Order, outcome: str) -> Callable[[], Order]:
    first, second = make_person("admin", username="first"), make_person("admin", username="second")
    verdict = propose_verdict(order, outcome=outcome, evidence="their dashboard", reason="x", actor=first)
    return lambda: approve_verdict(verdict, actor=second)


def compare_while(move: Callable[[], Any], balance: int) -> None:
    """Read and compare a balance while the move has its entries and is not committed."""

    def compare() -> None:
        read_balance(balance)
        reconciliation.reconcile()

    with transaction.atomic():
        move()
        comparing = Meanwhile(compare)
        comparing.is_blocked_by_us()  # or it has ended
    comparing.end()


def test_a_debit_not_committed_yet_explains_its_difference():
    open_books(OPENED)
    order = never_arrived(sent())
    tell(OPENED - PRICE)
    assert ledger.books().found == -PRICE

    compare_while(verdict_on(order, "success"), OPENED - PRICE)
    run = tell(OPENED - PRICE)

    assert (run.state, ledger.books().balance, ledger.books().found) == ("balanced", OPENED - PRICE, 0)
    assert Difference.objects.get().explained_by == order


def test_a_reversal_not_committed_yet_is_counted_once():
    open_books(OPENED)
    order = bought()
    tell(OPENED - PRICE)

    compare_while(verdict_on(order, "reversed"), OPENED)
    run = tell(OPENED)

    assert (run.state, ledger.books().balance, ledger.books().found) == ("balanced", OPENED, 0)


def test_an_order_reported_while_facts_are_read_is_no_alarm():
    open_books(OPENED)
    tell(OPENED)
    order = sent()
    read_balance(OPENED - PRICE)
    done: list[str] = []

    def between(execute: Any, sql: str, *rest: Any) -> Any:
        if 'FROM "purchases_order"' in sql and "ledger_entry" in sql and not done:
            done.append(sql)
            at_once(lambda: report(order, "success", source=CALLBACK))
        return execute(sql, *rest)

    with connection.execute_wrapper(between):
        reconciliation.reconcile()
    run = tell(OPENED - PRICE)

    assert done
    assert (run.state, Difference.objects.count()) == ("balanced", 0)
