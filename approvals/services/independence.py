"""The approver is another person than the asker, not only another account of the same person."""

from __future__ import annotations

from collections.abc import Collection

from approvals.acts import Act, act_named
from approvals.errors import ApprovalRefused
from approvals.models import Approval
from approvals.services.queue import sees
from core.errors import Refused
from staff.models import BREAK_GLASS, User
from staff.services.independence import Hands


def refuse_dependent(act: Act, approval: Approval, person: User) -> bool:
    """Raise `ApprovalRefused` when one of the two held the other's account lately, or a third person held both.

    An owner may go on if nobody independent could approve: True then, and the caller notes "alone".
    """
    asker = approval.asked_by
    hands = Hands.read()
    holders = hands.between(asker, person)
    if not holders:
        return False
    are_owners = not User.objects.filter(pk__in=holders, is_superuser=False).exists()
    colleagues = _independent(act, approval, hands)
    if are_owners and (asker.is_superuser or person.is_superuser) and not colleagues:
        return True
    raise ApprovalRefused("not_independent", helpers=[colleague.shown_name for colleague in colleagues[:3]])


def refused_to(approvals: Collection[Approval], person: User) -> set[int]:
    """The keys of those that this person may only refuse: too large, or asked by somebody who is not independent.

    One query for all of them; more only for askers who are not independent.
    """
    hands, keys = Hands.read() if approvals else Hands([]), set()
    for approval in approvals:
        act = act_named(approval.act)
        if act is None or approval.is_of(person) or not person.has_perm(act.may_approve):
            continue
        if not _may(act, approval, person) or (
            hands.between(approval.asked_by, person) and not _may_as_last(act, approval, person)
        ):
            keys.add(approval.pk)
    return keys


def _may_as_last(act: Act, approval: Approval, person: User) -> bool:
    """Whether this person may approve it although the two are not independent."""
    try:
        refuse_dependent(act, approval, person)
    except ApprovalRefused:
        return False
    return True


def _independent(act: Act, approval: Approval, hands: Hands) -> list[User]:
    asker = approval.asked_by
    people = User.objects.holding(act.may_approve).exclude(username=BREAK_GLASS)
    return [
        colleague
        for colleague in people.exclude(pk=asker.pk)
        if colleague.has_joined
        and sees(approval, colleague)
        and _may(act, approval, colleague)
        and not hands.between(asker, colleague)
    ]


def _may(act: Act, approval: Approval, person: User) -> bool:
    try:
        act.refuse_approver(approval, person)
    except Refused:
        return False
    return True
