"""Books of a year of orders, inserted past all triggers; each is released and debited, every tenth refunded."""

from django.db import connection
from django.utils import timezone

from gateway.models import Exchange
from gateway.services import next_number
from ledger.models import Books
from reconciliation.models import Reconciliation
from testing.factories import make_product

_PRICE, _OPENED, _BATCH = 10_500, 10**12, 200_000

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


def make_books(orders: int) -> None:
    """Insert so many orders with their entries, and the rows that sum them up; advance the next keys."""
    values = {"product": make_product().pk, "price": _PRICE, "opened": _OPENED, "orders": orders}
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0; SET session_replication_role = replica")
        cursor.execute(_OPENING % values)
        for first in range(1, orders + 1, _BATCH):
            part = {**values, "first": first, "last": min(first + _BATCH - 1, orders)}
            cursor.execute(_PAYMENTS, part)
            cursor.execute(_ORDERS, part)
            cursor.execute(_ENTRIES, part)
        for table in ("purchases_order", "drawers_payment"):
            cursor.execute("SELECT setval(pg_get_serial_sequence(%s, 'id'), %s)", [table, orders])
        cursor.execute("SET session_replication_role = origin; SET statement_timeout = 30000")
        cursor.execute("VACUUM ANALYZE")
    balance = _OPENED - (orders - orders // 10) * _PRICE
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
