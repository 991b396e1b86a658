"""The calling processes of `benchmarks/budget.py`: machines with a dispatcher and workers, and people who click."""

import itertools
import random
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from typing import cast

import django
import redis
from django.conf import settings
from django.db.models import QuerySet

django.setup()

from core import clock  # noqa: E402 - these need Django
from gateway import dispatching, line  # noqa: E402
from gateway.dispatching import Dispatcher, Due  # noqa: E402
from gateway.line import Work  # noqa: E402
from upstream import requests  # noqa: E402
from upstream.client import get_client  # noqa: E402
from upstream.endpoints import Endpoint  # noqa: E402
from upstream.errors import UpstreamError  # noqa: E402

CLICK, BATCH, ROW = "click", "batch", "row"
CASHIER, COLLEAGUE = 1, 2
_STATUS = Endpoint.TRANSACTION_STATUS


def prepare(**_: object) -> None:
    """Empty the case's database of Redis and open its rate budget."""
    redis.Redis.from_url(settings.REDIS_URL).flushdb()
    get_client().budget.declare_fresh()


def machine(*, backlog: int, **_: object) -> None:
    """Dispatch and call until killed. The due rows are numbers in Redis, so that machines share them."""
    pool = ThreadPoolExecutor(8)
    rows = redis.Redis.from_url(settings.REDIS_URL)

    def taken(more: int) -> int:
        return cast("int", rows.incrby("benchmark:rows", more))

    def take(limit: int) -> list[Work]:
        last = taken(limit)
        return [Work(ROW, number) for number in range(last - limit + 1, last + 1) if number <= backlog]

    def first_moments(sources: Sequence[Due]) -> list[tuple[Due, datetime]]:
        return [(sources[0], datetime.now(UTC))] if taken(0) < backlog else []

    def call(work: Work, permit_id: str) -> None:
        permit = get_client().budget.take_over(permit_id, _STATUS)
        with suppress(UpstreamError):  # every answer here is "not found"
            get_client().send(requests.transaction_status(ref_id=f"{work.task}-{work.pk}"), permit)

    def publish(task: str, pk: int, permit_id: str = "", queue: str = "") -> bool:  # noqa: ARG001
        pool.submit(call, Work(task, pk), permit_id)
        return True

    # In place of Celery and PostgreSQL.
    vars(dispatching).update(publish=publish, sending_is_stopped=lambda: False, first_moments=first_moments)
    vars(clock).update(now=lambda: datetime.now(UTC))
    Dispatcher([Due(earliest=QuerySet, take=take)]).run(threading.Event())


def people(*, batch: int, clicks: bool, **_: object) -> None:
    """Run a colleague with a batch that always has so many waiting rows, and a cashier who clicks about every 3 s."""
    time.sleep(8)
    if batch:
        threading.Thread(target=keep_waiting, args=(batch,), daemon=True).start()
    while clicks:
        time.sleep(random.expovariate(1 / 3))
        line.join(Work(CLICK, int(time.time() * 1000)), person_id=CASHIER)


def keep_waiting(batch: int) -> None:
    """Have the colleague click again whenever a row was handed out."""
    for number in itertools.count():
        line.join(Work(BATCH, number), person_id=COLLEAGUE)
        while line.longest_wait(Work(BATCH, number - batch + 1)) is not None:
            time.sleep(0.1)
