"""Reasons for a shift's differences after a blind count: an audit event for each count, written once, never changed.

The shift itself keeps the count and the words of that moment.
"""

from collections import defaultdict
from collections.abc import Iterable

from django.conf import settings
from django.db import transaction
from django.utils import translation
from django.utils.translation import gettext

from audit.models import AuditEvent
from audit.services import record
from core.rights import Right
from drawers.errors import DrawerRefused
from drawers.events import CLOSING_EXPLAINED, OPENING_EXPLAINED
from drawers.models import DrawerDay, Shift
from drawers.services.locking import lock_shift
from staff.models import User

#: The two counts of a shift, by their names in a form.
EVENTS = {"opening": OPENING_EXPLAINED, "closing": CLOSING_EXPLAINED}
_COUNTS = {event.key: count for count, event in EVENTS.items()}


def words_without_reason() -> str:
    """The words that a shift keeps as the reason if a person counted blind and typed none."""
    return gettext("Counted without seeing what is expected; no reason was typed.")


def explanations_of(shifts: Iterable[Shift]) -> dict[int, dict[str, AuditEvent]]:
    """The reasons that were written after the counts of these shifts: shift → count ("opening", "closing") → event."""
    by_subject = {str(shift): shift.pk for shift in shifts if shift.opening_difference or shift.difference}
    events = AuditEvent.objects.filter(subject__in=by_subject, kind__in=_COUNTS).select_related("person")
    explained: dict[int, dict[str, AuditEvent]] = defaultdict(dict)
    for event in events.order_by("pk") if by_subject else ():
        explained[by_subject[event.subject]][_COUNTS[event.kind]] = event
    return explained


def unexplained(shift: Shift, explained: dict[str, AuditEvent]) -> dict[str, int]:
    """The differences (rupiah) without a reason, by count."""
    differences = {"opening": shift.opening_difference, "closing": shift.difference or 0}
    reasons = {"opening": shift.opening_reason, "closing": shift.reason}
    return {
        count: difference
        for count, difference in differences.items()
        if difference and count not in explained and _is_without_reason(reasons[count])
    }


def may_explain(shift: Shift, person: User) -> bool:
    """Whether this person uses drawers, and owns the shift, sees all shifts or manages drawers."""
    sees = person.has_perm(Right.VIEW_SHIFTS) or person.has_perm(Right.MANAGE_DRAWERS)
    return person.has_perm(Right.USE_DRAWERS) and (sees or shift.cashier_id == person.pk)


def explain(shift: Shift, *, count: str, reason: str, actor: User) -> None:
    """Add the reason why this count ("opening" or "closing") differs, once, until the day of its shift is signed.

    Raises `DrawerRefused`.
    """
    with transaction.atomic():
        current = lock_shift(shift.pk, is_closed=True)
        if not may_explain(current, actor):
            raise DrawerRefused("not_yours")
        if current.day_id and DrawerDay.objects.select_for_update(no_key=True).get(pk=current.day_id).signed_at:
            raise DrawerRefused("day_signed")
        difference = unexplained(current, explanations_of([current])[current.pk]).get(count)
        if difference is None:
            raise DrawerRefused("explained")
        if not reason.strip():
            raise DrawerRefused("no_explanation")
        facts = {"drawer": current.drawer.name, "difference": difference, "reason": reason.strip()[:500]}
        record(EVENTS[count], actor=actor, subject=str(current), facts=facts)


def _is_without_reason(reason: str) -> bool:
    """Whether this is the text for "no reason", in the language of the person who counted."""
    words = []
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            words.append(words_without_reason())
    return reason in words
