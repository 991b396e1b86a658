"""What the SN of a success says: the same one twice in a brand, or a token that is none, is an incident.

The order stays as the upstream has reported it. Looked up in the transaction of the report, in one statement for all
of its orders. Of two reports at the same moment neither sees the other: those are found a few seconds later.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from django.db import connection
from django.utils import timezone

from catalogue.destinations import DestinationKind, kind_of_names
from purchases.models import Incident, Order, OrderEvent
from purchases.models.orders import SN_SEARCHED
from purchases.services.incidents import record_incident
from purchases.states import Status

_TOKEN = re.compile(r"\d{20}")
# Shorter ones, and words, are no proof of anything: "0", "-", "SUCCESS".
_LEAST_LETTERS = 8
# The index of the SN finds what begins so; behind a "/" stand name and tariff. An incident at either says it already.
_LOOK_UP = f"""
    SELECT said.id, product.code || ' ' || product.name, brand.code || ' ' || brand.name,
           category.code || ' ' || category.name, brand.name, twin.ref_id
      FROM unnest(%s::bigint[], %s::text[]) AS said (id, sn)
      JOIN purchases_order o ON o.id = said.id
      JOIN catalogue_product product ON product.id = o.product_id
      JOIN catalogue_brand brand ON brand.id = product.brand_id
      JOIN catalogue_category category ON category.id = product.category_id
      LEFT JOIN LATERAL (
        SELECT other.ref_id FROM purchases_order other
          JOIN catalogue_product others ON others.id = other.product_id
          JOIN catalogue_brand its ON its.id = others.brand_id
         WHERE said.sn > '' AND upper(left(other.sn, {SN_SEARCHED})) ~>=~ said.sn
           AND upper(left(other.sn, {SN_SEARCHED})) ~<~ (said.sn || chr(1114111))
           AND split_part(upper(left(other.sn, {SN_SEARCHED})), '/', 1) = said.sn
           AND other.id <> said.id AND its.name = brand.name
           AND NOT EXISTS (
             SELECT FROM purchases_incident known
              WHERE known.order_id IN (said.id, other.id) AND known.kind = '{Incident.Kind.DOUBLED_SN.value}'
           )
         ORDER BY other.id LIMIT 1
      ) twin ON TRUE
     ORDER BY said.id
"""  # noqa: S608 - our own text
# How far back the second look goes, and how many orders it takes at most.
_ENDED_LATELY, _PLACED_LATELY = dt.timedelta(minutes=5), dt.timedelta(hours=1)
_MOST_ORDERS = 2_000


def token_of(sn: str) -> str:
    """The 20 digits of an electricity token, which name and tariff may follow; "" when there is none."""
    digits = re.sub(r"[\s\-]", "", sn.partition("/")[0])
    return digits if _TOKEN.fullmatch(digits) else ""


def check_serials(reports: Mapping[Order, Mapping[str, Any]]) -> None:
    """Open an incident for each of these successes whose SN another order of the brand has, or that lacks its token.

    `reports`: locked order → who said so (`source`, `raw`, `callback_id`). What they say need not be written yet.
    """
    here: dict[tuple[str, str], str] = {}  # of several in one batch the first is not to be found yet
    for order, facts in _look_up(reports):
        key = (facts.brand, _compared(order.sn))
        twin = facts.twin or (here.get(key) if key[1] else None)
        here[key] = order.ref_id
        _record(order, facts, twin, reports[order])


def check_recent_serials() -> None:
    """The same for what has ended in the last five minutes: two reports at the same moment did not see each other."""
    now = timezone.now()
    lately = Order.objects.filter(created_at__gte=now - _PLACED_LATELY).order_by("-created_at", "-pk")
    recent = [
        order
        for order in lately.only("ref_id", "kind", "status", "sn", "final_at")[:_MOST_ORDERS]
        if order.status == Status.SUCCESS and order.final_at and order.final_at >= now - _ENDED_LATELY
    ]
    told: set[str] = set()
    for order, facts in reversed(_look_up(recent)):  # of two the later one has the incident
        twin = None if facts.twin in told else facts.twin
        if twin:
            told.add(order.ref_id)
        _record(order, facts, twin, {"source": OrderEvent.Source.POLL})


class _Facts(NamedTuple):
    """What an order's SN is compared by. `twin`: the ref_id of another order that has it."""

    product: str
    brand_words: str
    category: str
    brand: str
    twin: str | None


def _look_up(orders: Collection[Order]) -> list[tuple[Order, _Facts]]:
    """These orders by their keys, with the facts of each."""
    if not orders:
        return []
    by_key = {order.pk: order for order in orders}
    with connection.cursor() as cursor:
        cursor.execute(_LOOK_UP, [list(by_key), [_compared(order.sn) for order in orders]])
        return [(by_key[pk], _Facts(*facts)) for pk, *facts in cursor.fetchall()]


def _record(order: Order, facts: _Facts, twin: str | None, said: Mapping[str, Any]) -> None:
    if twin:
        record_incident(order, Incident.Kind.DOUBLED_SN, f"{order.sn[:100]!r} is also the SN of {twin}", **said)
    kind = kind_of_names(facts.product, facts.brand_words, facts.category)
    if order.kind == Order.Kind.PURCHASE and kind is DestinationKind.METER and not token_of(order.sn):
        detail = f"the SN is {order.sn[:100]!r}" if order.sn else "there is no SN"
        record_incident(order, Incident.Kind.NO_TOKEN, detail, **said)


def _compared(sn: str) -> str:
    """As the index has it; "" of what proves no delivery."""
    first = sn.partition("/")[0][:SN_SEARCHED].upper()
    letters = [letter for letter in first if letter.isalnum()]
    return first if len(letters) >= _LEAST_LETTERS and any(letter.isdigit() for letter in letters) else ""
