"""The work that waits for a person, from every room in one query, the first due on top; and the people who took it."""

import datetime as dt
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import BigIntegerField, CharField, Exists, F, OuterRef, QuerySet, Subquery, Value
from django.db.models.functions import Cast
from django.utils import timezone

from approvals.acts import acts_approved_by, acts_asked_by
from branches.seeing import names_branches, within
from core.rights import Right
from core.together import Given
from purchases.models import late_since
from staff.models import User
from work.kinds import KINDS
from work.kinds.kind import Moment, Scope, WorkKind
from work.models import Taken

# Nobody works longer than this: afterwards the row is free again.
TAKEN_FOR = dt.timedelta(hours=12)
# The most rows in the list, and the most that the menu counts.
MOST, MOST_COUNTED = 1000, 100


@dataclass(frozen=True)
class Item:
    """One row of the list. `is_for_person`: this person can do it. `taken_by`: the key of the person who does it.

    `branch`: the key of its branch, for a reader who sees several; None for work that belongs to no branch.
    """

    kind: str
    key: int
    due: dt.datetime
    is_for_person: bool
    taken_by: int | None
    branch: int | None


def scope_of(person: User) -> Scope:
    """The work that this person sees and does."""
    seen = tuple(code for code, kind in KINDS.items() if kind.may_see(person))
    return Scope(
        sees=seen,
        does=frozenset(code for code in seen if KINDS[code].may_do(person)),
        acts=tuple(acts_approved_by(person)),
        asks=tuple(acts_asked_by(person)),
        sees_all=person.has_perm(Right.VIEW_APPROVALS),
        resolves=person.has_perm(Right.RESOLVE_ORDERS) or person.has_perm(Right.PROPOSE_VERDICTS),
        acknowledges=person.has_perm(Right.ACKNOWLEDGE_DIFFERENCES),
        branch=person.bound_to,
    )


def open_work(person: User, *, branch: int | None = None, kind: str = "") -> list[Item]:
    """The waiting work that this person may see, at most `MOST` rows; `branch`, `kind`: only that of this one.

    The first due comes first; within the same minute the most severe.
    """
    scope, now = scope_of(person), timezone.now()
    moment = Moment(person=person.pk, today=timezone.localdate(now), **late_since())
    seen = [code for code in scope.sees if kind in {"", code} and (branch is None or KINDS[code].branch)]
    parts = [_part(code, moment, scope, now - TAKEN_FOR, branch) for code in seen]
    items = [Item(*row) for row in _together(parts)[:MOST]] if parts else []
    return sorted(items, key=_order)


def _order(item: Item) -> tuple[Any, ...]:
    return item.due.replace(second=0, microsecond=0), KINDS[item.kind].severity, item.kind, item.key


def own_work(scope: Scope) -> QuerySet[Any, Any]:
    """The query for the keys of the work of a person with this scope; `given_now` has its values.

    The head of every page counts them, up to a hundred. So no kind is read further than that: in a large shop
    thousands of complaints wait, and the order does not matter here.
    """
    names = ("person", "lately", "verdict_from", "today")
    moment = Moment(**{name: Given(name) for name in names})
    parts = [_own_part(code, moment, scope) for code in scope.sees if code in scope.does]
    if not parts:
        return Taken.objects.none().values_list("pk")
    first, *others = parts
    return (first.union(*others, all=True) if others else first)[:MOST_COUNTED]


def given_now() -> dict[str, Any]:
    """The values of `own_work`, except the person."""
    now = timezone.now()
    return {**late_since(), "today": timezone.localdate(now), "taken_since": now - TAKEN_FOR}


def take(kind: str, key: int, *, actor: User) -> None:
    """Note that the actor does this; a person who had taken it before has it no longer."""
    with transaction.atomic():
        Taken.objects.filter(at__lt=timezone.now() - TAKEN_FOR).delete()
        Taken.objects.update_or_create(kind=kind, key=key, defaults={"by": actor, "at": timezone.now()})


def leave(kind: str, key: int, *, actor: User) -> None:
    """Give the row back to all people who can do it."""
    Taken.objects.filter(kind=kind, key=key, by=actor).delete()


def _seen(kind: WorkKind, moment: Moment, scope: Scope) -> QuerySet[Any, Any]:
    """The rows of a kind in the branch of this scope; work without a branch is seen in each."""
    rows = kind.rows(moment, scope)
    if scope.branch is None or not kind.branch:
        return rows
    return rows.filter(within(scope.branch, kind.branch, with_shop=True))


def _own_part(code: str, moment: Moment, scope: Scope) -> QuerySet[Any, Any]:
    kind = KINDS[code]
    taken = Taken.objects.filter(kind=code, key=OuterRef("pk"), at__gt=Given("taken_since"))
    rows: QuerySet[Any, Any] = _seen(kind, moment, scope).alias(work_is_for_person=kind.for_person(moment, scope))
    free_or_own = rows.filter(~Exists(taken.exclude(by=Given("person"))), work_is_for_person=True)
    return free_or_own.order_by().values_list("pk")[:MOST_COUNTED]


def _part(code: str, moment: Moment, scope: Scope, taken_since: Any, branch: int | None) -> QuerySet[Any, Any]:
    kind = KINDS[code]
    taken = Taken.objects.filter(kind=code, key=OuterRef("pk"), at__gt=taken_since)
    rows: QuerySet[Any, Any] = _seen(kind, moment, scope).annotate(
        work_kind=Value(code, output_field=CharField()),
        work_due=kind.due(),
        work_is_for_person=kind.for_person(moment, scope),
        work_taken_by=Subquery(taken.values("by")),
        work_branch=Cast(F(kind.branch) if kind.branch and names_branches() else Value(None), BigIntegerField()),
    )
    if branch is not None:
        rows = rows.filter(**{kind.branch: branch})
    names = ("work_kind", "pk", "work_due", "work_is_for_person", "work_taken_by", "work_branch")
    return rows.order_by().values_list(*names)


def _together(parts: list[QuerySet[Any, Any]]) -> QuerySet[Any, Any]:
    first, *others = parts
    rows: QuerySet[Any, Any] = first.union(*others, all=True) if others else first
    return rows.order_by("work_due", "work_kind", "pk")
