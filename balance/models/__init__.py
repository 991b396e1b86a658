"""What we know of our account at the upstream, and our books about it."""

from balance.models.account import Reading, UpstreamAccount
from balance.models.alerts import Alert
from balance.models.ledger import Books, Entry, OrderKind
from balance.models.notices import AlertNotice
from balance.models.reconciliation import (
    Adjustment,
    Difference,
    ExpectedTopUp,
    Reconciliation,
    ReconciliationRun,
    Spending,
)

__all__ = [
    "Adjustment",
    "Alert",
    "AlertNotice",
    "Books",
    "Difference",
    "Entry",
    "ExpectedTopUp",
    "OrderKind",
    "Reading",
    "Reconciliation",
    "ReconciliationRun",
    "Spending",
    "UpstreamAccount",
]
