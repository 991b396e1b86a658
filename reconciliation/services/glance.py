"""Tells by one query whether the balance's page has changed: the page asks this every few seconds."""

from dataclasses import dataclass

from django.db import connection
from django.utils import timezone

from reconciliation.models import EXPECTED_FOR

# Every move of an order leaves an event, and every balance an exchange.
_GLANCE = """
    SELECT
        ARRAY[
            (SELECT max(id) FROM gateway_exchange WHERE balance IS NOT NULL),
            (SELECT max(id) FROM purchases_orderevent),
            (SELECT max(id) FROM purchases_incident)
        ],
        (SELECT ARRAY[balance, reserved, found, (opened_at IS NULL)::int] FROM ledger_books),
        (SELECT ARRAY[quiet_id, booked, outside, judged_no] FROM reconciliation_reconciliation),
        (SELECT concat_ws(' ', flaw, flaw_amount, flaw_entry) FROM ledger_proof),
        (SELECT array_agg(id ORDER BY id) FROM reconciliation_difference WHERE state = 'open'),
        (
            SELECT array_agg((SELECT status FROM purchases_order WHERE ref_id = named ->> 'ref_id') ORDER BY id, named)
            FROM reconciliation_difference, jsonb_array_elements(candidates) named WHERE state = 'open'
        ),
        (SELECT array_agg(id ORDER BY id) FROM reconciliation_adjustment WHERE decided_at IS NULL),
        (
            SELECT array_agg(ARRAY[id, (announced_at <= %s)::int] ORDER BY id) FROM reconciliation_expectedtopup
            WHERE difference_id IS NULL AND cancelled_at IS NULL
        ),
        (SELECT max(id) FROM reconciliation_expectedtopup WHERE difference_id IS NOT NULL),
        (SELECT reserved > 0 FROM ledger_books),
        EXISTS (SELECT 1 FROM purchases_order WHERE status IN ('sending', 'pending', 'unknown'))
"""


@dataclass(frozen=True)
class Glance:
    """The rows that decide the account's figures and state, and its differences, their orders and announced top-ups.

    `is_busy`: whether an order is under way that may move them.
    """

    account: list[object]
    differences: list[object]
    is_busy: bool


def glance() -> Glance:
    """The account in short. It changes each minute, because the clock also decides which orders wait for a person."""
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(_GLANCE, [now - EXPECTED_FOR])
        *figures, open_sum, named, proposed, announced, arrived, is_reserved, is_open = cursor.fetchone()
    account = [*figures, open_sum, now.replace(second=0, microsecond=0).isoformat()]
    return Glance(account, [open_sum, named, proposed, announced, arrived], bool(is_reserved or is_open))
