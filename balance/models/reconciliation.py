"""What reconciliation knows of each order, what it has found, and what people did about that."""

from __future__ import annotations

import datetime as dt

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from balance.models.ledger import Entry, OrderKind


class Spending(models.Model):
    """When an order that was sent may have been charged and refunded, as far as we know; kept by the order's services.

    The engine's `Spending` explains the fields.
    """

    ref_id = models.CharField(max_length=64, unique=True)
    order_kind = models.CharField(max_length=10, choices=OrderKind.choices)
    amount = models.BigIntegerField(help_text="Rupiah: the confirmed price, then what the upstream charged.")
    sent_at = models.DateTimeField(help_text="The earliest moment at which it may have been charged.")
    charged = models.BooleanField(null=True, help_text="Empty while not known.")
    known_at = models.DateTimeField(null=True, help_text="Since when `charged` is known.")
    pending_seen_at = models.DateTimeField(null=True, help_text="When we asked and were told that it is pending.")
    refunded = models.BooleanField(null=True, help_text="Empty while not known.")
    refund_known_at = models.DateTimeField(null=True)
    is_final = models.BooleanField(default=False)
    is_parked = models.BooleanField(default=False, help_text="It waits for a person; nobody waits for it.")
    settled_at = models.DateTimeField(null=True, help_text="When reconciliation was done with it.")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(amount__gte=0), name="spending_amount_not_negative"),
            models.CheckConstraint(
                condition=Q(charged__isnull=True, known_at__isnull=True)
                | Q(charged__isnull=False, known_at__isnull=False),
                name="spending_known_since",
            ),
            models.CheckConstraint(
                condition=Q(is_final=False) | Q(charged__isnull=False), name="spending_final_is_known"
            ),
        ]
        indexes = [
            models.Index(fields=["sent_at"], name="spending_unsettled", condition=Q(settled_at__isnull=True)),
            models.Index(fields=["amount", "-sent_at"], name="spending_by_amount"),
        ]

    def __str__(self) -> str:
        return self.ref_id


class Reconciliation(models.Model):
    """How far reconciliation has come. One row, locked by its runs; empty state: the books are not opened yet."""

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    state = models.JSONField(null=True, help_text="`balance.engine.State`")
    compared_at = models.DateTimeField(
        null=True, help_text="When the upstream told the newest balance that was compared for good."
    )

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(only=True), name="reconciliation_is_one_row")]

    def __str__(self) -> str:
        return "not begun" if self.state is None else f"up to {self.state['upto']}"


class ReconciliationRun(models.Model):
    """One comparison of the books with the upstream's balance. Amounts in rupiah."""

    class Trigger(models.TextChoices):
        BEAT = "beat", _("By itself")
        READING = "reading", _("After a balance request")
        PERSON = "person", _("On demand")

    class State(models.TextChoices):
        WAITING = "waiting", _("Waiting")
        BALANCED = "balanced", _("Balanced")
        PROVISIONAL = "provisional", _("Provisional")
        TOPUP = "topup_unacknowledged", _("Top-up, not yet acknowledged")
        UNEXPLAINED = "unexplained", _("Unexplained difference")

    at = models.DateTimeField(default=timezone.now)
    trigger = models.CharField(max_length=10, choices=Trigger.choices)
    state = models.CharField(max_length=20, choices=State.choices)
    readings_evaluated = models.IntegerField(default=0)
    reported = models.BigIntegerField(null=True, help_text="The newest balance that the upstream told.")
    expected = models.BigIntegerField(null=True, help_text="What our books expected at that moment.")
    difference = models.BigIntegerField(null=True, help_text="Reported − expected; empty while it cannot be said.")
    blocking = models.JSONField(default=list, help_text="ref_ids whose outcome it waits for.")

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["-at"], name="reconciliation_run_newest")]

    def __str__(self) -> str:
        return f"{self.state} at {self.at:%Y-%m-%d %H:%M:%S}"


class DifferenceQuerySet(models.QuerySet["Difference"]):
    def open(self) -> DifferenceQuerySet:
        """Differences that nobody has acknowledged yet."""
        return self.filter(state=Difference.State.OPEN)


class Difference(models.Model):
    """The upstream's balance moved by `amount` (rupiah, signed), and no order of ours explains it. Final, and exact."""

    class State(models.TextChoices):
        OPEN = "open", _("Open")
        ACKNOWLEDGED = "acknowledged", _("Acknowledged")

    class Label(models.TextChoices):
        TOPUP = "topup", _("Top-up, not yet acknowledged")
        DOUBLE_REFUND = "double_refund", _("Refunded twice")
        LATE_REFUND = "late_refund", _("Late refund")
        MISSING_REFUND = "missing_refund", _("Refund is missing")
        UNEXPLAINED = "unexplained_debit", _("Unexplained debit")

    amount = models.BigIntegerField(help_text="Rupiah, signed: above zero the upstream has more than our books.")
    from_at = models.DateTimeField(help_text="Until then everything was explained.")
    to_at = models.DateTimeField(help_text="By then it had happened.")
    found_at = models.DateTimeField(default=timezone.now)
    label = models.CharField(max_length=20, choices=Label.choices)
    candidates = models.JSONField(default=list, help_text="Orders that may be behind it: [{ref_id, why}].")
    state = models.CharField(max_length=15, choices=State.choices, default=State.OPEN)
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+", help_text="Empty: by itself."
    )
    note = models.CharField(max_length=500, blank=True)
    entry = models.OneToOneField(Entry, null=True, on_delete=models.PROTECT, related_name="difference")
    closed_with = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="+", help_text="The opposite one that makes it good."
    )
    makes_good = models.OneToOneField(
        "self",
        null=True,
        on_delete=models.PROTECT,
        related_name="made_good_by",
        help_text="The missing refund that has come with this one.",
    )

    objects = DifferenceQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        permissions = [("acknowledge_difference", "Can acknowledge differences and announce top-ups")]
        constraints = [
            models.CheckConstraint(condition=~Q(amount=0), name="difference_not_zero"),
            models.CheckConstraint(condition=Q(to_at__gte=F("from_at")), name="difference_in_order_of_time"),
            models.CheckConstraint(
                condition=Q(state="open", acknowledged_at__isnull=True, entry__isnull=True, closed_with__isnull=True)
                | Q(state="acknowledged", acknowledged_at__isnull=False, entry__isnull=False, closed_with__isnull=True)
                | Q(state="acknowledged", acknowledged_at__isnull=False, entry__isnull=True, closed_with__isnull=False),
                name="difference_acknowledged_with_its_entry",
            ),
            models.CheckConstraint(
                condition=Q(makes_good__isnull=True) | Q(label="late_refund"), name="difference_late_refund_makes_good"
            ),
        ]
        indexes = [models.Index(fields=["id"], name="difference_open", condition=Q(state="open"))]
        triggers = [
            pgtrigger.ReadOnly(name="what_was_found_never_changes", fields=["amount", "from_at", "to_at", "found_at"]),
            pgtrigger.Protect(
                name="acknowledged_for_good",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__state="acknowledged"),
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.label} {self.amount}"

    @property
    def shown_label(self) -> str:
        """What it is called, open or acknowledged."""
        is_settled_topup = self.label == self.Label.TOPUP and self.state == self.State.ACKNOWLEDGED
        return gettext("Top-up") if is_settled_topup else self.get_label_display()


# An announced top-up that has not come after so long is matched no more: a person looks at what comes then.
EXPECTED_FOR = dt.timedelta(days=7)


class ExpectedTopUpQuerySet(models.QuerySet["ExpectedTopUp"]):
    def waiting(self) -> ExpectedTopUpQuerySet:
        """Those that an arriving top-up is matched with: not arrived, not withdrawn, not lapsed."""
        since = timezone.now() - EXPECTED_FOR
        return self.filter(difference__isnull=True, cancelled_at__isnull=True, announced_at__gt=since)


class ExpectedTopUp(models.Model):
    """A top-up that staff announced: when exactly this amount arrives in time, it is acknowledged by itself."""

    amount = models.BigIntegerField(help_text="Rupiah, above zero.")
    note = models.CharField(max_length=500, blank=True)
    announced_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    announced_at = models.DateTimeField(default=timezone.now)
    cancelled_at = models.DateTimeField(null=True)
    cancelled_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    difference = models.OneToOneField(Difference, null=True, on_delete=models.PROTECT, related_name="expected")

    objects = ExpectedTopUpQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="expected_topup_positive"),
            models.CheckConstraint(
                condition=Q(difference__isnull=True) | Q(cancelled_at__isnull=True),
                name="expected_topup_arrived_or_cancelled",
            ),
        ]

    def __str__(self) -> str:
        return f"expected {self.amount}"

    @property
    def is_lapsed(self) -> bool:
        """Whether it has waited so long that it is matched no more."""
        is_open = self.difference_id is None and self.cancelled_at is None
        return is_open and self.announced_at <= timezone.now() - EXPECTED_FOR


class Adjustment(models.Model):
    """A request to take a negative difference into the books: one person proposes it, another one approves it."""

    difference = models.ForeignKey(Difference, on_delete=models.PROTECT, related_name="adjustments")
    reason = models.CharField(max_length=500)
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField(default=timezone.now)
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    declined_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(reason__gt=""), name="adjustment_has_a_reason"),
            models.CheckConstraint(
                condition=Q(approved_by__isnull=True) | ~Q(approved_by=F("proposed_by")),
                name="adjustment_needs_two_people",
            ),
            models.CheckConstraint(
                condition=Q(decided_at__isnull=True, approved_by__isnull=True, declined_by__isnull=True)
                | Q(decided_at__isnull=False, approved_by__isnull=False, declined_by__isnull=True)
                | Q(decided_at__isnull=False, approved_by__isnull=True, declined_by__isnull=False),
                name="adjustment_decided_by_one",
            ),
            models.UniqueConstraint(
                fields=["difference"], condition=Q(decided_at__isnull=True), name="adjustment_proposed_once"
            ),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="what_was_proposed_never_changes", fields=["difference", "reason", "proposed_by", "proposed_at"]
            ),
            pgtrigger.Protect(
                name="decided_for_good",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__decided_at__isnull=False),
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"adjustment of {self.difference}"
