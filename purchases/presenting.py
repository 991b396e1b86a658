"""Orders as the pages show them."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass

from django.utils import timezone

from purchases.destinations import DestinationKind, kind_of, shown
from purchases.models import Order

_TOKEN = re.compile(r"\d{20}")


@dataclass(frozen=True)
class SerialNumber:
    """What the provider returned: `main` for the customer, `copied` for the clipboard, `rest` what follows."""

    main: str
    copied: str
    rest: str
    is_token: bool


def serial_number(order: Order) -> SerialNumber | None:
    """The order's SN; an electricity token (20 digits, often followed by "/NAME/TARIFF/…") in groups of four."""
    if not order.sn:
        return None
    first, _slash, rest = order.sn.partition("/")
    digits = re.sub(r"[\s\-]", "", first)
    if kind_of(order.product) is DestinationKind.METER and _TOKEN.fullmatch(digits):
        grouped = " ".join(digits[i : i + 4] for i in range(0, 20, 4))
        return SerialNumber(main=grouped, copied=digits, rest=rest.replace("/", " · "), is_token=True)
    return SerialNumber(main=order.sn, copied=order.sn, rest="", is_token=False)


def shown_destination(order: Order) -> str:
    """The order's destination, grouped for reading aloud."""
    return shown(kind_of(order.product), order.destination)


def seconds_until_next_look(order: Order, *, last_change: dt.datetime) -> int | None:
    """How long a page that shows the order waits before asking again: 2 s, backing off to 10 s; None when final."""
    if order.is_final:
        return None
    age = (timezone.now() - last_change).total_seconds()
    return 2 if age < 20 else 4 if age < 60 else 7 if age < 180 else 10
