"""What customers are owed follows from the orders: a row is made of each, which stays until it is given back.

The sweep looks for them, and whatever shows the list asks first. No order waits for it.
"""

from __future__ import annotations

import datetime as dt

from django.db import connection

from core import clock
from drawers.services.sales import PAYS
from purchases.states import UNFULFILLED, Status

# Drawers are in use while somebody has opened one in so many days before; then who sells is paid.
IN_USE_DAYS = 7
# Whoever looks for what is owed goes back so far: longer than the sweep is ever away.
_LOOKS_BACK = dt.timedelta(days=3)

_UNFULFILLED = ", ".join(f"'{status.value}'" for status in sorted(UNFULFILLED))
_PAID = """
    SELECT e.amount FROM drawers_drawerentry e
     WHERE e.ref_id = o.ref_id AND e.ref_id > '' AND e.kind = 'sale' AND e.undoes_id IS NULL
       AND NOT EXISTS (SELECT FROM drawers_drawerentry undoing WHERE undoing.undoes_id = e.id)
"""
_OWES = """
    SELECT FROM credit_creditentry c
     WHERE c.ref_id = o.ref_id AND c.ref_id > '' AND c.kind = 'sale' AND c.undoes_id IS NULL
"""
# The customer has paid, or owes it: it is a sale of a drawer or on an account, it was a success before, or somebody
# sold it while drawers are in use. Orders that nobody placed at a counter, or in a shop without drawers, are nobody's
# to-do. An order that is locked may be given back just now; it is looked for again.
_NOTE = f"""
    INSERT INTO drawers_refund (order_id, amount, since, method, note)
    SELECT o.id, coalesce(paid.amount, {PAYS}), o.final_at, '', ''
      FROM purchases_order o LEFT JOIN LATERAL ({_PAID} LIMIT 1) paid ON TRUE
     WHERE o.status IN ({_UNFULFILLED}) AND o.final_at >= %(since)s
       AND NOT EXISTS (SELECT FROM drawers_refund known WHERE known.order_id = o.id)
       AND (paid.amount IS NOT NULL OR EXISTS ({_OWES}) OR o.status = '{Status.REVERSED.value}'
         OR (o.placed_by_id IS NOT NULL AND EXISTS (
            SELECT FROM drawers_shift s WHERE s.opened_at <= o.created_at
               AND s.opened_at > o.created_at - interval '{IN_USE_DAYS} days')))
     ORDER BY o.final_at, o.id FOR KEY SHARE OF o SKIP LOCKED
    ON CONFLICT DO NOTHING
"""  # noqa: S608 - our own text
# What was noted at the order itself, or taken off an account there.
_SETTLE = """
    UPDATE drawers_refund r SET given_at = c.at, given_by_id = c.person_id, method = 'credit', note = c.reason
      FROM credit_creditentry c JOIN purchases_order o ON o.ref_id = c.ref_id
     WHERE o.id = r.order_id AND r.given_at IS NULL AND c.ref_id > '' AND c.kind = 'refund' AND c.at >= %(since)s;

    UPDATE drawers_refund r SET given_at = g.at, given_by_id = g.noted_by_id, note = g.note
      FROM purchases_givenback g WHERE g.order_id = r.order_id AND r.given_at IS NULL AND g.at >= %(since)s
"""


def note_owed(since: dt.datetime | None = None) -> int:
    """Note what customers are owed for orders that have ended since then (default: three days ago); how many.

    What was given back at the order, or taken off an account, since then is settled.
    """
    with connection.cursor() as cursor:
        # Statements that are sent together are one transaction: in a shop at rest one message instead of four.
        cursor.execute(f"{_NOTE};{_SETTLE}", {"since": since or clock.now() - _LOOKS_BACK})
        return int(cursor.rowcount)  # of the first
