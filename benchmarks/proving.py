"""Prove books of many entries and print how long it takes, and its longest statement.

    DATABASE_URL=… python benchmarks/proving.py [--entries 1000000]     on a new database

A year of orders: each is reserved, released and debited, every tenth is refunded. It ends with exit code 1 unless sound
books prove sound, and a cut entry is found with its amount.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import django
from django.conf import settings
from django.db import connection
from django.test.utils import get_runner, setup_test_environment
from django.utils import timezone

PRICE, OPENED, BATCH = 10_500, 10**12, 200_000

_PAYMENTS = """
    INSERT INTO drawers_payment (id, ref_id, at, method, is_cash, amount, reference, outcome, ended_at, cost,
        given_method, given_note)
    SELECT i, 'R' || i, at, 'cash', TRUE, %(price)s, '', CASE i %% 10 WHEN 0 THEN 'nothing' ELSE 'kept' END, at,
        CASE i %% 10 WHEN 0 THEN NULL ELSE %(price)s END, '', ''
    FROM generate_series(%(first)s::bigint, %(last)s) i,
        LATERAL (SELECT now() - interval '365 days' + i * interval '365 days' / %(orders)s AS at) moment
"""
_ORDERS = """
    INSERT INTO purchases_order (id, payment_id, ref_id, kind, idempotency_key, product_id, product_code, product_name,
        destination, max_price, price, status, action_reason, error_code, message, trx_id, sn, sn_by_hand, created_at,
        waits_for_topup, sent_at, final_at, attempt, sent_no, accepted_no, ended_no, polls, not_found_count)
    SELECT i, i, 'R' || i, 'purchase', 'K' || i, %(product)s, 'P', 'Telkomsel 10.000', '0812' || i, %(price)s,
        %(price)s, CASE i %% 10 WHEN 0 THEN 'failed' ELSE 'success' END, '', '', 'Done', 'T' || i, 'SN' || i,
        FALSE, at, FALSE, at, at, 1, i * 4 + 1, i * 4 + 2, i * 4 + 3, 1, 0
    FROM generate_series(%(first)s::bigint, %(last)s) i,
        LATERAL (SELECT now() - interval '365 days' + i * interval '365 days' / %(orders)s AS at) moment
"""
_ENTRIES = """
    INSERT INTO ledger_entry (id, kind, amount, balance_change, reserved_change, balance_after, reserved_after, ref_id,
        order_kind, reason, at)
    SELECT i * 4 + step, kind, %(price)s, change * %(price)s, reserves * %(price)s,
        %(opened)s - (i - 1 - (i - 1) / 10 + spent) * %(price)s, reserved * %(price)s, 'R' || i, 'purchase', '', at
    FROM generate_series(%(first)s::bigint, %(last)s) i
    CROSS JOIN (VALUES (0, 'hold', 0, 1, 1, 0), (1, 'release', 0, -1, 0, 0), (2, 'debit', -1, 0, 0, 1),
        (3, 'refund', 1, 0, 0, 0)) steps (step, kind, change, reserves, reserved, spent),
        LATERAL (SELECT now() - interval '365 days' + i * interval '365 days' / %(orders)s AS at) moment
    WHERE kind <> 'refund' OR i %% 10 = 0
    ORDER BY i, step
"""
_OPENING = """
    INSERT INTO ledger_entry (id, kind, amount, balance_change, reserved_change, balance_after, reserved_after, ref_id,
        order_kind, reason, at)
    VALUES (1, 'opening', %(opened)s, %(opened)s, 0, %(opened)s, 0, '', '', '', now() - interval '365 days');
    SELECT setval(pg_get_serial_sequence('gateway_exchange', 'id'), %(orders)s * 4 + 10);
"""
_CUT = """
    ALTER TABLE ledger_entry DISABLE TRIGGER USER;
    UPDATE ledger_entry SET amount = amount - 500, balance_change = balance_change + 500 WHERE id = %s;
    ALTER TABLE ledger_entry ENABLE TRIGGER USER;
"""


def main() -> None:
    """Make the books, prove them, print the times."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=1_000_000)
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backoffice.settings")
    os.environ.setdefault("SECRET_KEY", "only-for-benchmarks-" + "x" * 50)
    django.setup()
    setup_test_environment()
    runner = get_runner(settings)(verbosity=0, interactive=False)
    databases = runner.setup_databases()
    try:
        in_order = measure(options.entries * 10 // 31)
    finally:
        runner.teardown_databases(databases)
    sys.exit(0 if in_order else 1)


def measure(orders: int) -> bool:
    """Books of so many orders; whether the proofs found what they must."""
    from ledger import services as ledger
    from ledger.models import Entry
    from reconciliation import services as reconciliation

    make_books(orders)
    cut = orders // 2 * 4 + 2
    print(f"{Entry.objects.count()} entries of {orders} orders")
    timed("close 365 days, once", ledger.close_days)
    flaws = [timed("prove everything", lambda: reconciliation.prove(everything=True)).flaw]
    for _ in range(2):
        flaws.append(timed("a run's own proof, nothing new", reconciliation.prove).flaw)
    curve = timed("the curve of 30 days", ledger.balance_curve)
    with connection.cursor() as cursor:
        cursor.execute(_CUT, [cut])
    proof = timed("prove everything, a debit is cut", lambda: reconciliation.prove(everything=True))
    return (
        flaws == ["", "", ""]
        and len(curve) == 30
        and (proof.flaw, proof.flaw_entry, abs(proof.flaw_amount)) == ("running", cut, 500)
    )


def make_books(orders: int) -> None:
    """Insert orders and entries past all triggers, and the rows that sum them up."""
    from gateway.models import Exchange
    from gateway.services import next_number
    from ledger.models import Books
    from reconciliation.models import Reconciliation
    from testing.factories import make_product

    values = {"product": make_product().pk, "price": PRICE, "opened": OPENED, "orders": orders}
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0; SET session_replication_role = replica")
        cursor.execute(_OPENING % values)
        for first in range(1, orders + 1, BATCH):
            part = {**values, "first": first, "last": min(first + BATCH - 1, orders)}
            cursor.execute(_PAYMENTS, part)
            cursor.execute(_ORDERS, part)
            cursor.execute(_ENTRIES, part)
        cursor.execute("SET session_replication_role = origin; SET statement_timeout = 30000")
        cursor.execute("VACUUM ANALYZE")
    balance = OPENED - (orders - orders // 10) * PRICE
    now = timezone.now()
    number = next_number()
    quiet = Exchange.objects.create(
        pk=number,
        answered_no=next_number(),
        endpoint="balance",
        sent_at=now,
        answered_at=now,
        outcome="answer",
        balance=balance,
    )
    Books.objects.update_or_create(only=True, defaults={"balance": balance, "opened_at": now})
    Reconciliation.objects.create(quiet=quiet, booked=balance, judged_no=number + 1)


def timed(name: str, work: Callable[[], Any]) -> Any:
    """Do it, and print how long it took, with its statements."""
    statements: list[float] = []

    def note(execute: Callable[..., Any], *arguments: Any) -> Any:
        began = time.perf_counter()
        try:
            return execute(*arguments)
        finally:
            statements.append(time.perf_counter() - began)

    began = time.perf_counter()
    with connection.execute_wrapper(note):
        result = work()
    took = time.perf_counter() - began
    longest = max(statements, default=0)
    print(f"{name}: {took:.2f} s, {len(statements)} statements, the longest {longest:.2f} s", flush=True)
    return result


if __name__ == "__main__":
    main()
