"""Sends callbacks, several at once, so that a slow answer delays no other transaction.

Callbacks about one transaction are sent one after another, in the order of their due times.
"""

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import requests
from django.conf import settings
from django.db import connection, transaction as database
from django.db.models import Min, QuerySet
from django.utils import timezone

from sandbox.models import Account, Attempt, Delivery
from sandbox.scenarios import Content
from sandbox.services import callbacks, scheduler

logger = logging.getLogger(__name__)

AT_ONCE = 8
_pool = ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="callback")
# The transactions whose callback the pool has. Only in memory: a fault of the database leaves no callback taken.
_taken: set[str] = set()


def send_due() -> datetime | None:
    """Give every due delivery to the pool; returns when the next one is due."""
    due = _waiting().filter(next_attempt_at__lte=timezone.now()).order_by("next_attempt_at", "pk")
    for pk, ref_id in due.values_list("pk", "ref_id")[:100]:
        if ref_id not in _taken:
            _taken.add(ref_id)
            _pool.submit(_work, pk, ref_id)
    due_next: datetime | None = _waiting().aggregate(next=Min("next_attempt_at"))["next"]
    return due_next


def _waiting() -> QuerySet[Delivery]:
    return Delivery.objects.filter(next_attempt_at__isnull=False).exclude(ref_id__in=[*_taken])


def _work(pk: int, ref_id: str) -> None:
    try:
        _attempt(pk)
    except Exception:
        # no caller sees what this thread raises: log it here, and make the row due again soon
        logger.exception("callback delivery %s failed inside the sandbox", pk)
        Delivery.objects.filter(pk=pk).update(next_attempt_at=timezone.now() + timedelta(seconds=5))
    finally:
        _taken.discard(ref_id)
        connection.close()
        scheduler.wake()


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
    row.tries += 1
    schedule = settings.SANDBOX_CALLBACK_SCHEDULE
    if tried.http_status is not None and 200 <= tried.http_status < 300:
        row.delivered_at, row.next_attempt_at = timezone.now(), None
    elif row.content != Content.FORGED.value and row.tries <= len(schedule):
        row.next_attempt_at = timezone.now() + timedelta(seconds=schedule[row.tries - 1])
    else:
        row.next_attempt_at = None
    row.save(update_fields=["tries", "delivered_at", "next_attempt_at"])
