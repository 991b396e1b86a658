"""Repeats the last run by one statement, if a new run would find no change."""

from django.utils import timezone

from core.times import start_of_day
from reconciliation.models import ReconciliationRun
from reconciliation.services.proving_sql import KEPT_BOOKED, KEPT_OUTSIDE

# The last run was balanced, and is of today: the last run of an earlier day stays there, because the page of that day
# shows it. No balance has come since the reading that it compared, so nothing is to be judged. No entry has come since
# the proof, so all are proved. Only the sums remain: somebody may have changed them in the database itself.
_AS_BEFORE = f"""
    WITH as_before AS (
        SELECT run.id FROM (SELECT * FROM reconciliation_reconciliationrun ORDER BY id DESC LIMIT 1) run,
            reconciliation_reconciliation r JOIN gateway_exchange quiet ON quiet.id = r.quiet_id,
            ledger_books books, ledger_proof proof
        WHERE run.state = 'balanced' AND run.at >= %(midnight)s AND run.reported = quiet.balance AND proof.flaw = ''
            AND quiet.id = (SELECT id FROM gateway_exchange WHERE balance IS NOT NULL ORDER BY id DESC LIMIT 1)
            AND NOT EXISTS (SELECT 1 FROM reconciliation_difference WHERE state = 'open')
            AND proof.upto = COALESCE((SELECT max(id) FROM ledger_entry), 0)
            AND (books.balance, books.reserved, books.found) = (proof.balance, proof.reserved, 0)
            AND NOT EXISTS ({KEPT_BOOKED}) AND NOT EXISTS ({KEPT_OUTSIDE})
    ), noted AS (
        UPDATE ledger_proof SET proved_at = %(now)s FROM as_before
    )
    UPDATE reconciliation_reconciliationrun run SET at = %(now)s FROM as_before WHERE run.id = as_before.id
    RETURNING run.*
"""  # noqa: S608 - our own text


def repeat_last_run() -> ReconciliationRun | None:
    """The last run, with its time moved to now, if it is of today and a new run would find the same.

    Else None, and nothing changes.
    """
    now = timezone.now()
    moments = {"now": now, "midnight": start_of_day(timezone.localdate(now))}
    return next(iter(ReconciliationRun.objects.raw(_AS_BEFORE, moments)), None)
