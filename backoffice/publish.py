"""Hand work to the workers without ever depending on the broker: PostgreSQL already holds what is to be done."""

import time
from typing import Any

import structlog
from celery import Task
from kombu.exceptions import OperationalError

log = structlog.get_logger()

# After a failure nobody in this process tries for so long (seconds): a frozen broker costs one person one timeout, not
# everybody theirs.
_PAUSE_SECONDS = 5.0
_paused_until = [0.0]


def publish(task: "Task[..., Any]", *args: Any, queue: str = "") -> bool:
    """Queue `task(*args)` now, in its own queue or in `queue`; False when the broker cannot be reached.

    The sweep does the work then. Tried once, without Celery's retries: a person may be waiting for the page behind
    this call.
    """
    if time.monotonic() < _paused_until[0]:
        return False
    route: dict[str, Any] = {"queue": queue} if queue else {}
    try:
        task.apply_async(args=args, retry=False, **route)
    except OperationalError as error:
        _paused_until[0] = time.monotonic() + _PAUSE_SECONDS
        log.warning("broker_unreachable", task=task.name, fault=type(error).__name__)
        return False
    return True
