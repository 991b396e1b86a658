"""The decision of two people about the end of an order."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from approvals.models import Approval
from audit.history import history_of
from core.triggers import never_truncated
from purchases.models.orders import Order
from purchases.states import Status


class Verdict(models.Model):
    """The end of an order that the upstream leaves open or took back: one person proposes, another approves."""

    class Outcome(models.TextChoices):
        SUCCESS = Status.SUCCESS.value, _("Success: the customer has it")
        FAILED = Status.FAILED.value, _("Failed: nothing was delivered")
        REVERSED = Status.REVERSED.value, _("Reversed: the provider took it back")

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="verdicts")
    outcome = models.CharField(max_length=10, choices=Outcome.choices)
    order_status = models.CharField(
        max_length=12,
        choices=Status.choices,
        blank=True,
        help_text="The order's status at the proposal: void once that changes. Empty in rows of older versions.",
    )
    sn = models.CharField(
        max_length=200, blank=True, help_text="The SN that the person has seen, for a success; the receipt shows it."
    )
    evidence = models.CharField(max_length=500, help_text="Where it was seen.")
    reason = models.CharField(max_length=500)
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    proposed_at = models.DateTimeField(default=timezone.now)
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    declined_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Empty also if it expired without a decision.",
    )
    decided_at = models.DateTimeField(null=True)
    approval = models.OneToOneField(
        Approval, null=True, on_delete=models.PROTECT, related_name="+", help_text="Where the second person decides."
    )

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(evidence__gt="", reason__gt=""), name="verdict_has_its_reasons"),
            models.CheckConstraint(
                condition=Q(outcome__in=["success", "failed", "reversed"]), name="verdict_outcome_known"
            ),
            models.CheckConstraint(condition=Q(outcome="success") | Q(sn=""), name="verdict_sn_of_a_success"),
            models.CheckConstraint(
                condition=Q(approved_by__isnull=True) | ~Q(approved_by=F("proposed_by")),
                name="verdict_needs_two_people",
            ),
            models.CheckConstraint(
                condition=Q(decided_at__isnull=True, approved_by__isnull=True, declined_by__isnull=True)
                | Q(decided_at__isnull=False, approved_by__isnull=False, declined_by__isnull=True)
                | Q(decided_at__isnull=False, approved_by__isnull=True),
                name="verdict_decided_by_one",
            ),
            models.UniqueConstraint(fields=["order"], condition=Q(decided_at__isnull=True), name="verdict_open_once"),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="what_was_proposed_never_changes",
                fields=["order", "outcome", "order_status", "sn", "evidence", "reason", "proposed_by", "proposed_at"],
            ),
            pgtrigger.Protect(
                name="decided_once", operation=pgtrigger.Update, condition=pgtrigger.Q(old__decided_at__isnull=False)
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.order}: {self.outcome}"


VerdictHistory = history_of(Verdict)
