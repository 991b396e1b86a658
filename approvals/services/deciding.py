"""A second person decides: approving executes, in the same transaction, exactly what was asked for, or nothing."""

import json
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import translation

from approvals.acts import Act, act_named
from approvals.errors import ApprovalRefused
from approvals.events import APPROVAL_VOID, APPROVAL_WITHDRAWN, APPROVED, REFUSED
from approvals.models import Approval, ApprovalState, canonical, hash_of
from approvals.services.expiring import expire
from approvals.services.independence import refuse_dependent
from approvals.services.noting import note
from approvals.services.queue import differences, sees
from core import clock
from core.errors import Refused
from staff.models import User
from staff.roles import role_of
from staff.services.factors import Shown, require_factor

log = structlog.get_logger()


def approve(approval: Approval, *, actor: User, factor: Shown) -> Approval:
    """Execute what was asked for, once; return the approval in its new state: approved, void or expired.

    `factor`: a second factor for exactly this content. Raises `FactorRefused`, `ApprovalRefused`, or the act's own
    `Refused` if it cannot be done at the moment; nothing has happened then, and it stays open.
    """
    act = _act_of(approval)
    _refuse_approver(act, approval, actor)  # before the factor is used up
    require_factor(actor, factor, act=act.code, content=factor_content(approval))
    with transaction.atomic():
        current, decider = _locked(approval), User.objects.get(pk=actor.pk)
        alone = _refuse_approver(act, current, decider)
        if current.expires_at <= (now := clock.now()):
            expire(current)
            return current
        if changes := _changes(act, current):
            return _end(current, ApprovalState.VOID, decider, changes=changes)
        current.result = act.execute(current, approver=decider)
        current.state, current.decided_by, current.decided_at = ApprovalState.APPROVED, decider, now
        current.decided_role = role_of(decider) or ""
        current.save(update_fields=["state", "result", "decided_by", "decided_role", "decided_at"])
        note(APPROVED, current, person=decider, alone=alone)
    log.info("approval_approved", approval=current.pk, act=current.act, by=actor.pk)
    return current


def refuse(approval: Approval, *, actor: User, reason: str) -> Approval:
    """Refuse what another person asked for. Raises `ApprovalRefused`."""
    with transaction.atomic():
        current = _locked(approval)
        if current.is_of(actor):
            raise ApprovalRefused("own_refused")
        if not _holds_right(current, actor):
            raise ApprovalRefused("no_right")
        if not reason.strip():
            raise ApprovalRefused("no_reason")
        return _end(current, ApprovalState.REFUSED, actor, reason=reason.strip()[:500])


def withdraw(approval: Approval, *, actor: User) -> Approval:
    """Withdraw this person's own request. Raises `ApprovalRefused`."""
    with transaction.atomic():
        current = _locked(approval)
        if not current.is_of(actor):
            raise ApprovalRefused("not_yours")
        return _end(current, ApprovalState.WITHDRAWN, actor)


def factor_content(approval: Approval) -> dict[str, Any]:
    """The content of an approver's second factor."""
    return {"approval": approval.pk, "seal": approval.seal}


def why_not_approved_by(approval: Approval, person: User) -> Refused | None:
    """The reason why this person may not approve it; None when the person may try."""
    try:
        _refuse_approver(_act_of(approval), approval, person)
    except Refused as refusal:
        return refusal
    return None


def _act_of(approval: Approval) -> Act:
    if (act := act_named(approval.act)) is None:
        raise ApprovalRefused("unknown_act")
    return act


def _locked(approval: Approval) -> Approval:
    """The open approval, locked until the transaction ends."""
    current = Approval.objects.select_for_update(of=("self",)).select_related("asked_by").get(pk=approval.pk)
    if not current.is_open:
        raise ApprovalRefused("decided")
    return current


def _holds_right(approval: Approval, person: User) -> bool:
    act = act_named(approval.act)
    if act is None:
        return person.is_superuser
    return person.has_perm(act.may_approve) and sees(approval, person)


def _refuse_approver(act: Act, approval: Approval, person: User) -> bool:
    """Whether an owner approves because nobody independent could. Raises `Refused` if this person may not approve."""
    if not approval.is_open:
        raise ApprovalRefused("decided")
    if approval.is_of(person):
        raise ApprovalRefused("own")
    if not (person.has_perm(act.may_approve) and sees(approval, person)):
        raise ApprovalRefused("no_right")
    act.refuse_approver(approval, person)
    return refuse_dependent(act, approval, person)


def _changes(act: Act, approval: Approval) -> dict[str, Any]:
    """The changes since the request: {name: [asked for, found]}.

    {code, words by language} when it cannot be done any more.
    """
    try:
        content_now = _found_now(act, approval)
    except Refused as refusal:
        return {"code": refusal.code, "words": _in_each_language(act, approval, refusal)}
    if hash_of(content_now) == approval.sha256:
        return {}
    return differences(approval.facts, json.loads(content_now))


def _found_now(act: Act, approval: Approval) -> str:
    """The content as it is now, as its canonical text. Raises `Refused`, and undoes what reading it has written."""
    if not act.may_be_asked_by(approval.asked_by):
        raise ApprovalRefused("not_asker")
    with transaction.atomic():
        return canonical(act.content_now(approval))


def _in_each_language(act: Act, approval: Approval, refusal: Refused) -> dict[str, str]:
    """The refusal's words in each language of the pages: they are kept, and other people read them."""
    words = {}
    for language, _name in settings.LANGUAGES:
        words[language] = str(refusal)
        with translation.override(language):
            try:
                _found_now(act, approval)  # the same again, under the same locks
            except Refused as again:
                words[language] = str(again)
    return words


def _end(
    approval: Approval,
    state: ApprovalState,
    actor: User,
    *,
    reason: str = "",
    changes: dict[str, Any] | None = None,
) -> Approval:
    """End a locked approval without executing it."""
    approval.state, approval.decided_by, approval.decided_at = state, actor, clock.now()
    approval.decided_role, approval.decision_reason = role_of(actor) or "", reason
    approval.changes = changes or {}
    approval.save(update_fields=["state", "decided_by", "decided_role", "decided_at", "decision_reason", "changes"])
    if act := act_named(approval.act):
        act.ended(approval)
    note(_KINDS[state], approval, person=actor)
    log.info("approval_ended", approval=approval.pk, act=approval.act, state=str(state), by=actor.pk)
    return approval


_KINDS = {
    ApprovalState.REFUSED: REFUSED,
    ApprovalState.WITHDRAWN: APPROVAL_WITHDRAWN,
    ApprovalState.VOID: APPROVAL_VOID,
}
