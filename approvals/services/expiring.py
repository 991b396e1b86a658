"""End open approvals whose time is over, or that were executed in a time that a restored database has lost."""

import datetime as dt

import structlog
from django.conf import settings
from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext as _

from approvals.acts import act_named
from approvals.events import APPROVAL_VOID, APPROVED, EXPIRED
from approvals.models import Approval, ApprovalState
from approvals.services.noting import note
from core import clock
from staff.models import User
from staff.roles import role_of

log = structlog.get_logger()

_AT_ONCE = 100


def expire_overdue() -> int:
    """End the open approvals whose time is over, the oldest first, at most 100; returns how many.

    An approval that somebody decides at this moment is left to that person.
    """
    ended = 0
    for pk in list(
        Approval.objects.overdue(clock.now()).order_by("expires_at").values_list("pk", flat=True)[:_AT_ONCE]
    ):
        with transaction.atomic():
            approval = Approval.objects.overdue(clock.now()).select_for_update(skip_locked=True).filter(pk=pk).first()
            if approval is not None:
                expire(approval)
                ended += 1
    return ended


def expire(approval: Approval) -> None:
    """End this open approval, locked by the caller, because its time is over."""
    approval.state, approval.decided_at = ApprovalState.EXPIRED, clock.now()
    approval.save(update_fields=["state", "decided_at"])
    if act := act_named(approval.act):
        act.ended(approval)
    note(EXPIRED, approval)
    log.info("approval_expired", approval=approval.pk, act=approval.act)


def note_executed(result: str, *, sha256: str, by: int, at: dt.datetime) -> None:
    """End the open approval that would place the order `result` again, in the caller's transaction.

    It ends as approved by that person at that time. If the person is unknown here, or the content or the time does
    not fit, it ends as void, so that nobody approves it a second time.
    """
    for approval in Approval.objects.open().select_for_update(of=("self",)).order_by("pk"):
        if approval.facts.get("ref_id") == result:
            _end(approval, result, sha256=sha256, decider=User.objects.filter(pk=by).first(), at=at)


def _end(approval: Approval, result: str, *, sha256: str, decider: User | None, at: dt.datetime) -> None:
    is_this = approval.sha256 == sha256 and approval.asked_at <= at <= approval.expires_at
    if decider and is_this and decider.pk != approval.asked_by_id:
        approval.state, approval.result, approval.decided_at = ApprovalState.APPROVED, result, at
        approval.decided_by, approval.decided_role = decider, role_of(decider) or ""
    else:
        approval.state, approval.decided_at = ApprovalState.VOID, clock.now()
        approval.decided_by = approval.asked_by
        approval.changes = {"code": "executed_before", "words": _words(result)}
    approval.save()
    if approval.state == ApprovalState.VOID and (act := act_named(approval.act)):
        act.ended(approval)
    note(APPROVED if approval.result else APPROVAL_VOID, approval, person=approval.decided_by)


def _words(result: str) -> dict[str, str]:
    """The reason why it is void, in each language of the pages."""
    words = {}
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            words[language] = _("It was executed before the database was restored: %(ref_id)s.") % {"ref_id": result}
    return words
