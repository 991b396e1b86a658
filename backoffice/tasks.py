"""One thread of each worker process hands out the due work of every room, also after a lost message."""

from __future__ import annotations

import threading
from typing import Any

from celery.signals import worker_ready, worker_shutting_down

from batches.services import DUE_BATCHES
from bills.services import DUE_CHECKS, EXPIRED_PAYMENTS
from callbacks.services import DUE_CALLBACKS
from gateway.dispatching import Dispatcher
from purchases.services import DUE_ORDERS
from reconciliation.services import DUE_READING

SOURCES = (DUE_ORDERS, DUE_CHECKS, EXPIRED_PAYMENTS, DUE_CALLBACKS, DUE_READING, DUE_BATCHES)

_stop = threading.Event()


@worker_ready.connect
def _start_dispatcher(**_: Any) -> None:
    dispatcher = Dispatcher(SOURCES, queue_of_people="interactive", queue_of_rest="background")
    # Nothing is lost when it is cut off: the work in its hands falls due again.
    threading.Thread(target=dispatcher.run, args=[_stop], name="dispatcher", daemon=True).start()


@worker_shutting_down.connect
def _stop_dispatcher(**_: Any) -> None:
    _stop.set()
