"""Why an order needs action, and since when; after it was sent again also when that was, and that it did not help."""

import datetime as dt

from django.db.models import Exists, OuterRef, Subquery
from django.utils.translation import gettext as _

from core.times import short_time
from purchases.models import Order, OrderEvent
from purchases.states import ActionReason, Status


def sent_again() -> Subquery:
    """For `annotate` as `again_at`: when the order that needed action was queued again last; null if it never was.

    An order that waited for a top-up is queued then for its first sending.
    """
    sent = OrderEvent.objects.filter(order=OuterRef("order"), to_status=Status.SENDING, at__lt=OuterRef("at"))
    again = OrderEvent.objects.filter(order=OuterRef("pk"), from_status=Status.NEEDS_ACTION, to_status=Status.QUEUED)
    return Subquery(again.filter(Exists(sent)).order_by("-at").values("at")[:1])


def first_sent() -> Subquery:
    """For `annotate`: the time of the order's first sending; null if it was never sent."""
    sent = OrderEvent.objects.filter(order=OuterRef("pk"), to_status=Status.SENDING)
    return Subquery(sent.order_by("at").values("at")[:1])


def waits_since(order: Order) -> dt.datetime:
    """Since when its customer waits for a person: the sale; after a wait for a top-up, the first sending.

    Another sending gives no more time.
    """
    if not order.waits_for_topup:
        return order.created_at
    sent = order.events.filter(to_status=Status.SENDING).order_by("at").values_list("at", flat=True).first()
    return sent or order.created_at


def action_words(order: Order) -> str:
    """The reason why an order that was read with `again_at` needs action; "" if it needs none."""
    reason, again = str(order.get_action_reason_display()), order.again_at  # type: ignore[attr-defined]
    if not (order.action_reason and again):
        return reason
    words = _("Sent again %(time)s, refused again: %(reason)s")
    if order.action_reason == ActionReason.NEVER_ARRIVED:
        words = _("Sent again %(time)s: %(reason)s")
    return words % {"time": short_time(again), "reason": reason}
