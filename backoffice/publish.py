"""Hand work to the workers without ever depending on the broker: PostgreSQL already holds what is to be done."""

from typing import Any

import structlog
from celery import Task
from kombu.exceptions import OperationalError

log = structlog.get_logger()


def publish(task: "Task[..., Any]", *args: Any) -> bool:
    """Queue `task(*args)` now; False when the broker cannot be reached (the sweep does the work then).

    Tried once, without Celery's retries: a person may be waiting for the page behind this call.
    """
    try:
        task.apply_async(args=args, retry=False)
    except OperationalError as error:
        log.warning("broker_unreachable", task=task.name, fault=type(error).__name__)
        return False
    return True
