"""The final state of a transaction, and with it refund and callbacks. `success` and `failed` are final."""

import random
from datetime import datetime
from typing import Literal

from django.db import transaction as database
from django.db.models import Min
from django.utils import timezone

from sandbox import callbacks
from sandbox.api.envelope import ApiError
from sandbox.engine.bills import PAY, PayFields, pay
from sandbox.engine.ledger import lock_account, move
from sandbox.engine.purchases import CREATE, PurchaseFields, planned_callbacks, purchase
from sandbox.engine.scripted import sped
from sandbox.models import LateArrival, MutationKind, Transaction

TOKEN_PREFIX = "PLN"  # noqa: S105 - electricity tokens, not secrets


def serial_number(product_code: str, kind: str) -> str:
    """A reference number as the provider would give it: 20 digits for an electricity token."""
    digits = 20 if kind == "purchase" and product_code.startswith(TOKEN_PREFIX) else 16
    return "".join(random.choices("0123456789", k=digits))  # noqa: S311


@database.atomic
def settle(ref_id: str, status: Literal["success", "failed"], *, sn: str | None = None) -> bool:
    """Bring a pending transaction to its final state; False, and nothing done, if it is final or unknown.

    A failed one is refunded in the same database transaction (document, Transaction status). Callbacks are queued as
    the transaction's scenario plans them.
    """
    account = lock_account()
    transaction = Transaction.objects.select_for_update().filter(ref_id=ref_id, status="pending").first()
    if transaction is None:
        return False
    transaction.status = status
    transaction.settled_at = now = timezone.now()
    transaction.settle_at = None
    if status == "success":
        transaction.sn = sn or serial_number(transaction.product_code, transaction.kind)
        transaction.message = "The transaction was successful."
    else:
        refund = move(account, MutationKind.REFUND, transaction.price, ref_id=ref_id, note=transaction.product_name)
        transaction.balance = refund.balance_after
        transaction.message = "The transaction failed; the balance was refunded."
    transaction.save(update_fields=["status", "sn", "message", "balance", "settle_at", "settled_at"])
    for planned in planned_callbacks(transaction):
        if not planned.early:
            callbacks.queue(transaction, planned.content, due_at=now + sped(planned.after))
    return True


def settle_due() -> datetime | None:
    """Settle every transaction whose time has come; returns the next one's."""
    waiting = Transaction.objects.filter(status="pending", settle_at__isnull=False)
    for ref_id, outcome in waiting.filter(settle_at__lte=timezone.now()).values_list("ref_id", "outcome"):
        settle(ref_id, "success" if outcome == "success" else "failed")
    due: datetime | None = waiting.aggregate(next=Min("settle_at"))["next"]
    return due


def arrive_due() -> datetime | None:
    """Let the requests arrive that were on their way; returns the next one's moment."""
    waiting = LateArrival.objects.filter(due_at__isnull=False)
    for late in waiting.filter(due_at__lte=timezone.now()):
        late.result = _arrive(late)
        late.due_at = None
        late.save(update_fields=["result", "due_at"])
    due: datetime | None = waiting.aggregate(next=Min("due_at"))["next"]
    return due


def _arrive(late: LateArrival) -> str:
    try:
        if late.endpoint == CREATE:
            purchase(PurchaseFields(**late.fields))
        elif late.endpoint == PAY:
            pay(PayFields(**late.fields))
        else:
            return "unknown endpoint"
    except ApiError as refusal:
        return refusal.error_code
    return "accepted"
