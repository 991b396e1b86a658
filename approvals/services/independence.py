"""Who approves is somebody else than who asked, and not only another account of the same hands."""

from __future__ import annotations

from approvals.acts import Act
from approvals.errors import ApprovalRefused
from approvals.models import Approval
from core.errors import Refused
from staff.models import BREAK_GLASS, User
from staff.services.independence import holders_between
from staff.services.second import BACKEND


def refuse_dependent(act: Act, approval: Approval, person: User) -> bool:
    """Raise `ApprovalRefused` when the approver or the asker held the other's account lately.

    An owner is let through where nobody independent could approve: True then, and whoever notes it says "alone".
    """
    asker = approval.asked_by
    holders = holders_between(asker, person)
    if not holders:
        return False
    if all(one.is_superuser for one in (asker, person) if one.pk in holders) and not _has_independent(act, approval):
        return True
    raise ApprovalRefused("not_independent")


def _has_independent(act: Act, approval: Approval) -> bool:
    asker = approval.asked_by
    people = User.objects.with_perm(act.may_approve, backend=BACKEND).exclude(username=BREAK_GLASS)
    return any(
        one.has_joined and _may(act, approval, one) and not holders_between(asker, one)
        for one in people.exclude(pk=asker.pk)
    )


def _may(act: Act, approval: Approval, person: User) -> bool:
    try:
        act.refuse_approver(approval, person)
    except Refused:
        return False
    return True
