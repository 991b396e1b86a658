"""What somebody has to know now. Opened and closed by rules, never by hand."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class AlertQuerySet(models.QuerySet["Alert"]):
    def open(self) -> AlertQuerySet:
        """Alerts whose reason still stands, the gravest first."""
        return self.filter(closed_at__isnull=True).order_by("severity", "opened_at")


class Alert(models.Model):
    """One reason for alarm, from when it arose until it ended."""

    class Kind(models.TextChoices):
        LOW_BALANCE = "low_balance", _("Balance is low")
        UNEXPLAINED_DIFFERENCE = "unexplained_difference", _("Unexplained difference")
        NOT_COMPARED = "not_compared", _("Books not compared for long")
        CREDENTIALS_REFUSED = "credentials_refused", _("The upstream refuses our account")
        UPSTREAM_UNREACHABLE = "upstream_unreachable", _("The upstream cannot be reached")
        ORDER_UNKNOWN = "order_unknown", _("Outcome of an order unknown for long")
        PROCESS_SILENT = "process_silent", _("A process is silent")

    class Severity(models.IntegerChoices):
        CRITICAL = 1, _("Critical")
        WARNING = 2, _("Warning")

    kind = models.CharField(max_length=30, choices=Kind.choices)
    key = models.CharField(max_length=100, blank=True, help_text="Which one: a ref_id, a process, a difference.")
    severity = models.IntegerField(choices=Severity.choices)
    facts = models.JSONField(default=dict, help_text="What its text names: rupiah, ref_ids, since when.")
    opened_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True)

    objects = AlertQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "key"], condition=Q(closed_at__isnull=True), name="alert_open_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}".rstrip()
