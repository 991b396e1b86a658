"""Keep what reconciliation knows of each order that was sent. Call it inside the transaction that changes the order."""

from __future__ import annotations

import datetime as dt

from django.db.models import Q

from balance.models import Reading, Spending
from balance.services.account import present_moment, record_reading
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
        spending.amount = amount
    # While an earlier sending is in doubt it counts with that one's price: it may have explained a reading already.
    spending.is_parked = False
    spending.save()


def note_not_charged(*, ref_id: str, sent_at: dt.datetime | None) -> None:
    """The sending of `sent_at` was certainly not charged; an earlier one that is in doubt still may have been."""
    if sent_at is None:
        return
    Spending.objects.filter(ref_id=ref_id, charged__isnull=True, sent_at=sent_at).update(
        charged=False, known_at=present_moment()
    )


def note_parked(*, ref_id: str) -> None:
    """The order seems never to have arrived, or to be forgotten; it waits for a person, and nobody waits for it."""
    Spending.objects.filter(ref_id=ref_id).update(is_parked=True)


def note_charged(*, ref_id: str, order_kind: str, amount: int, sent_at: dt.datetime | None) -> None:
    """The upstream has reported the order, charged with `amount` rupiah."""
    now = present_moment()
    Spending.objects.get_or_create(
        ref_id=ref_id, defaults={"order_kind": order_kind, "amount": amount, "sent_at": sent_at or now}
    )
    Spending.objects.filter(Q(charged__isnull=True) | Q(charged=False), ref_id=ref_id).update(
        charged=True, known_at=now, amount=amount, is_parked=False
    )


def note_seen_pending(*, ref_id: str, asked_at: dt.datetime) -> None:
    """The upstream said "pending" when asked at `asked_at`: it had not refunded the order before."""
    Spending.objects.filter(
        Q(pending_seen_at__isnull=True) | Q(pending_seen_at__lt=asked_at), ref_id=ref_id, is_final=False
    ).update(pending_seen_at=asked_at, is_parked=False)


def note_ended(*, ref_id: str, refunded: bool) -> None:
    """The upstream has reported the end of a charged order: `success`, or `failed` and so refunded."""
    Spending.objects.filter(ref_id=ref_id, is_final=False).update(
        refunded=refunded, refund_known_at=present_moment(), is_final=True, is_parked=False
    )


def note_never_charged(*, ref_id: str) -> None:
    """The order has ended and was not charged, as far as anybody says."""
    Spending.objects.filter(ref_id=ref_id, is_final=False).update(
        charged=False, known_at=present_moment(), is_final=True, is_parked=False
    )


def record_sending_reading(
    *, answer: Answer[Transaction], claimed_at: dt.datetime | None, is_ours: bool = True
) -> None:
    """Store the balance in the answer to a sending that was claimed at `claimed_at`.

    It is the balance after the operation, unless the operation was an earlier sending's or has been refunded since, or
    is not ours at all: the answer tells of another transaction than the order's.
    """
    ref_id = answer.data.ref_id
    is_first = claimed_at is not None and Spending.objects.filter(ref_id=ref_id, sent_at=claimed_at).exists()
    of_its_time = is_ours and is_first and answer.data.status != "failed"
    source = Reading.Source.ORDER if of_its_time else Reading.Source.PAST
    record_reading(balance=answer.data.balance, source=source, answer=answer, ref_id=ref_id)


def record_status_reading(*, answer: Answer[Transaction], is_ours: bool = True) -> None:
    """Store the balance in the answer to a status request, which may be of the past, and what it says of a refund.

    `is_ours`: it tells of the order's own transaction.
    """
    ref_id = answer.data.ref_id
    record_reading(balance=answer.data.balance, source=Reading.Source.PAST, answer=answer, ref_id=ref_id)
    if is_ours and answer.data.status == "pending":
        note_seen_pending(ref_id=ref_id, asked_at=answer.sent_at)
