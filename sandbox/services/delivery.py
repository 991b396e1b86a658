"""Sends callbacks: it claims their rows and sends several at once, so that a slow answer delays no other transaction.

Callbacks about one transaction are sent one after another, in the order of their due times.
"""

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import requests
from django.conf import settings
from django.db import connection, transaction as database
from django.db.models import Min
from django.utils import timezone

from sandbox.models import Account, Attempt, Delivery
from sandbox.scenarios import Content
from sandbox.services import callbacks, scheduler

logger = logging.getLogger(__name__)

AT_ONCE = 8
_pool = ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="callback")


def release_all() -> None:
    """After a restart, make deliveries due again that were in flight when the process ended."""
    Delivery.objects.filter(in_flight=True).update(in_flight=False)


def send_due() -> datetime | None:
    """Give every due delivery to the pool; returns when the next one is due."""
    busy = Delivery.objects.filter(in_flight=True).values("ref_id")
    waiting = Delivery.objects.filter(next_attempt_at__isnull=False, in_flight=False).exclude(ref_id__in=busy)
    with database.atomic():
        due = waiting.filter(next_attempt_at__lte=timezone.now()).order_by("next_attempt_at", "pk")
        first: dict[str, int] = {}
        for pk, ref_id in due.select_for_update(skip_locked=True).values_list("pk", "ref_id")[:100]:
            first.setdefault(ref_id, pk)
        claimed = list(first.values())
        Delivery.objects.filter(pk__in=claimed).update(in_flight=True)
    for pk in claimed:
        _pool.submit(_work, pk)
    due_next: datetime | None = waiting.aggregate(next=Min("next_attempt_at"))["next"]
    return due_next


def _work(pk: int) -> None:
    try:
        _attempt(pk)
    except Exception:
        # no caller sees what this thread raises: log it here, and make the row due again soon
        logger.exception("callback delivery %s failed inside the sandbox", pk)
        again_at = timezone.now() + timedelta(seconds=5)
        Delivery.objects.filter(pk=pk).update(in_flight=False, next_attempt_at=again_at)
        scheduler.wake()
    finally:
        connection.close()


def _attempt(pk: int) -> None:
    """Send a claimed delivery once, store the result, and plan the next attempt on the schedule."""
    account = Account.objects.get(pk=1)
    delivery = Delivery.objects.filter(pk=pk).first()
    if delivery is None:  # a reset came first
        return
    tried = Attempt(delivery=delivery, at=timezone.now(), url=account.callback_url)
    headers = {
        "Content-Type": "application/json",
        "X-Event": delivery.event,
        "X-Delivery-Id": str(delivery.delivery_id),
        "User-Agent": "sandbox-callback/1",
    }
    if signature := callbacks.signature(account, delivery):
        headers["X-Signature"] = signature
    connection.close()
    started = time.monotonic()
    tried.http_status, tried.error = _post(account.callback_url, delivery.body.encode(), headers)
    tried.milliseconds = round((time.monotonic() - started) * 1000)
    _conclude(delivery, tried)


def _post(url: str, body: bytes, headers: dict[str, str]) -> tuple[int | None, str]:
    """The HTTP status of the answer; None and the reason if no answer came in time."""
    if not url.startswith(("http://", "https://")):
        return None, "the callback URL is not an http(s) address"
    timeout = settings.SANDBOX_CALLBACK_TIMEOUT
    try:
        with requests.Session() as session:
            session.trust_env = False
            with session.post(
                url, data=body, headers=headers, timeout=(timeout, timeout), allow_redirects=False, stream=True
            ) as response:
                return response.status_code, ""
    except (requests.RequestException, ValueError) as fault:
        return None, f"{type(fault).__name__}: {fault}"[:300]


@database.atomic
def _conclude(delivery: Delivery, tried: Attempt) -> None:
    row = Delivery.objects.select_for_update().filter(pk=delivery.pk).first()
    if row is None:
        return
    tried.save()
    row.in_flight = False
    row.tries += 1
    schedule = settings.SANDBOX_CALLBACK_SCHEDULE
    if tried.http_status is not None and 200 <= tried.http_status < 300:
        row.delivered_at, row.next_attempt_at = timezone.now(), None
    elif row.content != Content.FORGED.value and row.tries <= len(schedule):
        row.next_attempt_at = timezone.now() + timedelta(seconds=schedule[row.tries - 1])
    else:
        row.next_attempt_at = None
    row.save(update_fields=["in_flight", "tries", "delivered_at", "next_attempt_at"])
    database.on_commit(scheduler.wake)
