"""Records a person's act in the transaction of the act itself: an act without its event does not happen."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import AbstractUser, Group
from django.contrib.postgres.aggregates import StringAgg
from django.db.models import CharField, Subquery, Value
from django.db.models.functions import Coalesce
from structlog.contextvars import get_contextvars

from audit.events import Event
from audit.models import AuditEvent


def record(
    event: Event,
    *,
    actor: AbstractUser | None = None,
    subject: str = "",
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    facts: Mapping[str, Any] | None = None,
) -> None:
    """Store one event, with one statement, in the caller's transaction.

    `actor`: the person; None for a command, a task, or an unknown person. `subject`: a ref_id, a user name, a list. The
    values are JSON and hold no secret, PIN, token or password. Address and request are those of the log's context
    (`core.tracing`), which begins and ends with each request.
    """
    context = get_contextvars()
    AuditEvent.objects.create(
        kind=event.key,
        person_id=None if actor is None else actor.pk,
        role=_roles_of(actor),
        address=context.get("ip", ""),
        request_id=context.get("request_id", ""),
        subject=subject[:200],
        before=before and dict(before),
        after=after and dict(after),
        facts=facts and dict(facts),
    )


def _roles_of(person: AbstractUser | None) -> Any:
    """The names of the roles, to be read by the same statement."""
    if person is None:
        return ""
    if person.is_superuser:
        return "owner"
    names = StringAgg("name", Value(","), order_by="name")
    groups = Group.objects.filter(user=person.pk).order_by().values("user").annotate(names=names)
    return Coalesce(Subquery(groups.values("names")), Value(""), output_field=CharField())
