"""Which approvals a person sees, and which wait for that person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from approvals.acts import act_named, acts_approved_by, acts_asked_by
from approvals.models import Approval, ApprovalQuerySet
from branches.seeing import within
from core.rights import Right

if TYPE_CHECKING:
    from staff.models import User


def sees_queue(person: User) -> bool:
    """Whether the page of approvals is for this person: somebody who asks, approves or sees them all."""
    return person.has_perm(Right.VIEW_APPROVALS) or bool(acts_approved_by(person) or acts_asked_by(person))


def listed_for(person: User) -> ApprovalQuerySet:
    """Those that this person may see: all of them, or their own and those that this person may decide.

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
    """Whether it belongs to no branch that this person does not see."""
    return person.bound_to is None or approval.branch_id in {None, person.bound_to}


def may_see(approval: Approval, person: User) -> bool:
    """Whether this person may open it: the person who asked, and people who may ask for such an act or approve it."""
    if not sees(approval, person):
        return False
    act = act_named(approval.act)
    rights = [Right.VIEW_APPROVALS, *([act.may_ask, act.may_approve] if act else [])]
    return approval.is_of(person) or any(person.has_perm(right) for right in rights)
