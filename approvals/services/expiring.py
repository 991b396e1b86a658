"""End what nobody has decided in time."""

from __future__ import annotations

import structlog
from django.db import transaction

from approvals.acts import act_named
from approvals.events import EXPIRED
from approvals.models import Approval, ApprovalState
from approvals.services.noting import note
from core import clock

log = structlog.get_logger()

_AT_ONCE = 100


def expire_overdue() -> int:
    """End the open approvals whose time is over, the oldest first, at most 100; how many were ended.

    One that somebody decides at this moment is left to that person.
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
