"""Incidents of money: each is recorded once, and stays open until a person has looked into it."""

from typing import Any

import structlog
from django.utils import timezone
from django.utils.translation import gettext as _

from purchases.errors import ActionRefused
from purchases.models import Incident, Order, OrderEvent
from purchases.states import Status
from staff.models import User

log = structlog.get_logger()


def record_incident(
    order: Order,
    kind: Incident.Kind,
    detail: str,
    *,
    source: OrderEvent.Source,
    raw: dict[str, Any] | None = None,
    callback_id: int | None = None,
) -> None:
    """Keep the incident once, for any number of repeats by the upstream. Call it with the order locked."""
    _incident, is_new = Incident.objects.get_or_create(
        order=order,
        kind=kind,
        detail=detail[:500],
        defaults={"source": source, "raw": raw, "callback_id": callback_id},
    )
    if is_new:
        log.error("order_incident", ref_id=order.ref_id, kind=str(kind), source=str(source))


def record_contradiction(order: Order, said: str, **facts: Any) -> None:
    """The upstream said `said` (a status or an error code), which an order in this status cannot be."""
    record_incident(order, Incident.Kind.CONTRADICTION, _contradiction(said, order.status), **facts)


def _contradiction(said: str, status: str) -> str:
    return f"{said} is reported for an order that is {status}"


def close_incident(incident: Incident, *, actor: User, note: str) -> None:
    """Mark an incident as looked into, with the person and the finding. Raises `ActionRefused` if it was closed."""
    closed = Incident.objects.filter(pk=incident.pk, closed_at__isnull=True).update(
        closed_at=timezone.now(), closed_by=actor, closing_note=note[:500]
    )
    if not closed:
        raise ActionRefused(_("This incident was closed before."))


def close_answered(order: Order, decided: Status, *, actor: User, note: str) -> None:
    """Close the contradiction that a decision of two people answers: the upstream reports a success as failed.

    Every other incident stays open: the decision says nothing about it. Call it with the order locked, before it moves.
    """
    if (order.status, decided) != (Status.SUCCESS, Status.REVERSED):
        return
    detail = _contradiction(Status.FAILED, Status.SUCCESS)
    answered = order.incidents.filter(kind=Incident.Kind.CONTRADICTION, detail=detail, closed_at=None)
    for incident in answered.select_for_update():
        close_incident(incident, actor=actor, note=note)
