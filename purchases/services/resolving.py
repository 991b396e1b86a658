"""What a person does about an order: cancel, send again, ask now, close."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from backoffice.publish import publish
from purchases.errors import NotForSale, NotPossible, PriceMoved
from purchases.models import Incident, Order, OrderEvent
from purchases.order_life import HoldReason, Status
from purchases.services import timing
from purchases.services.checking import Found, check
from purchases.services.outcome import Outcome, apply_outcome
from upstream.budget import CallClass

if TYPE_CHECKING:
    from staff.models import User


def cancel_order(order: Order, *, actor: User, note: str = "") -> Order:
    """Cancel an order that has certainly not been charged: queued, or held. Raises `NotPossible` otherwise.

    An order that was sent and seems never to have arrived is not cancelled but closed (`close_never_arrived`).
    """
    with transaction.atomic():
        current = Order.objects.select_for_update().get(pk=order.pk)
        never_arrived = current.hold_reason == HoldReason.NEVER_ARRIVED
        if current.status not in {Status.QUEUED, Status.HELD} or never_arrived or current.was_in_doubt:
            raise _not_possible(current)
        return apply_outcome(
            current.pk, Outcome(status=Status.CANCELLED, note=note), source=OrderEvent.Source.STAFF, actor=actor
        )


def send_again(order: Order, *, actor: User, max_price: int | None = None) -> Order:
    """Queue a held purchase again, with the SAME ref_id. Raises `NotPossible`, `NotForSale` or `PriceMoved`.

    `max_price`: whole rupiah, newly confirmed; needed when the catalogue's price is above the one confirmed before.
    """
    ask_before_deciding(order)
    with transaction.atomic():
        current = Order.objects.select_for_update().select_related("product").get(pk=order.pk)
        if current.status != Status.HELD or current.kind != Order.Kind.PURCHASE:
            raise _not_possible(current)
        if not current.product.is_listed:
            raise NotForSale("vanished")
        confirmed = current.max_price if max_price is None else max_price
        if current.product.price > confirmed or (max_price is not None and current.product.price != max_price):
            raise PriceMoved(current.product.price)
        return requeue(current, max_price=confirmed, actor=actor)


def requeue(held: Order, *, max_price: int, actor: User | None, enqueue: bool = True) -> Order:
    """Queue a held order again, paying at most `max_price` rupiah; call it with the order's row locked and checked."""
    if max_price != held.max_price:
        held.max_price = max_price
        held.save(update_fields=["max_price"])
    moved = apply_outcome(
        held.pk,
        Outcome(status=Status.QUEUED, wait=timing.HEAD_START_SECONDS),
        source=OrderEvent.Source.STAFF,
        actor=actor,
    )
    if enqueue:
        transaction.on_commit(lambda: _enqueue_submit(moved.pk))
    return moved


def close_never_arrived(order: Order, *, actor: User, note: str = "") -> Order:
    """Close as failed an order that never arrived at the upstream. Raises `NotPossible` in any other state.

    The upstream is asked once more first. Should it report the order later all the same, that becomes an incident.
    """
    ask_before_deciding(order)
    with transaction.atomic():
        current = Order.objects.select_for_update().get(pk=order.pk)
        if current.status != Status.HELD or current.hold_reason != HoldReason.NEVER_ARRIVED:
            raise _not_possible(current)
        return apply_outcome(
            current.pk,
            Outcome(status=Status.FAILED, error_code=current.error_code, note=note or "closed: it never arrived"),
            source=OrderEvent.Source.STAFF,
            actor=actor,
        )


def check_now(order: Order, *, actor: User) -> bool:  # noqa: ARG001
    """Ask for the status at once, before anything in the background; False when the broker is down (the sweep asks
    then).

    Raises `NotPossible` when there is nothing to ask about.
    """
    from purchases import tasks

    if not Order.objects.asked_about().filter(pk=order.pk).update(next_check_at=timezone.now()):
        order.refresh_from_db()
        raise _not_possible(order)
    return publish(tasks.check_order_now, order.pk)


def close_incident(incident: Incident, *, actor: User, note: str) -> None:
    """Mark an incident as looked into, by whom and with which finding. Raises `NotPossible` if it was closed before."""
    closed = Incident.objects.filter(pk=incident.pk, closed_at__isnull=True).update(
        closed_at=timezone.now(), closed_by=actor, closing_note=note[:500]
    )
    if not closed:
        raise NotPossible(_("This incident was closed before."))


def ask_before_deciding(order: Order) -> None:
    """Ask the upstream once more before a person decides about an order that seems never to have arrived.

    It may have arrived late. Call it outside any transaction. Raises `NotPossible` unless the answer is "not found".
    """
    if order.hold_reason != HoldReason.NEVER_ARRIVED:
        return
    found = check(order.pk, call_class=CallClass.INTERACTIVE)
    if found == Found.REPORTED:
        order.refresh_from_db()
        raise _not_possible(order)
    if found == Found.NO_ANSWER:
        raise NotPossible(_("The upstream cannot be asked at the moment, so nothing was decided. Try again later."))


def _not_possible(order: Order) -> NotPossible:
    return NotPossible(
        _("Not possible: the order is now “%(status)s”.") % {"status": Status(order.status).label.lower()}
    )


def _enqueue_submit(order_id: int) -> None:
    from purchases import tasks

    publish(tasks.submit_order, order_id)
