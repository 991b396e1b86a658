"""Our Celery app for tests that wait: the tasks for pages come ten times as often, and the workers do not step back.

Workers that step back while a browser and other tests run would do less than beat asks for.
"""

from typing import Any

from celery.signals import worker_init

from backoffice.celery import app
from core import priority

_WAITED_FOR = (
    *("sync-catalogue", "read-balance", "reconcile-books", "expire-approvals", "evaluate-alerts", "tidy-exports"),
)

priority.NICENESS = 0
for name in _WAITED_FOR:
    app.conf.beat_schedule[name]["schedule"] /= 10


@worker_init.connect
def _look_often(**_: Any) -> None:
    from backoffice import tasks  # noqa: PLC0415  # the models are ready only now

    tasks.LOOK_SECONDS /= 10
