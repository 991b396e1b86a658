"""Ask for a second person's approval of exactly one content."""

import datetime as dt

import structlog
from django.db import IntegrityError, transaction

from approvals.acts import Act, act_named
from approvals.errors import AlreadyAsked, ApprovalRefused
from approvals.events import APPROVAL_ASKED
from approvals.models import Approval, Content, canonical, hash_of
from approvals.services.expiring import expire
from approvals.services.noting import note
from branches.services import keep_open
from core import clock
from core.numbers import ErasedText
from policies.services import policies
from staff.models import User
from staff.roles import role_of

log = structlog.get_logger()


def ask(act_name: str, *, subject: str, content: Content, actor: User, reason: str = "", about: str = "") -> Approval:
    """Put `content` before a second person; nothing else is stored, reserved or sent.

    `content`: everything that will be sent or posted, of JSON values only. `about`: the subject in people's words. If
    this person asks for the same again, the same approval is returned. Raises `AlreadyAsked`, or `ApprovalRefused`
    without the right.
    """
    act = act_named(act_name)
    if act is None:
        raise LookupError(act_name)
    if not act.may_be_asked_by(actor):
        raise ApprovalRefused("not_asker")
    with transaction.atomic():
        _end_overdue(act_name, subject)
        approval = _store(act, subject=subject, content=content, actor=actor, reason=reason, about=about)
    log.info("approval_asked", approval=approval.pk, act=act_name, by=actor.pk)
    return approval


def open_approval(act_name: str, subject: str) -> Approval | None:
    """The approval that waits for this act and subject; None without one, or when its time is over."""
    waiting = Approval.objects.open().filter(act=act_name, subject=subject, expires_at__gt=clock.now())
    return waiting.select_related("asked_by").first()


def _store(act: Act, *, subject: str, content: Content, actor: User, reason: str, about: str) -> Approval:
    text, now = canonical(content), clock.now()
    approval = Approval(
        act=act.name,
        subject=subject,
        about=about[:200],
        content=text,
        number_erased=isinstance(content.get("destination"), ErasedText),
        sha256=hash_of(text),
        reason=reason.strip()[:500],
        asked_by=actor,
        asked_role=role_of(actor) or "",
        branch_id=act.branch_of(content, actor),
        asked_at=now,
        expires_at=act.expires_at(content, now + dt.timedelta(hours=policies().approval_valid_hours)),
    )
    try:
        with transaction.atomic():
            if act.keeps_customer and approval.branch_id is not None:  # it becomes a sale there
                keep_open(approval.branch_id)
            approval.save(force_insert=True)
    except IntegrityError:
        before = Approval.objects.open().filter(act=act.name, subject=subject).first()
        if before is None:
            raise
        if (before.sha256, before.asked_by_id) == (approval.sha256, actor.pk):
            return before
        raise AlreadyAsked(before) from None
    note(APPROVAL_ASKED, approval, person=actor)
    return approval


def _end_overdue(act_name: str, subject: str) -> None:
    overdue = Approval.objects.overdue(clock.now()).filter(act=act_name, subject=subject)
    for approval in overdue.select_for_update(skip_locked=True):
        expire(approval)
