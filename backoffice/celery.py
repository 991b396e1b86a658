"""The Celery app and its static schedule.

Two worker processes: one takes what a person waits for, `interactive`, and in turns with it, so that a flood of
callbacks holds nobody up, `receipts`; the other takes `background`, the rest. So staff never wait behind background
work. Messages only save time: whatever is lost, the sweeps find in PostgreSQL what is due.

The pool is threads: the work is waiting for the network, every upstream call has a total deadline, every statement a
timeout, so that no thread can hang; and a killed worker loses only messages.
"""

import os
import time
from typing import Any

from celery import Celery
from celery.signals import beat_init, before_task_publish, heartbeat_sent, worker_init
from django.conf import settings
from kombu import Exchange, Queue

from backoffice.publish import publish

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backoffice.settings")

INTERACTIVE = "interactive"
BACKGROUND = "background"
RECEIPTS = "receipts"

app = Celery("backoffice")
app.conf.update(
    broker_url=settings.REDIS_URL,
    broker_connection_retry_on_startup=True,
    broker_transport_options={
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
    task_queues=[Queue(name, Exchange(name), routing_key=name) for name in (INTERACTIVE, RECEIPTS, BACKGROUND)],
    task_default_queue=BACKGROUND,
    task_routes={
        "purchases.tasks.submit_order": INTERACTIVE,
        "purchases.tasks.check_order_now": INTERACTIVE,
        "bills.tasks.ask_now": INTERACTIVE,
        "callbacks.tasks.process_receipt": RECEIPTS,
    },
    task_create_missing_queues=False,
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
    beat_max_loop_interval=1,
    beat_schedule={
        # Twice a second: the rate budget lets at most two requests a second through, and an idle sweep is one cheap
        # query.
        "sweep-orders": {
            "task": "purchases.tasks.sweep_orders",
            "schedule": 0.5,
            "options": {"expires": 2},
        },
        "sweep-bill-checks": {
            "task": "bills.tasks.sweep_checks",
            "schedule": 0.5,
            "options": {"expires": 2},
        },
        "sweep-receipts": {
            "task": "callbacks.tasks.sweep_receipts",
            "schedule": 5.0,
            "options": {"expires": 10},
        },
        "sync-catalogue": {
            "task": "purchases.tasks.sync_catalogue",
            "schedule": 600.0,
            "options": {"expires": 300},
        },
        "read-balance": {
            "task": "balance.tasks.read_balance",
            "schedule": 60.0,
            "options": {"expires": 60},
        },
        "reconcile-books": {
            "task": "purchases.tasks.reconcile_books",
            "schedule": 30.0,
            "options": {"expires": 30},
        },
        "evaluate-alerts": {
            "task": "balance.tasks.evaluate_alerts",
            "schedule": 20.0,
            "options": {"expires": 20},
        },
    },
)
app.autodiscover_tasks()

# --- Signs of life, read by /readyz ---------------------------------------------------------------------------

_noted: dict[str, float] = {}
_process: dict[str, str] = {}


def _note_life(name: str) -> None:
    """Write a sign of life of `name`, every two seconds at most; a Redis that is away is not our fault to report."""
    from backoffice import health

    now = time.monotonic()
    if now - _noted.get(name, -10.0) >= 2:
        _noted[name] = now
        health.note_life(name)


@worker_init.connect
def _name_worker(sender: Any, **_: Any) -> None:
    _process["name"] = str(sender.hostname).partition("@")[0]


@heartbeat_sent.connect
def _note_worker(**_: Any) -> None:
    _note_life(_process.get("name", "worker"))
    _watch_others()


def _watch_others() -> None:
    """With beat or `background` silent nobody would evaluate the alert that says so: the other worker does it then."""
    from backoffice import health

    now = time.monotonic()
    if now - _noted.setdefault("watch", now) >= 20:
        _noted["watch"] = now
        if {"beat", "background"} & set(health.silent_processes()):
            queue = BACKGROUND if _process.get("name") == BACKGROUND else INTERACTIVE
            publish(app.tasks["balance.tasks.evaluate_alerts"], queue=queue)


@beat_init.connect
def _note_beat(**_: Any) -> None:
    before_task_publish.connect(lambda **_: _note_life("beat"), weak=False)
    # The schedule's first minute would pass without a known balance.
    publish(app.tasks["balance.tasks.read_balance"])
