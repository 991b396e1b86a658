"""Which approvals a person sees, and which of them would be void now. Nothing is locked, and nothing decided."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import Q

from approvals.acts import Act, Seen, act_named, acts_approved_by, acts_asked_by
from approvals.errors import ApprovalRefused
from approvals.models import Approval, ApprovalQuerySet, canonical
from branches.seeing import within
from core.errors import Refused
from core.rights import Right
from core.together import read_together
from staff.models import User


def sees_queue(person: User) -> bool:
    """Whether the page of approvals is for this person: somebody who asks, approves or sees them all."""
    return person.has_perm(Right.VIEW_APPROVALS) or bool(acts_approved_by(person) or acts_asked_by(person))


def listed_for(person: User) -> ApprovalQuerySet:
    """The approvals that this person may see: all of them, or the person's own and those that this person may decide.

    A person bound to a branch sees those of that branch, and of the whole shop.
    """
    bound_to = person.bound_to
    every = Approval.objects.all()
    if bound_to is not None:
        every = every.filter(within(bound_to, "branch", with_shop=True))
    if person.has_perm(Right.VIEW_APPROVALS):
        return every
    own, acts = Q(asked_by=person), acts_approved_by(person)
    return every.filter(own | Q(act__in=acts) if acts else own)


def sees(approval: Approval, person: User) -> bool:
    """Whether this person sees the branch that it belongs to; the whole shop's are for everybody."""
    return person.bound_to is None or approval.branch_id in {None, person.bound_to}


def may_see(approval: Approval, person: User) -> bool:
    """Whether this person may open it: the person who asked, and people who may ask for such an act or approve it."""
    if not sees(approval, person):
        return False
    act = act_named(approval.act)
    rights = [Right.VIEW_APPROVALS, *([act.may_ask, act.may_approve] if act else [])]
    return approval.is_of(person) or any(person.has_perm(right) for right in rights)


def changes_seen(approvals: Collection[Approval]) -> dict[int, dict[str, Any]]:
    """Why each of these would be void now, by its key, in the form of `Approval.changes`; the others are left out.

    One statement. It finds what is read cheaply; `approve` finds the rest, under the locks of the act.
    """
    by_act: dict[Act, list[Approval]] = defaultdict(list)
    for approval in approvals:
        if approval.is_open and (act := act_named(approval.act)):
            by_act[act].append(approval)
    if not by_act:
        return {}
    keys = {approval.asked_by_id for some in by_act.values() for approval in some}
    keys |= {key for act, some in by_act.items() for approval in some for key in act.people_in(approval.facts)}
    asked = {act: act.questions(some) for act, some in by_act.items()}
    everybody = User.objects.filter(pk__in=keys).with_rights()
    people, *answers = read_together(everybody, *(question for some in asked.values() for question in some))
    known = {person.pk: person for person in people}
    changes_by_key: dict[int, dict[str, Any]] = {}
    for act, some in by_act.items():
        own, answers = answers[: len(asked[act])], answers[len(asked[act]) :]
        seen = Seen(people=known, answers=own, is_alone=len(approvals) == 1)
        changes_by_key |= {approval.pk: changes for approval in some if (changes := _changes(act, approval, seen))}
    return changes_by_key


def differences(asked: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """The changes since the request: {name: [asked for, found]}."""
    return {
        name: [asked.get(name), now.get(name)]
        for name in sorted(asked.keys() | now.keys())
        if asked.get(name) != now.get(name)
    }


def _changes(act: Act, approval: Approval, seen: Seen) -> dict[str, Any]:
    try:
        if not act.may_be_asked_by(seen.people[approval.asked_by_id]):
            raise ApprovalRefused("not_asker")
        content_now = json.loads(canonical(act.content_seen(approval, seen)))
    except Refused as refusal:
        return {"code": refusal.code, "words": str(refusal)}
    return differences(approval.facts, content_now)
