"""Compares our books with the upstream, and takes people's decisions about differences.

Lock order: reconciliation's row, then the orders that explain differences, then differences, adjustments and
announcements, then the books.
"""

from reconciliation.services.decisions import (
    acknowledge_top_up,
    announce_top_up,
    announced_before,
    approve_adjustment,
    cancel_expected_top_up,
    propose_adjustment,
)
from reconciliation.services.differences import lock_reconciliation, orders_of_amount, unexplained_differences
from reconciliation.services.glance import glance
from reconciliation.services.proving import last_proof, prove
from reconciliation.services.reconciling import (
    DUE_READING,
    Position,
    compared_at,
    compared_reading,
    position,
    position_from,
    position_questions,
    read_again_at,
    reconcile,
    take_reading_again,
)
