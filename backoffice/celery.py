"""The Celery app and its static schedule.

docs/architecture.md has the processes. One worker takes `interactive` and `callbacks` in turns, so that a flood of
callbacks holds up no person; the other takes `background`. The pool is threads: the work waits for the network. Each
upstream call has a total deadline and each statement a timeout, so that no thread can hang. A lost message or a killed
worker costs only time: the dispatcher (`backoffice/tasks.py`) finds the due work in PostgreSQL.
"""

import os
import sys
import time
from typing import Any

from celery import Celery
from celery.schedules import crontab
from celery.signals import (
    beat_init,
    before_task_publish,
    heartbeat_sent,
    task_postrun,
    task_prerun,
    worker_init,
    worker_shutdown,
)
from celery.states import SUCCESS
from django.conf import settings
from django.db import close_old_connections
from kombu import Exchange, Queue
from structlog.contextvars import bind_contextvars, unbind_contextvars

from backoffice.starting import make_ready
from core import health, heartbeats
from core.connections import trust_quiet_connection
from core.measures import TASK_SECONDS
from core.priority import step_back
from core.publish import publish
from core.tracing import begin_trace, end_trace, traceparent
from gateway.standing import note_gone_on

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backoffice.settings")

INTERACTIVE = "interactive"
BACKGROUND = "background"
CALLBACKS = "callbacks"


def scheduled(task: str, when: float | crontab, *, expires: int) -> dict[str, Any]:
    """A row of beat's schedule: every `when` seconds, or at these times; a message expires after `expires` s."""
    return {"task": task, "schedule": when, "options": {"expires": expires}}


app = Celery("backoffice")
app.conf.update(
    broker_url=settings.REDIS_URL,
    broker_transport="core.broker:Transport",
    # Kombu would speak plain TCP to a rediss:// address that names no certificate: it looks only at its parameters.
    broker_use_ssl={"ssl_cert_reqs": "required"} if settings.REDIS_URL.startswith("rediss:") else None,
    broker_connection_retry_on_startup=True,
    broker_transport_options={
        # Seconds until a killed worker's message is handed out again; `core/broker.py` keeps those of running tasks.
        "visibility_timeout": 300,
        "socket_timeout": settings.REDIS_SOCKET_TIMEOUT,
        "socket_connect_timeout": settings.REDIS_CONNECT_TIMEOUT,
        "socket_keepalive": True,
        "health_check_interval": 30,
    },
    # Celery on Redis loses or doubles without these; a doubled message is harmless here, a lost one costs only time.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    timezone=settings.TIME_ZONE,
    enable_utc=True,
    task_queues=[Queue(name, Exchange(name), routing_key=name) for name in (INTERACTIVE, CALLBACKS, BACKGROUND)],
    task_default_queue=BACKGROUND,
    task_routes={"callbacks.tasks.process_waiting": CALLBACKS},
    task_create_missing_queues=False,
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
    # A thread keeps its connection to PostgreSQL from task to task, like a thread of the pages (`_begin_task`).
    CELERY_DB_REUSE_MAX=sys.maxsize,
    beat_scheduler="backoffice.scheduler:OneOfMany",
    beat_max_loop_interval=1,
    beat_schedule={
        "sync-catalogue": scheduled("catalogue.tasks.sync_catalogue", 600.0, expires=300),
        "fetch-missing-catalogue": scheduled("catalogue.tasks.fetch_missing_catalogue", 30.0, expires=30),
        "read-balance": scheduled("reconciliation.tasks.read_balance", 60.0, expires=60),
        "count-what-is-bought": scheduled("purchases.tasks.count_what_is_bought", 600.0, expires=600),
        "count-health": scheduled("purchases.tasks.count_health", 10.0, expires=10),
        "reconcile-books": scheduled("reconciliation.tasks.reconcile_books", 30.0, expires=30),
        "prove-books": scheduled("reconciliation.tasks.prove_books", crontab(hour=2, minute=30), expires=3600),
        "sum-days": scheduled("earnings.tasks.sum_days", 600.0, expires=600),
        "prove-days": scheduled("earnings.tasks.prove_days", crontab(hour=4, minute=30), expires=3600),
        "clear-ended-sessions": scheduled("staff.tasks.clear_ended_sessions", crontab(hour=3, minute=10), expires=3600),
        "forget-old-exchanges": scheduled(
            "workbench.tasks.forget_old_exchanges", crontab(hour=3, minute=30), expires=3600
        ),
        "forget-old-callbacks": scheduled(
            "callbacks.tasks.forget_old_bodies", crontab(hour=3, minute=20), expires=3600
        ),
        "forget-old-batch-texts": scheduled("batches.tasks.forget_old_texts", crontab(hour=3, minute=40), expires=3600),
        "check-due-bills": scheduled("dues.tasks.check_due_bills", 60.0, expires=60),
        "take-in-lost": scheduled("bills.tasks.take_in_lost", 60.0, expires=60),
        "tidy-exports": scheduled("exports.tasks.tidy_exports", 60.0, expires=60),
        "expire-approvals": scheduled("approvals.tasks.expire_overdue", 60.0, expires=60),
        "seal-rows": scheduled("audit.tasks.seal_rows", 15.0, expires=15),
        "verify-recent-rows": scheduled("audit.tasks.verify_recent", 600.0, expires=600),
        "verify-all-rows": scheduled("audit.tasks.verify_all", crontab(hour=4, minute=0), expires=3600),
        "evaluate-alerts": scheduled("alerts.tasks.evaluate_alerts", 20.0, expires=20),
        "send-results": scheduled("alerts.tasks.send_results", 60.0, expires=60),
    },
)
app.autodiscover_tasks()


@worker_init.connect
@beat_init.connect
def _begin(**_: Any) -> None:
    step_back()  # the pages go first
    make_ready()


# --- Traces and times -------------------------------------------------------------------------------------------


@before_task_publish.connect
def _send_trace(headers: dict[str, Any], **_: Any) -> None:
    if here := traceparent():
        headers["traceparent"] = here


@task_prerun.connect
def _begin_task(task: Any, **_: Any) -> None:
    begin_trace(getattr(task.request, "traceparent", None))
    bind_contextvars(task=task.name)
    close_old_connections()
    trust_quiet_connection()  # the task's first statement notices a connection that PostgreSQL has closed
    task.request.began = time.perf_counter()


@task_postrun.connect
def _end_task(task: Any, state: str, retval: Any, **_: Any) -> None:
    # A task that returns False has put its work back. Tasks that people wait for say nothing about the background's.
    if state == SUCCESS and retval is not False and task.request.delivery_info.get("routing_key") != INTERACTIVE:
        note_gone_on(task.name)
    TASK_SECONDS.labels(task.name).observe(time.perf_counter() - task.request.began)
    unbind_contextvars("task")
    end_trace()


# --- Heartbeats, read by /readyz; those of beat are in `scheduler` ------------------------------------------------

_watched = [time.monotonic()]


@heartbeat_sent.connect
def _note_worker(**_: Any) -> None:
    heartbeats.record(heartbeats.process_name("worker"))
    _watch_others()


@worker_shutdown.connect
def _end_worker(**_: Any) -> None:
    heartbeats.end(heartbeats.process_name("worker"))


def _watch_others() -> None:
    """Have the alerts evaluated if beat or `background` has no heartbeat: nobody else would report that."""
    if time.monotonic() - _watched[0] >= 20:
        _watched[0] = time.monotonic()
        if {"beat", "background"} & set(health.silent_processes()):
            is_background = heartbeats.process_name("worker").startswith(BACKGROUND)
            publish("alerts.tasks.evaluate_alerts", queue=BACKGROUND if is_background else INTERACTIVE)
