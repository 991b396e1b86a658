"""Hand work to the workers without ever depending on the broker: PostgreSQL already holds what is to be done."""

import time
from functools import cache
from typing import Any

import structlog
from celery import current_app
from kombu import Connection
from kombu.exceptions import OperationalError
from kombu.pools import producers

log = structlog.get_logger()

# After a failure nobody in this process tries for this long (seconds): a frozen broker costs one person one timeout,
# not everybody theirs.
_PAUSE_SECONDS = 5.0
_paused_until = [0.0]

# A person waits for the page meanwhile: a broker that does not answer within this (seconds) costs no more.
_PATIENCE_SECONDS = 0.5


def publish(task: str, *args: Any, queue: str = "") -> bool:
    """Queue the task of this name (e.g. "purchases.tasks.submit_order") now; False when the broker cannot be reached.

    A room names the tasks of the rooms above it without importing them. `queue`: another one than the task's own. The
    sweep does the work when the broker is down. Tried once, without Celery's retries: a person may be waiting.
    """
    if time.monotonic() < _paused_until[0]:
        return False
    route: dict[str, Any] = {"queue": queue} if queue else {}
    try:
        with producers[_broker()].acquire(block=True, timeout=_PATIENCE_SECONDS) as producer:
            current_app.send_task(task, args=args, retry=False, producer=producer, **route)
    except OperationalError as error:
        _paused_until[0] = time.monotonic() + _PAUSE_SECONDS
        log.warning("broker_unreachable", task=task, fault=type(error).__name__)
        return False
    return True


@cache
def _broker() -> Connection:
    """The broker for those who publish: workers, who wait for messages, have more patience with it."""
    patience = {"socket_timeout": _PATIENCE_SECONDS, "socket_connect_timeout": _PATIENCE_SECONDS, "max_retries": 0}
    return current_app.connection_for_write(transport_options=patience)
