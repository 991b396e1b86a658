"""The order's life, one module a subject. Only these functions change a status.

Lock order, everywhere: the order's row, then what hangs on it (events, incidents), then the books. One order is locked
at a time, but by the sweep, which skips locked rows.
"""

from purchases.services.catalogue import CatalogueFault, request_catalogue_sync, sync_catalogue
from purchases.services.checking import check
from purchases.services.outcome import Outcome, apply_outcome
from purchases.services.placing import place_order, refuse_repeat
from purchases.services.reconciling import reconcile_books, reconcile_now
from purchases.services.resolving import cancel_order, check_now, close_incident, close_never_arrived, send_again
from purchases.services.sending import submit
from purchases.services.sweeping import sweep
from purchases.services.waiting import queue_waiting_orders

__all__ = [
    "CatalogueFault",
    "Outcome",
    "apply_outcome",
    "cancel_order",
    "check",
    "check_now",
    "close_incident",
    "close_never_arrived",
    "place_order",
    "queue_waiting_orders",
    "reconcile_books",
    "reconcile_now",
    "refuse_repeat",
    "request_catalogue_sync",
    "send_again",
    "submit",
    "sweep",
    "sync_catalogue",
]
