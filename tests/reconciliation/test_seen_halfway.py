"""A comparison during an uncommitted move misses nothing, and finds nothing false."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection, connections, transaction

from ledger import services as ledger
from purchases.models import Order
from purchases.services import approve_verdict, propose_verdict
from reconciliation import services as reconciliation
from reconciliation.models import Difference
from testing.orders import CALLBACK, never_arrived, report
from testing.people import make_person
from tests.gateway.helpers import read_balance
from tests.ledger.helpers import open_books
from tests.reconciliation.helpers import bought, sent, tell

pytestmark = pytest.mark.django_db(transaction=True)

OPENED, PRICE = 1_000_000, 10_500


@contextmanager
def halfway(move: Callable[[], Any]) -> Iterator[None]:
    """Do the move, and commit it only after the block, as if its process were frozen meanwhile."""
    is_done, go_on = threading.Event(), threading.Event()

    def run() -> None:
        try:
            with transaction.atomic():
                move()
                is_done.set()
                go_on.wait(20)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    assert is_done.wait(20)
    try:
        yield
    finally:
        go_on.set()
        thread.join(20)


def in_a_thread(work: Callable[[], Any]) -> threading.Thread:
    def run() -> None:
        try:
            work()
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def verdict_on(order: Order, outcome: str) -> Callable[[], Order]:
    first, second = make_person("admin", username="first"), make_person("admin", username="second")
    verdict = propose_verdict(order, outcome=outcome, evidence="their dashboard", reason="x", actor=first)
    return lambda: approve_verdict(verdict, actor=second)


def compare_while(move: Callable[[], Any], balance: int) -> None:
    """Read and compare a balance while the move has its entries and is not committed."""
    with halfway(move):
        read_balance(balance)
        comparing = in_a_thread(reconciliation.reconcile)
        comparing.join(1)
    comparing.join(20)


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
            in_a_thread(lambda: report(order, "success", source=CALLBACK)).join(20)
        return execute(sql, *rest)

    with connection.execute_wrapper(between):
        reconciliation.reconcile()
    run = tell(OPENED - PRICE)

    assert done
    assert (run.state, Difference.objects.count()) == ("balanced", 0)
