"""Complaints about orders: the customer's words, the question to the upstream, and the result.

A complaint says nothing about the order: no status moves with it.
"""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from audit.history import history_of
from core.looks import LookChoices
from core.rights import Right
from core.transactions import TRANSACTION_NUMBER
from core.triggers import append_only, never_truncated, own_transaction
from purchases.models import Order
from staff.models import User


class State(LookChoices):
    """The states of a complaint."""

    OPEN = "open", "message-report", "held", _("Complaint open")
    ASKED = "asked", "send", "pending", _("Provider asked")
    ANSWERED = "answered", "message-circle-question", "queued", _("Answered")
    CLOSED = "closed", "circle-check", "success", _("Complaint closed")


# A closed complaint stays closed: a new complaint is another row.
MOVES: dict[State, tuple[State, ...]] = {
    State.OPEN: (State.ASKED, State.ANSWERED, State.CLOSED),
    State.ASKED: (State.ANSWERED, State.CLOSED),
    State.ANSWERED: (State.ASKED, State.CLOSED),
    State.CLOSED: (),
}


class ComplaintQuerySet(models.QuerySet["Complaint"]):
    def open(self) -> ComplaintQuerySet:
        """The complaints that are not closed."""
        return self.exclude(state=State.CLOSED)

    def for_file(self) -> ComplaintQuerySet:
        """The complaints with everything that a row of the file holds."""
        return self.select_related("opened_by", "order")


class Complaint(models.Model):
    """A customer's complaint about one order, until it is closed."""

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="complaints", db_index=False)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    opened_at = models.DateTimeField()
    opened_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    due_at = models.DateTimeField(help_text="When somebody has to look at it again, at the latest.")
    closed_at = models.DateTimeField(null=True)

    objects = ComplaintQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        permissions = Right.of("complaints.complaint")
        constraints = [
            models.UniqueConstraint(
                fields=["order"], condition=~Q(state=State.CLOSED), name="complaint_open_once_an_order"
            ),
            models.CheckConstraint(condition=Q(state__in=sorted(State.values)), name="complaint_state_known"),
            models.CheckConstraint(
                condition=Q(state=State.CLOSED, closed_at__isnull=False)
                | Q(~Q(state=State.CLOSED), closed_at__isnull=True),
                name="complaint_closed_at_iff_closed",
            ),
        ]
        indexes = [
            models.Index(fields=["order", "-id"], name="complaint_of_order"),
            models.Index(fields=["due_at", "id"], name="complaint_due", condition=~Q(state=State.CLOSED)),
            models.Index(fields=["-opened_at", "-id"], name="complaint_newest"),
        ]
        triggers = [
            pgtrigger.FSM(
                name="moves_as_allowed",
                field="state",
                transitions=sorted((before.value, after.value) for before, afters in MOVES.items() for after in afters),
            ),
            pgtrigger.ReadOnly(name="what_began_it_never_changes", fields=["order", "opened_at", "opened_by"]),
            pgtrigger.Protect(
                name="closed_once", operation=pgtrigger.Update, condition=pgtrigger.Q(old__state=State.CLOSED.value)
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"complaint {self.pk}"

    def get_absolute_url(self) -> str:
        return f"{reverse('arrived')}?{urlencode({'q': self.order.ref_id})}#complaint"

    @property
    def badge(self) -> SafeString:
        """The badge of its state."""
        return State(self.state).badge

    @property
    def is_overdue(self) -> bool:
        """Whether nobody has looked after it in time."""
        return self.state != State.CLOSED and self.due_at < timezone.now()


class ComplaintEvent(models.Model):
    """A line in the history of a complaint: the person, the words, and the state since then."""

    complaint = models.ForeignKey(Complaint, on_delete=models.PROTECT, related_name="events", db_index=False)
    at = models.DateTimeField()
    person = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=10, choices=State.choices)
    words = models.CharField(max_length=500)
    due_at = models.DateTimeField()
    txid = models.BigIntegerField(db_default=TRANSACTION_NUMBER, editable=False)

    class Meta:
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=Q(words__gt=""), name="complaint_event_has_words")]
        indexes = [
            models.Index(fields=["complaint", "id"], name="complaint_event_story"),
            models.Index(fields=["txid", "id"], name="complaint_event_to_seal"),
        ]
        triggers = [*append_only(), own_transaction()]

    def __str__(self) -> str:
        return f"{self.state}: {self.words}"


ComplaintHistory = history_of(Complaint)
