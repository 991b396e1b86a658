"""Orders by the last digits of their number, SN, ref_id or trx_id; and those of a line with days or an amount."""

from collections.abc import Iterator

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from core.money import rupiah
from core.times import short_time
from find.kinds.asked import Asked, Line
from find.kinds.kind import Result
from purchases.looking import Hindrance, hindrance, orders_in_words
from purchases.models import Order
from purchases.presenting import serial_number, shown_destination
from purchases.states import Status

# If a line finds nothing, this many of its filters are left out in turn.
_TRIED = 2


def orders(asked: Asked) -> Iterator[Result]:
    """The newest orders that it names; for a line such as "50 ribu kemarin" also the list that reads it as filters.

    The list comes first, but after a single order. An empty list comes last, after the results without one filter.
    """
    line, keys, is_last = asked.line, asked.orders, False
    if line:
        others = [] if asked.names_days else [key for key in asked.orders if key not in line.looked.keys]
        keys = [*line.looked.keys, *others]
        is_last = len(keys) == 1 or line.looked.count == "0"
        if not is_last:
            yield _list_of(asked, line)
        blamed = None if keys or line.rest else hindrance(line.filtered, most=_TRIED)
        if blamed:
            yield _list_without(blamed)
    for order in asked.shown(keys):
        yield _result(order)
    if line and is_last:
        yield _list_of(asked, line)
    elif asked.of_line and not line:
        yield _list_of(asked, None)


def _list_without(blamed: Hindrance) -> Result:
    return Result(
        url=f"{reverse('order_list')}{blamed.url}",
        words=_("Without “%(filter)s”") % {"filter": blamed.words},
        more=blamed.found,
        icon="list-check",
        is_list=True,
    )


def _result(order: Order) -> Result:
    serial = serial_number(order)
    more = [
        shown_destination(order),
        short_time(order.created_at),
        rupiah(order.customer_pays),
        order.get_status_display(),
        f"SN {serial.main}" if serial else "",
    ]
    look = Status(order.status).look
    return Result(
        url=order.get_absolute_url(),
        words=order.product_name,
        more=" · ".join(filter(None, more)),
        icon=look.icon,
        colour=look.colour,
    )


def _list_of(asked: Asked, line: Line | None) -> Result:
    """The list, with the filters of the line and the number of orders."""
    count = line.looked.count if line else ""
    # "tel 10" more likely names a product than the end of a number.
    end = asked.of_line["ends"] if asked.of_line.keys() == {"ends"} and not asked.may_be_end else ""
    return Result(
        url=f"{reverse('order_list')}?{urlencode({'q': asked.text})}",
        words=orders_in_words(count) if count else _("Look in the orders for “%(text)s”") % {"text": asked.text},
        more=line.words if line else "",
        icon="list-check" if count else "search",
        is_far=bool(end) and not end.startswith("0"),
        is_list=True,
        is_empty=count == "0",
    )
