"""Keep what reconciliation knows of each order that was sent. Call it inside the transaction that changes the order."""

from __future__ import annotations

import datetime as dt

from django.db.models import Q
from django.utils import timezone

from balance.models import Reading, Spending
from upstream.client import Answer
from upstream.messages import Transaction


def note_sent(*, ref_id: str, order_kind: str, amount: int, at: dt.datetime) -> None:
    """The order is about to be sent and may be charged `amount` rupiah from now on, or since an earlier doubt."""
    spending, is_new = Spending.objects.get_or_create(
        ref_id=ref_id, defaults={"order_kind": order_kind, "amount": amount, "sent_at": at}
    )
    if is_new:
        return
    if spending.charged is False:
        # The earlier sendings have certainly not been charged.
        spending.sent_at, spending.charged, spending.known_at = at, None, None
        spending.settled_at = None
    if spending.charged is None:
        spending.amount = amount
    spending.is_parked = False
    spending.save()


def note_not_charged(*, ref_id: str, sent_at: dt.datetime | None) -> None:
    """The sending of `sent_at` was certainly not charged; an earlier one that is in doubt still may have been."""
    if sent_at is None:
        return
    Spending.objects.filter(ref_id=ref_id, charged__isnull=True, sent_at=sent_at).update(
        charged=False, known_at=timezone.now()
    )


def note_parked(*, ref_id: str) -> None:
    """The order seems never to have arrived and waits for a person."""
    Spending.objects.filter(ref_id=ref_id).update(is_parked=True)


def note_charged(*, ref_id: str, order_kind: str, amount: int, sent_at: dt.datetime | None) -> None:
    """The upstream has reported the order, charged with `amount` rupiah."""
    now = timezone.now()
    Spending.objects.get_or_create(
        ref_id=ref_id, defaults={"order_kind": order_kind, "amount": amount, "sent_at": sent_at or now}
    )
    Spending.objects.filter(Q(charged__isnull=True) | Q(charged=False), ref_id=ref_id).update(
        charged=True, known_at=now, amount=amount, is_parked=False, settled_at=None
    )


def note_seen_pending(*, ref_id: str, asked_at: dt.datetime) -> None:
    """The upstream said "pending" when asked at `asked_at`: it had not refunded the order before."""
    Spending.objects.filter(
        Q(pending_seen_at__isnull=True) | Q(pending_seen_at__lt=asked_at), ref_id=ref_id, is_final=False
    ).update(pending_seen_at=asked_at)


def note_ended(*, ref_id: str, refunded: bool) -> None:
    """The upstream has reported the end of a charged order: `success`, or `failed` and so refunded."""
    Spending.objects.filter(ref_id=ref_id, is_final=False).update(
        refunded=refunded, refund_known_at=timezone.now(), is_final=True, is_parked=False
    )


def note_never_charged(*, ref_id: str) -> None:
    """The order has ended and was not charged, as far as anybody says."""
    Spending.objects.filter(ref_id=ref_id, is_final=False).update(
        charged=False, known_at=timezone.now(), is_final=True, is_parked=False
    )


def record_sending_reading(*, answer: Answer[Transaction], claimed_at: dt.datetime | None) -> None:
    """Store the balance in the answer to a sending that was claimed at `claimed_at`.

    It is the balance after the operation, unless the operation was an earlier sending's or has been refunded since.
    """
    ref_id = answer.data.ref_id
    is_first = claimed_at is not None and Spending.objects.filter(ref_id=ref_id, sent_at=claimed_at).exists()
    of_its_time = is_first and answer.data.status != "failed"
    Reading.objects.create(
        balance=answer.data.balance,
        source=Reading.Source.ORDER if of_its_time else Reading.Source.PAST,
        ref_id=ref_id,
        sent_at=answer.sent_at,
        received_at=answer.received_at,
    )


def record_status_reading(*, answer: Answer[Transaction]) -> None:
    """Store the balance in the answer to a status request, which may be of the past, and what it says of a refund."""
    Reading.objects.create(
        balance=answer.data.balance,
        source=Reading.Source.PAST,
        ref_id=answer.data.ref_id,
        sent_at=answer.sent_at,
        received_at=answer.received_at,
    )
    if answer.data.status == "pending":
        note_seen_pending(ref_id=answer.data.ref_id, asked_at=answer.sent_at)
