"""Our account at the upstream: what it told us, our books, and whether the two agree.

Lock order: an order's row (purchases), then the books; reconciliation's row, then differences, then the books.
"""

from balance.services.account import (
    WrongUpstream,
    bind_to_upstream,
    in_turn,
    latest_reading,
    present_moment,
    read_balance,
    record_reading,
    request_balance_reading,
    sending_is_stopped,
    upstream_account,
    watching_account,
)
from balance.services.alerts import evaluate_alerts
from balance.services.differences import (
    acknowledge_top_up,
    announce_top_up,
    approve_adjustment,
    cancel_expected_top_up,
    decline_adjustment,
    propose_adjustment,
)
from balance.services.exporting import STATEMENT_COLUMNS, spreadsheet_cell, statement_row
from balance.services.ledger import available, books, debit, hold, open_differences_total, refund, release
from balance.services.numbers import (
    DayClosing,
    balance_curve,
    day_closings,
    one_moment,
    statement,
    usual_spending_per_hour,
)
from balance.services.reconciling import Position, books_off_by, latest_run, position, reconcile
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
    "STATEMENT_COLUMNS",
    "DayClosing",
    "Position",
    "WrongUpstream",
    "acknowledge_top_up",
    "announce_top_up",
    "approve_adjustment",
    "available",
    "balance_curve",
    "bind_to_upstream",
    "books",
    "books_off_by",
    "cancel_expected_top_up",
    "day_closings",
    "debit",
    "decline_adjustment",
    "evaluate_alerts",
    "hold",
    "in_turn",
    "latest_reading",
    "latest_run",
    "note_charged",
    "note_ended",
    "note_never_charged",
    "note_not_charged",
    "note_parked",
    "note_seen_pending",
    "note_sent",
    "one_moment",
    "open_differences_total",
    "position",
    "present_moment",
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
    "spreadsheet_cell",
    "statement",
    "statement_row",
    "upstream_account",
    "usual_spending_per_hour",
    "watching_account",
]
