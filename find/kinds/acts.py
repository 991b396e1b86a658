"""Acts with a number: sell for it, and check whether an order has arrived."""

import datetime as dt
from collections.abc import Iterator
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.translation import gettext as _

from catalogue.operators import operator_of
from core import clock
from core.rights import Right
from core.times import short_time
from find.kinds.asked import Asked
from find.kinds.kind import Result
from purchases.models import Order

# A customer with an order from these last days more likely asks about that order.
_LATELY = dt.timedelta(days=2)


def acts(asked: Asked) -> Iterator[Result]:
    """Sell for a complete number, and "Has it arrived?" for a text that names orders: first if the newest is recent.

    No sale is offered for the whole name of an order, which may look like a number, or for a text that names days.
    """
    if asked.named_order:
        yield _arrived(asked, asked.named_order)
        return
    last = asked.newest_orders[0] if asked.orders else None
    is_recent = last is not None and last.created_at > clock.now() - _LATELY
    if last and is_recent:
        yield _arrived(asked, last)
    if asked.number and not asked.names_days and asked.person.has_perms((Right.BUY, Right.VIEW_PRODUCT)):
        operator = operator_of(asked.number) if asked.is_phone else None
        yield Result(
            url=f"{reverse('counter')}?{urlencode({'q': asked.text})}",
            words=_("Sell for %(number)s") % {"number": asked.shown_number},
            more=operator.name if operator else "",
            icon="shopping-cart",
            key="b",
        )
    if last and not is_recent:
        yield _arrived(asked, last)


def _arrived(asked: Asked, last: Order) -> Result:
    return Result(
        url=f"{reverse('arrived')}?{urlencode({'q': asked.name})}",
        words=_("Has it arrived?"),
        more=f"{last.product_name} · {last.get_status_display()} · {short_time(last.created_at)}",
        icon="message-question",
        key="m",
    )
