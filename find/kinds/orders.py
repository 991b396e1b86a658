"""Orders by the last digits of their number, SN, ref_id or trx_id."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from core.money import rupiah
from core.times import short_time
from find.kinds.asked import Asked
from find.kinds.kind import Result
from purchases.presenting import serial_number, shown_destination
from purchases.states import Status


def orders(asked: Asked) -> Iterator[Result]:
    """The newest orders that it names; of a line such as "50 ribu kemarin" the list that reads it as filters."""
    for order in asked.newest_orders:
        serial = serial_number(order)
        more = [
            shown_destination(order),
            short_time(order.created_at),
            rupiah(order.customer_pays),
            order.get_status_display(),
            f"SN {serial.main}" if serial else "",
        ]
        look = Status(order.status).look
        yield Result(
            url=order.get_absolute_url(),
            words=order.product_name,
            more=" · ".join(filter(None, more)),
            icon=look.icon,
            colour=look.colour,
        )
    if asked.of_line:
        yield Result(
            url=f"{reverse('order_list')}?{urlencode({'q': asked.text})}",
            words=_("Look in the orders for “%(text)s”") % {"text": asked.text},
            icon="search",
        )
