"""Hand work to the workers without ever depending on the broker: PostgreSQL already holds what is to be done."""

from functools import cache
from typing import Any

from celery import current_app
from kombu import Connection
from kombu.exceptions import OperationalError
from kombu.pools import producers

from core.stores import PATIENCE_SECONDS, Breaker

breaker = Breaker("broker_unreachable")


def publish(task: str, *args: Any, queue: str = "") -> bool:
    """Queue the task of this name (e.g. "purchases.tasks.submit_order") now; False when the broker cannot be reached.

    A room names the tasks of the rooms above it without importing them. `queue`: another one than the task's own. The
    sweep does the work when the broker is down. Tried once, without Celery's retries: a person may be waiting.
    """
    if breaker.is_open:
        return False
    route: dict[str, Any] = {"queue": queue} if queue else {}
    try:
        with producers[_broker()].acquire(block=True, timeout=PATIENCE_SECONDS) as producer:
            current_app.send_task(task, args=args, retry=False, producer=producer, **route)
    except OperationalError as error:
        breaker.note(error, task=task)
        return False
    return True


@cache
def _broker() -> Connection:
    """The broker for those who publish: workers, who wait for messages, have more patience with it."""
    patience = {"socket_timeout": PATIENCE_SECONDS, "socket_connect_timeout": PATIENCE_SECONDS, "max_retries": 0}
    return current_app.connection_for_write(transport_options=patience)
