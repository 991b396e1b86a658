"""The threads of each worker process that need no message: they hand out due work, and look after late alerts."""

import threading
from typing import Any

import structlog
from celery.signals import worker_init, worker_ready, worker_shutting_down
from django.db import DatabaseError, connection

from alerts.services import evaluate_alerts, is_evaluation_late, notify_people
from batches.services import DUE_BATCHES
from bills.services import DUE_CHECKS, EXPIRED_PAYMENTS
from callbacks.services import DUE_CALLBACKS
from gateway.dispatching import Dispatcher
from purchases.services import DUE_ORDERS
from reconciliation.services import DUE_READING

SOURCES = (DUE_ORDERS, DUE_CHECKS, EXPIRED_PAYMENTS, DUE_CALLBACKS, DUE_READING, DUE_BATCHES)

# How often each worker process checks whether alerts are evaluated (seconds).
LOOK_SECONDS = 30.0

log = structlog.get_logger()
_stop = threading.Event()


@worker_ready.connect
def _start_dispatcher(**_: Any) -> None:
    dispatcher = Dispatcher(SOURCES, queue_of_people="interactive", queue_of_rest="background")
    # Nothing is lost when it is cut off: the work in its hands falls due again.
    threading.Thread(target=dispatcher.run, args=[_stop], name="dispatcher", daemon=True).start()


@worker_init.connect  # a worker is ready only when Redis answers
def _watch_evaluations(**_: Any) -> None:
    threading.Thread(target=_keep_evaluating, name="late-alerts", daemon=True).start()


def _keep_evaluating() -> None:
    while not _stop.wait(LOOK_SECONDS):
        try:
            evaluate_late()
        except DatabaseError as error:
            log.warning("late_alerts_not_evaluated", fault=type(error).__name__)
        except Exception:
            log.exception("late_alerts_failed")
        finally:
            connection.close()


def evaluate_late() -> None:
    """Evaluate the alerts and notify people if nobody has done so for a minute.

    beat's tasks do not run while Redis is away, or while every thread of the background is busy.
    """
    if is_evaluation_late():
        evaluate_alerts()
        notify_people()


@worker_shutting_down.connect
def _stop_threads(**_: Any) -> None:
    _stop.set()
