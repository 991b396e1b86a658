"""Makes sure that approver and asker are two people, not two accounts of the same person."""

from collections.abc import Collection
from itertools import islice

from approvals.acts import Act, act_named
from approvals.errors import ApprovalRefused
from approvals.models import Approval
from approvals.services.queue import sees
from core.errors import Refused
from staff.models import BREAK_GLASS, User
from staff.services import holders_of_any, read_role_limits
from staff.services.independence import Hands


def refuse_dependent(act: Act, approval: Approval, person: User) -> bool:
    """Raise `ApprovalRefused` when one of the two held the other's account lately, or a third person held both.

    Returns True for an owner who may go on because nobody independent could approve; the caller notes "alone".
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
    """The keys of approvals that this person may only refuse: too large, or the asker is not independent.

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


def names_of_approvers(approvals: Collection[Approval]) -> dict[int, list[str]]:
    """For each of these, by its key, the names of up to three people who may approve it; owners come last."""
    approvers = _approvers(approvals, most=3)
    return {key: [person.shown_name for person in people] for key, people in approvers.items()}


def approvers_of(approval: Approval) -> list[User]:
    """Everybody who may approve it; owners come last."""
    return _approvers([approval]).get(approval.pk, [])


def _approvers(approvals: Collection[Approval], *, most: int | None = None) -> dict[int, list[User]]:
    """The approvers by approval; dependent people only if nobody else could, and they may approve alone."""
    acts = {approval: act for approval in approvals if (act := act_named(approval.act))}
    if not acts:
        return {}
    hands, people = Hands.read(), list(holders_of_any({act.may_approve for act in acts.values()}).with_rights())
    read_role_limits(people)
    approvers = {}
    for approval, act in acts.items():
        able = (person for person in people if _is_able(act, approval, person))
        independent = (person for person in able if not hands.between(approval.asked_by, person))
        alone = (person for person in people if _is_able(act, approval, person) and _may_as_last(act, approval, person))
        approvers[approval.pk] = list(islice(independent, most)) or list(islice(alone, most))
    return approvers


def _is_able(act: Act, approval: Approval, person: User) -> bool:
    """Whether this is another person, who holds the right, sees the branch, and may approve this very content."""
    has_right = person.has_perm(act.may_approve) and not approval.is_of(person)
    return has_right and sees(approval, person) and _may(act, approval, person)


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
