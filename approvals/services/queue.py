"""The approvals that a person sees, and those that would be void now. Nothing is locked or decided here."""

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
    """Whether this person sees the page of approvals: people who ask, approve or see all of them do."""
    return person.has_perm(Right.VIEW_APPROVALS) or bool(acts_approved_by(person) or acts_asked_by(person))


def listed_for(person: User) -> ApprovalQuerySet:
    """The approvals that this person may see: all, or the person's own and those that the person may decide.

    A person bound to a branch sees those of `in_branch`.
    """
    bound_to = person.bound_to
    every = Approval.objects.all()
    if bound_to is not None:
        acts = [*acts_approved_by(person), *acts_asked_by(person)]
        every = every.filter(in_branch(bound_to, person=person, acts=acts))
    if person.has_perm(Right.VIEW_APPROVALS):
        return every
    own, acts = Q(asked_by=person), acts_approved_by(person)
    return every.filter(own | Q(act__in=acts) if acts else own)


def in_branch(branch: int, *, person: Any, acts: Collection[str]) -> Q:
    """The condition that a person bound to this branch sees an approval: it is of the branch, or concerns the person.

    An approval of the whole shop concerns its asker, and people who may ask for such an act or approve it. `person`:
    the person or the key. `acts`: the names of the acts that the person may ask for or approve.
    """
    return within(branch, "branch") | Q(branch=None) & (Q(asked_by=person) | Q(act__in=acts))


def sees(approval: Approval, person: User) -> bool:
    """Whether this person sees its branch. A bound person sees one of the whole shop only if it concerns the person."""
    if person.bound_to is None or approval.branch_id == person.bound_to:
        return True
    return approval.branch_id is None and _concerns(approval, person)


def may_see(approval: Approval, person: User) -> bool:
    """Whether this person may open it: the person who asked, and people who may ask for such an act or approve it."""
    return sees(approval, person) and (person.has_perm(Right.VIEW_APPROVALS) or _concerns(approval, person))


def may_open(approval: Approval, person: User) -> bool:
    """Whether its page opens for this person as signed in now: by PIN only what the person asked for."""
    return may_see(approval, person) and (not person.by_pin or approval.is_of(person))


def opens_for(key: int, person: User) -> bool:
    """The same, by the approval's key. For a person who sees all approvals it takes no query."""
    if person.has_perm(Right.VIEW_APPROVALS) and person.bound_to is None:
        return True
    approval = Approval.objects.filter(pk=key).first()
    return approval is not None and may_open(approval, person)


def _concerns(approval: Approval, person: User) -> bool:
    """Whether this person asked, or may ask for such an act or approve it."""
    act = act_named(approval.act)
    may = act is not None and (person.has_perm(act.may_ask) or person.has_perm(act.may_approve))
    return may or approval.is_of(person)


def changes_seen(approvals: Collection[Approval]) -> dict[int, dict[str, Any]]:
    """The reasons why some of these would be void now, by key, in the form of `Approval.changes`.

    One statement. It finds the changes that are cheap to read; `approve` finds the rest, under the act's locks.
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
