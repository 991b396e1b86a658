"""What waits for a person, from every room: one question, the first due on top; and who has taken it."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import CharField, OuterRef, Q, QuerySet, Subquery, Value
from django.utils import timezone

from approvals.acts import acts_approved_by
from core.rights import Right
from core.together import Given
from purchases.models import late_since
from work.kinds import KINDS
from work.kinds.kind import Moment, Scope
from work.models import Taken

if TYPE_CHECKING:
    from staff.models import User

# Nobody works longer: after that it is free again.
TAKEN_FOR = dt.timedelta(hours=12)
# The list shows no more, and the menu counts no further.
MOST, MOST_COUNTED = 1000, 100


@dataclass(frozen=True)
class Item:
    """One row of the list. `is_for_person`: this person can do it. `taken_by`: the key of who does it."""

    kind: str
    key: int
    due: dt.datetime
    is_for_person: bool
    taken_by: int | None


def scope_of(person: User) -> Scope:
    """The work that this person sees and does."""
    seen = tuple(code for code, kind in KINDS.items() if kind.may_see(person))
    return Scope(
        sees=seen,
        does=frozenset(code for code in seen if KINDS[code].may_do(person)),
        acts=tuple(acts_approved_by(person)),
        sees_all=person.has_perm(Right.VIEW_APPROVALS),
        resolves=person.has_perm(Right.RESOLVE_ORDERS) or person.has_perm(Right.PROPOSE_VERDICTS),
    )


def open_work(person: User) -> list[Item]:
    """Everything that waits and that this person may see, the first due on top."""
    scope, now = scope_of(person), timezone.now()
    moment = Moment(person=person.pk, today=timezone.localdate(now), **late_since())
    parts = [_part(code, moment, scope, now - TAKEN_FOR) for code in scope.sees]
    return [Item(*row) for row in _together(parts)[:MOST]] if parts else []


def own_work(scope: Scope) -> QuerySet[Any, Any]:
    """The question for what waits for a person of this scope, a hundred at most; `given_now` has its values."""
    names = ("person", "lately", "verdict_from", "today")
    moment = Moment(**{name: Given(name) for name in names})
    for_person = Q(work_is_for_person=True) & (Q(work_taken_by=None) | Q(work_taken_by=Given("person")))
    does = [code for code in scope.sees if code in scope.does]
    parts = [_part(code, moment, scope, Given("taken_since")).filter(for_person) for code in does]
    return _together(parts)[:MOST_COUNTED] if parts else Taken.objects.none().values_list("pk")


def given_now() -> dict[str, Any]:
    """The values of `own_work`, but the person."""
    now = timezone.now()
    return {**late_since(), "today": timezone.localdate(now), "taken_since": now - TAKEN_FOR}


def take(kind: str, key: int, *, actor: User) -> None:
    """Say that the actor does this; whoever had taken it has it no longer."""
    with transaction.atomic():
        Taken.objects.filter(at__lt=timezone.now() - TAKEN_FOR).delete()
        Taken.objects.update_or_create(kind=kind, key=key, defaults={"by": actor, "at": timezone.now()})


def leave(kind: str, key: int, *, actor: User) -> None:
    """Give it back to all who can do it."""
    Taken.objects.filter(kind=kind, key=key, by=actor).delete()


def _part(code: str, moment: Moment, scope: Scope, taken_since: Any) -> QuerySet[Any, Any]:
    kind = KINDS[code]
    taken = Taken.objects.filter(kind=code, key=OuterRef("pk"), at__gt=taken_since)
    rows: QuerySet[Any, Any] = kind.rows(moment, scope).annotate(
        work_kind=Value(code, output_field=CharField()),
        work_due=kind.due(),
        work_is_for_person=kind.for_person(moment, scope),
        work_taken_by=Subquery(taken.values("by")),
    )
    return rows.order_by().values_list("work_kind", "pk", "work_due", "work_is_for_person", "work_taken_by")


def _together(parts: list[QuerySet[Any, Any]]) -> QuerySet[Any, Any]:
    first, *others = parts
    rows: QuerySet[Any, Any] = first.union(*others, all=True) if others else first
    return rows.order_by("work_due", "work_kind", "pk")
