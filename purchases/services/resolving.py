"""A person's steps on an order: cancel, send again, poll now, close, note that the customer has the money back."""

from django.db import transaction
from django.utils.translation import gettext as _

from drawers import services as drawers
from gateway import line
from gateway.line import Work
from gateway.polling import HEAD_START_SECONDS, in_seconds
from gateway.services import may_be_lost
from purchases.errors import ActionRefused, NotForSale, PriceMoved
from purchases.models import Order, OrderEvent
from purchases.services.actions import Action, is_above_limit, not_possible, require
from purchases.services.decisions import Decision, apply_verdict
from purchases.services.limits import refuse_beyond_limits
from purchases.services.moving import lock_order_for_move
from purchases.services.placing import refuse_below_cost
from purchases.services.polling import Found, poll
from purchases.services.sweeping import POLL_BY_HAND, SUBMIT
from purchases.states import ActionReason, Status
from staff.models import User
from upstream.budget import CallClass

_STAFF = OrderEvent.Source.STAFF


def cancel_order(order: Order, *, actor: User, note: str = "") -> Order:
    """Cancel an order that has certainly not been charged. Raises `ActionRefused` otherwise.

    An order that was sent and seems never to have arrived is not cancelled but closed (`close_never_arrived`).
    """
    if may_be_lost(order.sent_at or order.created_at):
        poll_before_deciding(order)
    with transaction.atomic():
        current = lock_order_for_move(order.pk)
        require(Action.CANCEL, current, actor)
        return apply_verdict(current.pk, Decision(status=Status.CANCELLED, source=_STAFF, actor=actor, note=note))


def send_again(order: Order, *, actor: User, max_price: int | None = None, reason: str = "") -> Order:
    """Put a purchase that needs action back in the queue, with the SAME ref_id.

    `max_price`: whole rupiah, newly confirmed; needed when the catalogue's price is above the one confirmed before.
    `reason`: why it is sold below cost then. Raises `ActionRefused`, `PriceMoved`, and the errors of `requeue`.
    """
    poll_before_deciding(order)
    with transaction.atomic():
        current = lock_order_for_move(order.pk)
        if not current.product.is_listed:
            raise NotForSale("delisted")
        price = current.product.price
        has_risen = price > current.max_price
        require(Action.CONFIRM_PRICE if has_risen else Action.SEND_AGAIN, current, actor)
        if price > (max_price or current.max_price) or (max_price is not None and price != max_price):
            raise PriceMoved(price)
        return requeue(current, max_price=max_price or current.max_price, actor=actor, reason=reason)


def requeue(order: Order, *, max_price: int, actor: User | None, reason: str = "", enqueue: bool = True) -> Order:
    """Put a locked order that needs action back in the queue, for at most `max_price` rupiah.

    The event keeps a newly confirmed price and the one before. The selling price of a bill, and of an order at cost,
    moves by as much, and its payment with it. Raises
    - `OverCap`: it is on credit, and beyond the customer's cap;
    - `LimitReached`: it is beyond what the actor may spend;
    - `ActionRefused`: a higher price needs a second person;
    - `BelowCost`: a higher price is above what the customer pays, and the actor may not sell so or gives no `reason`.
    """
    loses = max_price > order.max_price and order.sells_below(max_price)
    if loses:
        refuse_below_cost(actor, reason)
    moves_with_it = order.selling_price is not None and order.follows_cost
    selling_price = order.customer_pays_at(max_price) if moves_with_it else None
    if selling_price is not None and selling_price != order.selling_price:
        drawers.follow_price(order.payment_id, selling_price, actor=actor)  # before anything else is locked
    refuse_beyond_limits(actor, max_price, key=order.idempotency_key)
    is_new = max_price != order.max_price
    if is_above_limit(order, max_price, actor):
        raise ActionRefused(
            _("The new price needs the approval of a second person. Cancel this order, and place it again.")
        )
    confirmed = {"code": "price_confirmed", "before": order.max_price, "after": max_price} if is_new else {}
    queued = Decision(
        status=Status.QUEUED,
        source=_STAFF,
        actor=actor,
        max_price=max_price,
        selling_price=selling_price,
        note=reason.strip() if loses else "",
        facts=confirmed,
        wait=HEAD_START_SECONDS,
    )
    moved = apply_verdict(order.pk, queued)
    if enqueue:
        person_id = actor.pk if actor else moved.placed_by_id
        transaction.on_commit(lambda: line.join(Work(SUBMIT, moved.pk), person_id=person_id) and None)
    return moved


def close_never_arrived(order: Order, *, actor: User, note: str = "") -> Order:
    """Close an order that never arrived at the upstream. Raises `ActionRefused` in any other state.

    The upstream is polled first. If it reports the order later, that becomes an incident.
    """
    poll_before_deciding(order)
    with transaction.atomic():
        current = lock_order_for_move(order.pk)
        require(Action.CLOSE, current, actor)
        closed = Decision(status=Status.CLOSED, source=_STAFF, actor=actor, error_code=current.error_code, note=note)
        return apply_verdict(current.pk, closed)


def poll_now(order: Order, *, actor: User) -> bool:
    """Ask for the status at once, before anything in the background; False without Redis: then it falls due soon.

    The next poll stays due when it was. Raises `ActionRefused` when there is nothing to poll.
    """
    order.refresh_from_db()
    require(Action.POLL, order, actor)
    if line.join(Work(POLL_BY_HAND, order.pk), person_id=actor.pk):
        return True
    soon = in_seconds(HEAD_START_SECONDS)
    Order.objects.polled().filter(pk=order.pk, next_poll_at__gt=soon).update(next_poll_at=soon)
    return False


def note_given_back(order: Order, *, actor: User, note: str) -> None:
    """Note that the customer of a reversed order has the money back, and how. Raises `ActionRefused`.

    It also raises the errors of `drawers.services.note_given_back`, such as credit while the customer owes the order.
    """
    if not note.strip():
        raise ActionRefused(_("Write how the customer got the money back."))
    with transaction.atomic():
        current = lock_order_for_move(order.pk)
        require(Action.GIVE_BACK, current, actor)
        drawers.note_given_back(current.payment, actor=actor, note=note)


def poll_before_deciding(order: Order) -> None:
    """Poll the upstream again before a person decides about an order that may have arrived.

    One that seems never to have arrived may have arrived late; one from before a restore may have been sent in the
    time that was lost. Every other order is not polled. Call it outside any transaction. Raises `ActionRefused` unless
    the answer is "not found".
    """
    is_lost = may_be_lost(order.sent_at or order.created_at)
    if order.action_reason != ActionReason.NEVER_ARRIVED and not is_lost:
        return
    result = poll(order.pk, call_class=CallClass.INTERACTIVE, is_any=is_lost, by_hand=True)
    if result == Found.REPORTED:
        order.refresh_from_db()
        raise not_possible(order)
    if result in {Found.NO_ANSWER, Found.NOT_ASKED}:
        raise ActionRefused(_("The provider cannot be asked at the moment, so nothing was decided. Try again later."))
