"""A trx_id names one transaction of the upstream: a report of it about a second order is an incident.

The order stays as the upstream has reported it. Looked up in the transaction of the report, in one go for all of its
orders. If two reports come at the same moment, the second waits until the first is committed, and then finds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.db import connection

from purchases.models import Incident, Order
from purchases.services.incidents import record_incident

if TYPE_CHECKING:
    from purchases.services.reports import Report


def lock_names(of: int) -> str:
    """SQL that locks each of the names in an array of texts, until the transaction ends. `of`: the kind of names.

    Always in the same order, after the orders' rows and before the books; trx_ids before SNs.
    """
    return f"""
    SELECT pg_advisory_xact_lock({of}, key) FROM (
      SELECT DISTINCT hashtext(name) AS key FROM unnest(%s::text[]) name WHERE name > '' ORDER BY key
    ) keys
"""  # noqa: S608 - our own text


_LOCK = lock_names(20_261_128)
# The first letters that a detail names: if each is escaped (ten letters), the other order still fits behind them.
_NAMED = 40
# The index of the trx_id has it in capitals. Whether an incident is open is read only for an order with a twin.
_LOOK_UP = f"""
    WITH named AS MATERIALIZED (
      SELECT its.trx_id FROM purchases_incident known JOIN purchases_order its ON its.id = known.order_id
       WHERE known.closed_at IS NULL AND known.kind = '{Incident.Kind.DOUBLED_TRX_ID.value}'
    )
    SELECT said.id, first.ref_id, EXISTS (SELECT FROM named WHERE named.trx_id = said.trx_id)
      FROM unnest(%s::bigint[], %s::text[]) AS said (id, trx_id)
     CROSS JOIN LATERAL (
       SELECT other.ref_id FROM purchases_order other
        WHERE upper(other.trx_id) = upper(said.trx_id) AND other.trx_id = said.trx_id AND other.id <> said.id
        LIMIT 1
     ) first
"""  # noqa: S608 - our own text


def check_trx_ids(reports: Mapping[Order, Report]) -> None:
    """Open an incident for each of these orders that is reported with the trx_id of another order, once for an order.

    While one of its incidents is open, a trx_id gets no further one: the upstream may give it to every order. Call it
    once in a transaction, with the orders locked and before their SNs are: it locks the trx_ids.
    """
    new = {order: report for order, report in reports.items() if report.data.trx_id != order.trx_id}
    if not new:
        return
    twins = _twins({order.pk: report.data.trx_id for order, report in new.items()})
    here: dict[str, str] = {}  # of several in one batch the first is not to be found yet
    named = set()  # nor is its incident
    for order, report in new.items():
        trx_id = report.data.trx_id
        twin, is_named = twins.get(order.pk, (here.get(trx_id), False))
        here[trx_id] = order.ref_id
        if not twin or is_named or trx_id in named:
            continue
        if not order.incidents.filter(kind=Incident.Kind.DOUBLED_TRX_ID).exists():
            named.add(trx_id)
            detail = f"{trx_id[:_NAMED]!r} is also the trx_id of {twin}"
            record_incident(order, Incident.Kind.DOUBLED_TRX_ID, detail, **report.origin)


def _twins(trx_ids: Mapping[int, str]) -> dict[int, tuple[str, bool]]:
    """The ref_id of another order with the same trx_id, of orders by their keys; and whether an incident names it."""
    names = list(trx_ids.values())
    with connection.cursor() as cursor:
        # Two statements in one go: the second one reads when the locks are held.
        cursor.execute(f"{_LOCK}; {_LOOK_UP}", [names, list(trx_ids), names])
        cursor.nextset()
        return {pk: (twin, is_named) for pk, twin, is_named in cursor.fetchall()}
