"""The queries of a proof. Each returns (entry, rupiah) for the first wrong row, or nothing.

Orders and their entries are looked up one by one (`LIMIT 1`): a join of whole tables would take the time of all
entries for each part of them.
"""

# An entry of an order is its price, a refund belongs to a failed one, a reversal to a reversed one.
NOT_ITS_ORDERS = """
    SELECT e.id, COALESCE(NULLIF(e.balance_change - COALESCE(
        CASE e.kind WHEN 'debit' THEN -1 ELSE 1 END * o.price, 0), 0), e.balance_change)
    FROM ledger_entry e LEFT JOIN LATERAL (
        SELECT status, COALESCE(price, max_price) AS price FROM purchases_order WHERE ref_id = e.ref_id LIMIT 1
    ) o ON TRUE
    WHERE e.id > %(first)s AND e.id <= %(last)s AND e.kind IN ('debit', 'refund', 'reversal') AND NOT COALESCE(
        e.amount = o.price AND (
            (e.kind = 'debit' AND o.status IN ('pending', 'success', 'failed', 'reversed'))
            OR (e.kind = 'refund' AND o.status = 'failed') OR (e.kind = 'reversal' AND o.status = 'reversed')
        ), FALSE)
    ORDER BY e.id LIMIT 1
"""

# The reservation by an order's status: its confirmed price while it may be charged and the outcome is not reported.
_RESERVES = """
    CASE WHEN o.status IN ('queued', 'sending', 'unknown')
        OR (o.status = 'needs_action' AND o.sent_no IS NOT NULL AND o.accepted_no IS NULL) THEN o.max_price ELSE 0 END
"""

# One row for each order with a reservation or a release among these entries. If these cancel each other out and nothing
# should be reserved, the order is skipped: its other entries are checked with the part that they are in.
RESERVED = f"""
    SELECT entry, off FROM (
        SELECT entry, (SELECT sum(reserved_change) FROM ledger_entry WHERE ref_id = new.ref_id) - reserves AS off
        FROM (
            SELECT ref_id, min(id) AS entry, sum(reserved_change) AS change FROM ledger_entry
            WHERE id > %(first)s AND id <= %(last)s AND reserved_change <> 0 GROUP BY ref_id
        ) new CROSS JOIN LATERAL (
            SELECT COALESCE((SELECT {_RESERVES} FROM purchases_order o WHERE o.ref_id = new.ref_id), 0) AS reserves
        ) of_order
        WHERE change <> 0 OR reserves <> 0
    ) orders WHERE off <> 0 ORDER BY entry LIMIT 1
"""  # noqa: S608 - our own text

RESERVED_OF_ORDERS = f"""
    SELECT NULL, off FROM (
        SELECT o.id, COALESCE((SELECT sum(reserved_change) FROM ledger_entry WHERE ref_id = o.ref_id), 0) - {_RESERVES}
            AS off
        FROM purchases_order o
        WHERE o.id > %(first)s AND o.id <= %(last)s AND o.status IN ('queued', 'sending', 'unknown', 'needs_action')
    ) orders WHERE off <> 0 ORDER BY id LIMIT 1
"""  # noqa: S608 - our own text

UNFOUNDED = """
    SELECT e.id, COALESCE(NULLIF(e.balance_change - COALESCE(d.amount, 0), 0), e.balance_change)
    FROM ledger_entry e LEFT JOIN reconciliation_difference d ON d.entry_id = e.id
    WHERE e.id > %(first)s AND e.id <= %(last)s AND e.kind IN ('topup', 'adjustment')
        AND d.amount IS DISTINCT FROM e.balance_change
    ORDER BY e.id LIMIT 1
"""

# A charged order without its debit, or a failed or reversed one without its refund.
MISSING = """
    SELECT debit, CASE WHEN debit IS NULL THEN -price ELSE price END FROM (
        SELECT o.id, o.status, o.accepted_no, COALESCE(o.price, o.max_price) AS price,
            (SELECT id FROM ledger_entry WHERE ref_id = o.ref_id AND kind = 'debit') AS debit,
            (SELECT id FROM ledger_entry WHERE ref_id = o.ref_id AND kind IN ('refund', 'reversal')) AS back
        FROM purchases_order o WHERE o.id > %(first)s AND o.id <= %(last)s
            AND o.status IN ('pending', 'success', 'failed', 'reversed')
    ) o
    WHERE (debit IS NULL AND accepted_no IS NOT NULL)
        OR (debit IS NOT NULL AND back IS NULL AND status IN ('failed', 'reversed'))
    ORDER BY id LIMIT 1
"""

# A difference whose entry in the books does not exist.
DANGLING = """
    SELECT NULL, -d.amount FROM reconciliation_difference d
    WHERE d.entry_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ledger_entry WHERE id = d.entry_id)
    ORDER BY d.id LIMIT 1
"""

# The sum in the books at the last quiet reading: the opening and the entries of orders before it. Top-ups and
# adjustments are differences; they are subtracted from the balance that the entries had then. The amount is signed like
# a difference of the balance: it is the hidden amount.
KEPT_BOOKED = """
    SELECT entry, said - booked FROM (
        SELECT r.booked, last.id AS entry, COALESCE(last.balance_after, 0) + COALESCE((
                SELECT balance_change FROM ledger_entry WHERE kind = 'opening' AND id > r.quiet_id
            ), 0) - COALESCE((
                SELECT sum(amount) FROM reconciliation_difference WHERE entry_id < r.quiet_id
            ), 0) AS said
        FROM reconciliation_reconciliation r LEFT JOIN LATERAL (
            SELECT id, balance_after FROM ledger_entry WHERE id < r.quiet_id ORDER BY id DESC LIMIT 1
        ) last ON TRUE
        WHERE r.quiet_id IS NOT NULL
    ) kept WHERE booked <> said
"""

# The sum outside the books at that time: every difference that no order explains.
KEPT_OUTSIDE = """
    SELECT entry, said - outside FROM (
        SELECT r.outside, (SELECT max(id) FROM ledger_entry WHERE id < r.quiet_id) AS entry, COALESCE((
            SELECT sum(amount) FROM reconciliation_difference WHERE explained_by_id IS NULL
        ), 0) AS said
        FROM reconciliation_reconciliation r WHERE r.quiet_id IS NOT NULL
    ) kept WHERE outside <> said
"""
