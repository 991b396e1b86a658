"""Gives a transaction its final state, with refund and callbacks. `success` and `failed` are final."""

import logging
import random
from collections.abc import Callable
from datetime import datetime

from django.db import transaction as database
from django.db.models import Min
from django.utils import timezone

from sandbox.errors import ApiError, NotPossible
from sandbox.models import LateArrival, MutationKind, Transaction
from sandbox.scenarios import SCENARIOS, Serial
from sandbox.services import callbacks
from sandbox.services.account import lock_account, move
from sandbox.services.bills import PAY, pay
from sandbox.services.purchases import CREATE, purchase

logger = logging.getLogger(__name__)

ARRIVING: dict[str, Callable[..., object]] = {CREATE: purchase, PAY: pay}
SAME_SERIAL = "2600" * 5
TOKEN_PREFIX = "PLN"  # noqa: S105 - electricity tokens, not secrets


@database.atomic
def settle(ref_id: str, status: str, *, sn: str | None = None) -> None:
    """Set a pending transaction to `success` or `failed`. Raises NotPossible for another status, or if none is pending.

    A failed transaction is refunded in the same database transaction (document, Transaction status). The callbacks that
    its scenario plans are queued.
    """
    if status not in ("success", "failed"):
        raise NotPossible("a transaction ends in success or failed")
    account = lock_account()
    transaction = Transaction.objects.select_for_update().filter(ref_id=ref_id, status="pending").first()
    if transaction is None:
        raise NotPossible("nothing with this ref_id is pending")
    transaction.status = status
    transaction.settled_at = timezone.now()
    transaction.settle_at = None
    if status == "success":
        transaction.sn = sn or _serial_number(transaction)
        transaction.message = "The transaction was successful."
    else:
        refund = move(account, MutationKind.REFUND, transaction.price, ref_id=ref_id, note=transaction.product_name)
        transaction.balance = refund.balance_after
        transaction.message = "The transaction failed; the balance was refunded."
    transaction.save(update_fields=["status", "sn", "message", "balance", "settle_at", "settled_at"])
    callbacks.queue_planned(transaction, early=False)


def _serial_number(transaction: Transaction) -> str:
    """A serial number as a provider gives it: 20 digits for an electricity token, else 16."""
    serial = SCENARIOS[transaction.scenario].serial if transaction.scenario else Serial.OWN
    if serial is Serial.SAME:
        return SAME_SERIAL
    is_token = transaction.kind == "purchase" and transaction.product_code.startswith(TOKEN_PREFIX)
    is_token = is_token and serial is not Serial.NO_TOKEN
    return "".join(random.choices("0123456789", k=20 if is_token else 16))  # noqa: S311


def settle_due() -> datetime | None:
    """Settle every transaction that is due; returns when the next one is due."""
    waiting = Transaction.objects.filter(status="pending", settle_at__isnull=False)
    for ref_id, number in waiting.filter(settle_at__lte=timezone.now()).values_list("ref_id", "scenario"):
        try:
            settle(ref_id, SCENARIOS[number].outcome if number else "success")
        except NotPossible:
            logger.info("%s was settled by a person first", ref_id)
    due: datetime | None = waiting.aggregate(next=Min("settle_at"))["next"]
    return due


def arrive_due() -> datetime | None:
    """Serve the late requests that are due; returns when the next one is due."""
    for late in LateArrival.objects.filter(due_at__lte=timezone.now()):
        try:
            ARRIVING[late.endpoint](**late.fields)
        except ApiError as refusal:
            logger.info("the late request %s is refused: %s", late.ref_id, refusal)
        late.delete()
    due: datetime | None = LateArrival.objects.aggregate(next=Min("due_at"))["next"]
    return due
