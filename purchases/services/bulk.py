"""Acts on many orders at once. Each order is judged separately, by the rules of one order.

Nothing here calls the upstream: an order that may have arrived is decided on its own page, where the person waits.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db import models, transaction
from django.utils.translation import gettext as _, gettext_lazy

from core import clock
from core.errors import Refused
from core.rights import Right
from gateway.line import ring_when_committed
from gateway.services import may_be_lost
from purchases.errors import ActionRefused, PriceMoved
from purchases.models import Order
from purchases.services.actions import Action, may_ever, require
from purchases.services.moving import lock_order_for_move
from purchases.services.resolving import send_again
from purchases.states import ActionReason, Status
from staff.models import User

MOST_AT_ONCE = 100


class Bulk(models.TextChoices):
    """An act on several orders."""

    TAG = "tag", gettext_lazy("Add the tag")
    FILE = "file", "CSV"
    PRINT = "print", gettext_lazy("Print the receipts")
    POLL = "poll", gettext_lazy("Check the status")
    RELEASE = "release", gettext_lazy("Send again")

    @property
    def changes_orders(self) -> bool:
        """Whether it changes an order, or spends: the page keeps these acts apart."""
        return self in {Bulk.TAG, Bulk.RELEASE}


def bulk_acts_of(person: User) -> list[Bulk]:
    """The acts that this person may do with some order. A file holds costs."""
    allowed = {
        Bulk.TAG: person.has_perm(Right.NOTE_ORDERS),
        Bulk.FILE: person.has_perm(Right.VIEW_COST),
        Bulk.PRINT: may_ever(Action.PRINT_RECEIPT, person),
        Bulk.POLL: may_ever(Action.POLL, person),
        Bulk.RELEASE: person.has_perm(Right.RESOLVE_ORDERS),
    }
    return [act for act in Bulk if allowed[act]]


@dataclass(frozen=True)
class Result:
    """The result for one order; `refusal` is empty after a success."""

    order: Order
    refusal: str = ""


def each(orders: Iterable[Order], act: Callable[[Order], object], *, actor: User) -> list[Result]:
    """Do `act` to each order; a refusal of one does not stop the others."""
    results = []
    for order in orders:
        try:
            act(order)
        except Refused as refused:
            results.append(Result(order, refused.words_for(actor)))
        else:
            results.append(Result(order))
    return results


def poll_soon(order: Order, *, actor: User) -> None:
    """Have the background poll the order next, inside its part of the rate limit. Raises `ActionRefused`."""
    with transaction.atomic():
        current = lock_order_for_move(order.pk)
        if current.status == Status.NEEDS_ACTION and current.action_reason != ActionReason.NEVER_ARRIVED:
            raise _nothing_to_poll(current)
        require(Action.POLL, current, actor)
        due = clock.now()
        Order.objects.filter(pk=current.pk).update(next_poll_at=due)
        ring_when_committed(due)


def _nothing_to_poll(order: Order) -> ActionRefused:
    """The reason why an order that needs action is not polled: the provider refused it, or it was not sent."""
    if order.may_be_charged or _is_lost(order):
        return ActionRefused(_("It may have arrived. Open it and decide there."))
    return ActionRefused(_("The provider has not taken this order, so there is no status to check. Open it to decide."))


def release(order: Order, *, actor: User) -> None:
    """Put an order that needs action back in the queue, for the confirmed price. Raises the same as `send_again`."""
    order.refresh_from_db()
    check_release(order, actor=actor)
    send_again(order, actor=actor)


def check_release(order: Order, *, actor: User) -> None:
    """Raise the refusal with which `release` would fail, as far as it is known now. It changes nothing."""
    if order.action_reason == ActionReason.NEVER_ARRIVED or _is_lost(order):
        raise ActionRefused(_("It may have arrived. Open it and decide there."))
    if order.status == Status.NEEDS_ACTION and order.product.price > order.max_price:
        raise PriceMoved(order.product.price)
    require(Action.SEND_AGAIN, order, actor)


def _is_lost(order: Order) -> bool:
    """Whether the order needs action and its later events may be missing after a restore."""
    return order.status == Status.NEEDS_ACTION and may_be_lost(order.sent_at or order.created_at)
