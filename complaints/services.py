"""Opens complaints, asks upstream, answers and closes them. Each step takes the row lock, words and a due time.

No step touches the order.
"""

import datetime as dt

import structlog
from django.db import IntegrityError, transaction

from complaints.errors import ComplaintRefused
from complaints.models import MOVES, Complaint, ComplaintEvent, State
from core import clock
from core.rights import Right
from policies.services import policies
from purchases.models import Order
from staff.models import User

log = structlog.get_logger()


def open_complaint(order: Order, *, words: str, actor: User, due_at: dt.datetime | None = None) -> Complaint:
    """Open a complaint with what the customer says. Raises `ComplaintRefused`, also while another one is open."""
    _refuse_unless_may(actor, words)
    now = clock.now()
    try:
        with transaction.atomic():
            complaint = Complaint.objects.create(
                order=order, opened_at=now, opened_by_id=actor.pk, due_at=due_at or _next_due(now)
            )
            _note(complaint, words, actor, now)
    except IntegrityError:
        raise ComplaintRefused("open_already") from None
    log.info("complaint_opened", complaint=complaint.pk, ref_id=order.ref_id)
    return complaint


def move_complaint(
    complaint: Complaint, *, to: str | None, words: str, actor: User, due_at: dt.datetime | None = None
) -> Complaint:
    """Bring it to a state, or only write a note (`to`: None). Due again at `due_at`, else in some hours.

    Raises `ComplaintRefused`, also if this step is no longer possible after somebody else's.
    """
    _refuse_unless_may(actor, words)
    now = clock.now()
    with transaction.atomic():
        current = Complaint.objects.select_for_update(no_key=True).get(pk=complaint.pk)
        before = State(current.state)
        wanted = before if to is None else State(to)
        if before is State.CLOSED or (wanted is not before and wanted not in MOVES[before]):
            raise ComplaintRefused("moved")
        current.state, current.due_at = wanted, due_at or _next_due(now)
        current.closed_at = now if wanted is State.CLOSED else None
        current.save(update_fields=["state", "due_at", "closed_at"])
        _note(current, words, actor, now)
    log.info("complaint_moved", complaint=current.pk, before=before.value, after=wanted.value)
    return current


def overdue(now: dt.datetime) -> list[Complaint]:
    """The complaints whose time is over, the longest first; 50 at most."""
    late = Complaint.objects.open().filter(due_at__lt=now).select_related("order__payment", "opened_by")
    return list(late.order_by("due_at", "pk")[:50])


def _next_due(now: dt.datetime) -> dt.datetime:
    return now + dt.timedelta(hours=policies().complaint_due_hours)


def _refuse_unless_may(actor: User, words: str) -> None:
    if not actor.has_perm(Right.HANDLE_COMPLAINTS):
        raise ComplaintRefused("no_right")
    if not words.strip():
        raise ComplaintRefused("no_words")


def _note(complaint: Complaint, words: str, actor: User, now: dt.datetime) -> None:
    ComplaintEvent.objects.create(
        complaint=complaint,
        at=now,
        person_id=actor.pk,
        state=complaint.state,
        words=words.strip()[:500],
        due_at=complaint.due_at,
    )
