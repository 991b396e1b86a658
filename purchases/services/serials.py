"""The SN of a success: the same SN twice in a brand, or an invalid token, is an incident.

The order stays as the upstream has reported it. The transaction of the report looks the SNs up, in one go for all of
its orders. If two reports come at the same moment, the second waits until the first is committed, and then finds it.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from django.db import connection

from catalogue.destinations import METER, kind_called
from purchases.models import Incident, Order
from purchases.models.finding import SN_SEARCHED
from purchases.services.incidents import record_incident
from purchases.services.trx_ids import lock_names

_TOKEN = re.compile(r"\d{20}")
# Shorter SNs, and words, prove nothing: "0", "-", "SUCCESS".
_LEAST_LETTERS = 8
_LOCK = lock_names(20_261_122)
# The index finds SNs that begin so; name and tariff follow a "/". A pair is left out if either order has an incident.
_LOOK_UP = f"""
    SELECT said.id, product.kind, brand.name, twin.ref_id
      FROM unnest(%s::bigint[], %s::text[]) AS said (id, sn)
      JOIN purchases_order o ON o.id = said.id
      JOIN catalogue_product product ON product.id = o.product_id
      JOIN catalogue_brand brand ON brand.id = product.brand_id
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


def token_of(sn: str) -> str:
    """The 20 digits of an electricity token, before name and tariff; "" without a valid token."""
    digits = re.sub(r"[\s\-]", "", sn.partition("/")[0])
    return digits if _TOKEN.fullmatch(digits) else ""


def check_serials(reports: Mapping[Order, Mapping[str, Any]]) -> None:
    """Open an incident for each of these successes whose SN another order of the brand has, or that lacks its token.

    `reports`: locked order → the source of its report (`source`, `raw`, `callback_id`). The reports need not be written
    yet. Call it once in a transaction, and before the books are taken: it locks the SNs.
    """
    here: dict[tuple[str, str], str] = {}  # SNs of these reports: the query does not find them yet
    for order, facts in _look_up(reports):
        key = (facts.brand, _compared(order.sn))
        twin = facts.twin or (here.get(key) if key[1] else None)
        here[key] = order.ref_id
        _record(order, facts, twin, reports[order])


class _Facts(NamedTuple):
    """The key by which an order's SN is compared. `twin`: the ref_id of another order with the same SN."""

    number_kind: str
    brand: str
    twin: str | None


def _look_up(orders: Collection[Order]) -> list[tuple[Order, _Facts]]:
    """These orders in the order of their keys, each with its facts."""
    if not orders:
        return []
    by_key, serials = {order.pk: order for order in orders}, [_compared(order.sn) for order in orders]
    with connection.cursor() as cursor:
        # Two statements in one go: the second one reads when the locks are held.
        cursor.execute(f"{_LOCK}; {_LOOK_UP}", [serials, list(by_key), serials])
        cursor.nextset()
        return [(by_key[pk], _Facts(*facts)) for pk, *facts in cursor.fetchall()]


def _record(order: Order, facts: _Facts, twin: str | None, source: Mapping[str, Any]) -> None:
    if twin:
        record_incident(order, Incident.Kind.DOUBLED_SN, f"{order.sn[:100]!r} is also the SN of {twin}", **source)
    is_token = order.kind == Order.Kind.PURCHASE and kind_called(facts.number_kind) is METER
    if is_token and not token_of(order.sn):
        detail = f"the SN is {order.sn[:100]!r}" if order.sn else "there is no SN"
        record_incident(order, Incident.Kind.NO_TOKEN, detail, **source)


def _compared(sn: str) -> str:
    """The SN as the index has it, without name and tariff; "" for an SN that proves no delivery."""
    first = sn.partition("/")[0][:SN_SEARCHED].upper()
    letters = [letter for letter in first if letter.isalnum()]
    return first if len(letters) >= _LEAST_LETTERS and any(letter.isdigit() for letter in letters) else ""
