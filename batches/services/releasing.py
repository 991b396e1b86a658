"""Releases a batch, pauses it, goes on with it, and cancels what is not sent: each under the lock of its row."""

import json
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone
from django.utils.crypto import salted_hmac

from approvals import services as approvals
from approvals.models import Approval
from audit.services import record
from batches.errors import BatchRefused
from batches.events import BATCH_CANCELLED, BATCH_PAUSED, BATCH_RELEASED, BATCH_RESUMED, BATCH_SETTLED
from batches.models import ASKING, WAITING_FOR_A_PERSON, Batch
from batches.services.checking import recheck
from batches.services.restoring import take_lost_orders
from batches.states import BatchState, RowState
from core import clock
from core.errors import Refused
from core.rights import Right
from credit.errors import CreditRefused
from customers.models import Customer
from customers.services import lock_customer
from drawers import services as drawers
from drawers.services import PaymentFacts
from gateway.line import ring_when_committed
from purchases.models import Order
from purchases.services import needs_approval, outside_hours
from purchases.services.limits import allowance_of, name_helpers
from staff.models import User

_SEALED = ("line", "ref_id", "product__code", "destination", "max_price", "selling_price", "is_repeat_meant")
#: The act for two people: `batches.services.acts`.
BATCH = "batch"


def lock_batch(pk: int) -> Batch:
    """The batch, locked until the transaction ends."""
    Batch.objects.select_for_update().only("pk").get(pk=pk)
    # A second query: the query that waited for the lock may not show the people and customer of a release meanwhile.
    return Batch.objects.select_related("released_by", "created_by", "customer").get(pk=pk)


def seal_of(batch: Batch) -> str:
    """The digest of exactly the rows that would be sold: a person sees, releases and approves this digest.

    It is keyed, so that nobody finds a number in it by trying.
    """
    ready = batch.rows.filter(state=RowState.READY).order_by("line")
    text = json.dumps([*ready.values_list(*_SEALED)], separators=(",", ":"))
    return salted_hmac("batches.rows", text, algorithm="sha256").hexdigest()


def key_of(batch: Batch) -> str:
    """The name of the batch with exactly these rows, for commands."""
    return f"{batch.pk}-{seal_of(batch)[:16]}"


def batch_of_key(key: str) -> Batch:
    """The batch that `key_of` names. Raises `BatchRefused` without one, and when its rows have changed since."""
    number, _dash, _seal = key.partition("-")
    batch = Batch.objects.filter(pk=number).first() if number.isascii() and number.isdecimal() else None
    if batch is None:
        raise BatchRefused("unknown_key")
    if not batch.is_released and key_of(batch) != key:
        raise BatchRefused("changed")
    return batch


def content_of(batch: Batch, *, seller: User, payment: PaymentFacts) -> dict[str, Any]:
    """Everything that a second person approves: the digest of the rows, their sums, and how they are paid; rupiah."""
    totals = batch.rows.totals()
    return {
        "batch": batch.pk,
        "name": batch.name,
        "rows": totals["count"],
        "sha256": seal_of(batch),
        "price": totals["cost"],
        "selling_price": totals["pays"],
        "largest": largest_of(batch),
        "placed_by": seller.pk,
        "payment": payment.plain,
    }


def largest_of(batch: Batch) -> int:
    """Rupiah of the dearest row that would be sold."""
    ready = batch.rows.filter(state=RowState.READY)
    return int(ready.aggregate(most=Max("max_price", default=0))["most"])


def release(batch: Batch, *, actor: User | None, seal: str, payment: PaymentFacts, reason: str = "") -> Approval | None:
    """Have the rows of `seal` sold, or ask a second person and return the approval.

    A second person is asked above the actor's limit, and when the actor may not release batches.

    `actor`: the seller; None for a command, which has no limits.

    The rows are checked again: if anything has changed since they were seen, nothing is released. Raises
    `BatchRefused`, `LimitReached`, `OutsideHours`, and the refusal of the payment.
    """
    with transaction.atomic():
        current = lock_batch(batch.pk)
        refuse_unless_open(current)
        recheck(current)
        if current.rows.filter(ASKING).exists():
            refusal = "asking"
        elif seal_of(current) != seal:
            refusal = "changed"
        else:
            return _release(current, actor=actor, payment=payment, reason=reason)
    raise BatchRefused(refusal)  # after the commit, so that the rows keep the result of the check


def _release(batch: Batch, *, actor: User | None, payment: PaymentFacts, reason: str) -> Approval | None:
    totals = batch.rows.totals()
    if not totals["count"]:
        raise BatchRefused("nothing")
    has_bills = batch.rows.filter(state=RowState.READY, kind=Order.Kind.BILL).exists()
    if has_bills and actor and not actor.has_perm(Right.CHECK_BILLS):
        raise BatchRefused("no_bills")
    payment.refuse_unless_clear(totals["pays"])
    lock_debtor(payment)
    if actor is None:
        start(batch, seller=None, payment=payment)
        return None
    if refusal := allowance_of(actor).refusal(totals["cost"], largest=largest_of(batch)):
        raise name_helpers(refusal, actor)
    payment.refuse_unless_sold(totals["pays"], seller=actor)
    shift = drawers.open_shift_of(actor.pk)
    agreed_in = shift.pk if shift else None
    payment.refuse_unless_in(agreed_in)
    # The given cash does not belong to a single order.
    payment = replace(payment, cash_given=None, agreed_in=agreed_in)
    if needs_approval(actor, cost=totals["cost"], price=totals["pays"]) or not may_release(actor):
        content = content_of(batch, seller=actor, payment=payment)
        return approvals.ask(
            BATCH, subject=str(batch.pk), content=content, actor=actor, reason=reason, about=str(batch)
        )
    if closed := outside_hours(actor):
        raise closed
    start(batch, seller=actor, payment=payment)
    return None


def lock_debtor(payment: PaymentFacts) -> None:
    """Lock the customer who will owe it, before the account: nobody merges or erases the customer meanwhile.

    Raises `CreditRefused` if the customer is gone, also from the facts of an approval (`PaymentFacts.of`).
    """
    if payment.customer:
        try:
            lock_customer(payment.customer.pk)
        except Customer.DoesNotExist:
            raise CreditRefused("no_customer") from None
    elif payment.row.needs_debtor:
        raise CreditRefused("no_customer")


def start(batch: Batch, *, seller: User | None, payment: PaymentFacts, approval: Approval | None = None) -> None:
    """Let a locked batch run: its rows are placed from now on, for this seller and with this payment.

    `lock_debtor` has locked the customer.
    """
    batch.state, batch.next_at = BatchState.RUNNING, clock.now()
    batch.method, batch.customer, batch.reference = payment.method, payment.customer, payment.reference
    batch.agreed_in_id, batch.approval = payment.agreed_in, approval
    batch.released_by, batch.released_at = seller, timezone.now()
    batch.save()
    facts = {"rows": batch.rows.filter(state=RowState.READY).count(), "sha256": seal_of(batch)}
    record(BATCH_RELEASED, actor=seller, subject=str(batch.pk), facts=facts)
    ring_when_committed(batch.next_at)


def pause(batch: Batch, *, actor: User) -> None:
    """Place no further rows until somebody resumes it. Raises `BatchRefused`."""
    with transaction.atomic():
        current = lock_batch(batch.pk)
        if current.state != BatchState.RUNNING:
            raise BatchRefused("not_running")
        stop(current)
        record(BATCH_PAUSED, actor=actor, subject=str(current.pk))


def pause_restored() -> None:
    """In a database that was just restored: pause the batches that run, until a person resumes them.

    People may have stopped them after the backup.
    """
    for key in Batch.objects.filter(state=BatchState.RUNNING).order_by("pk").values_list("pk", flat=True):
        with transaction.atomic():
            stop(lock_batch(key), BatchRefused("restored"))


def stop(batch: Batch, why: Refused | None = None) -> None:
    """Pause a locked batch that runs. `why`: the refusal that all further rows would get."""
    batch.state, batch.next_at = BatchState.PAUSED, None
    batch.stopped_by = why.code[:40] if why else ""
    batch.why_stopped = words_for_readers(why, batch) if why else ""
    batch.save(update_fields=["state", "next_at", "stopped_by", "why_stopped"])


def say_what_waits(batch: Batch) -> None:
    """Put a locked batch that runs on the list of work while rows of it wait for a person; the others go on."""
    if batch.state == BatchState.RUNNING and not batch.stopped_by and batch.rows.filter(WAITING_FOR_A_PERSON).exists():
        why = BatchRefused("rows_wait")
        batch.stopped_by, batch.why_stopped = why.code[:40], str(why)
        batch.save(update_fields=["stopped_by", "why_stopped"])


def end(batch: Batch) -> None:
    """End a locked batch unless rows are to be placed or billers are asked; it pauses if rows wait for a person."""
    take_lost_orders(batch)
    if batch.rows.filter(ASKING | Q(state=RowState.READY)).exists():
        return
    if batch.rows.filter(WAITING_FOR_A_PERSON).not_tried_again().exists():
        stop(batch, BatchRefused("rows_wait"))
        return
    batch.state, batch.next_at, batch.ended_at = BatchState.ENDED, None, timezone.now()
    _save_end(batch)


def _save_end(batch: Batch) -> None:
    """Store its end, and whether money that was paid at the release must go back: nothing else records that."""
    batch.stopped_by = batch.why_stopped = ""
    batch.owes_back = batch.is_paid_before and batch.rows.never_ordered()["count"] > 0
    batch.save(update_fields=["state", "next_at", "ended_at", "stopped_by", "why_stopped", "owes_back"])


def words_for_readers(refusal: Refused, batch: Batch) -> str:
    """The refusal's words as the batch keeps them: without costs if the batch's person may not see them."""
    person = batch.created_by or batch.released_by
    return (refusal.words_for(person) if person else str(refusal))[:500]


def resume(batch: Batch, *, actor: User) -> None:
    """Go on with a batch that is paused. Raises `BatchRefused`."""
    with transaction.atomic():
        current = lock_batch(batch.pk)
        if current.state != BatchState.PAUSED:
            raise BatchRefused("running" if current.state == BatchState.RUNNING else "over")
        take_lost_orders(current)
        current.state, current.next_at = BatchState.RUNNING, clock.now()
        current.stopped_by = current.why_stopped = ""
        current.save(update_fields=["state", "next_at", "stopped_by", "why_stopped"])
        record(BATCH_RESUMED, actor=actor, subject=str(current.pk))
        ring_when_committed(current.next_at)


def cancel(batch: Batch, *, actor: User | None, is_released: bool = True) -> int:
    """Cancel all rows that have not become an order; return how many. Raises `BatchRefused`. `actor`: None for beat.

    Placed orders go on: each can be cancelled on its own page while it is queued. Without `is_released`, a released
    batch is refused.
    """
    with transaction.atomic():
        current = lock_batch(batch.pk)
        if current.state in {BatchState.ENDED, BatchState.CANCELLED}:
            raise BatchRefused("over")
        if not is_released:
            refuse_unless_open(current)
        take_lost_orders(current)
        rows = current.rows.filter(state__in=[RowState.READY, RowState.WRONG])
        count = rows.update(state=RowState.CANCELLED)
        current.state, current.next_at, current.ended_at = BatchState.CANCELLED, None, timezone.now()
        _save_end(current)
        record(BATCH_CANCELLED, actor=actor, subject=str(current.pk), facts={"rows": count})
    return count


def settle(batch: Batch, *, actor: User) -> None:
    """Note that the money of unsold rows went back, or that these rows were sold in another way.

    The drawer's count stays, because a drawer counts only orders. Raises `BatchRefused` when nothing is owed.
    """
    with transaction.atomic():
        current = lock_batch(batch.pk)
        if not current.owes_back:
            raise BatchRefused("nothing_owed")
        current.owes_back, current.settled_at, current.settled_by = False, timezone.now(), actor
        current.save(update_fields=["owes_back", "settled_at", "settled_by"])
        owed = current.rows.never_ordered()
        facts = {"rows": owed["count"], "amount": owed["pays"]}
        record(BATCH_SETTLED, actor=actor, subject=str(current.pk), facts=facts)


def may_release(*people: User | None) -> bool:
    """Whether any of these people may release batches: the seller, or the approver."""
    return any(person.has_perm(Right.RELEASE_BATCHES) for person in people if person)


def refuse_unless_open(batch: Batch) -> None:
    """Raise `BatchRefused` unless its rows may still change: nobody has released or cancelled it."""
    if batch.state == BatchState.CANCELLED:
        raise BatchRefused("over")
    if batch.state != BatchState.CHECKED:
        raise BatchRefused("released")
