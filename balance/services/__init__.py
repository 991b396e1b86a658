"""Our account at the upstream: what it told us, our books, and whether the two agree.

Lock order: an order's row (purchases), then the books; reconciliation's row, then differences, then the books.
"""

from balance.services.account import (
    WrongUpstream,
    bind_to_upstream,
    latest_reading,
    read_balance,
    record_reading,
    request_balance_reading,
    sending_is_stopped,
    upstream_account,
    watching_account,
)
from balance.services.differences import (
    acknowledge_top_up,
    announce_top_up,
    approve_adjustment,
    cancel_expected_top_up,
    decline_adjustment,
    propose_adjustment,
)
from balance.services.ledger import available, books, debit, hold, refund, release
from balance.services.reconciling import Position, latest_run, position, reconcile
from balance.services.spending import (
    note_charged,
    note_ended,
    note_never_charged,
    note_not_charged,
    note_parked,
    note_seen_pending,
    note_sent,
    record_sending_reading,
    record_status_reading,
)

__all__ = [
    "Position",
    "WrongUpstream",
    "acknowledge_top_up",
    "announce_top_up",
    "approve_adjustment",
    "available",
    "bind_to_upstream",
    "books",
    "cancel_expected_top_up",
    "debit",
    "decline_adjustment",
    "hold",
    "latest_reading",
    "latest_run",
    "note_charged",
    "note_ended",
    "note_never_charged",
    "note_not_charged",
    "note_parked",
    "note_seen_pending",
    "note_sent",
    "position",
    "propose_adjustment",
    "read_balance",
    "reconcile",
    "record_reading",
    "record_sending_reading",
    "record_status_reading",
    "refund",
    "release",
    "request_balance_reading",
    "sending_is_stopped",
    "upstream_account",
    "watching_account",
]
