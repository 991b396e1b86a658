"""What people were told about alerts, outside these pages."""

from __future__ import annotations

import datetime as dt

from django.db import models
from django.utils.translation import gettext_lazy as _

from balance.models.alerts import Alert


class AlertNotice(models.Model):
    """One alert on one way to people: when it was told, and its end. Told again hourly while the alert is open.

    A message whose fate is not known counts as told (`fault` says so): better late again than every minute anew.
    """

    class Channel(models.TextChoices):
        EMAIL = "email", _("E-mail")
        WEBHOOK = "webhook", _("Webhook")

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="notices")
    channel = models.CharField(max_length=10, choices=Channel.choices)
    told_at = models.DateTimeField(null=True, help_text="When it was told last.")
    end_told_at = models.DateTimeField(null=True, help_text="When its end was told, once.")
    claimed_until = models.DateTimeField(
        null=True, help_text="Not told before this: somebody is at it now, or it has just failed."
    )
    failures = models.PositiveSmallIntegerField(default=0, help_text="Attempts in a row that certainly failed.")
    fault = models.CharField(max_length=100, blank=True, help_text="Why the last attempt failed, or may have.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["alert", "channel"], name="alert_notice_once")]
        indexes = [
            models.Index(
                fields=["channel"], condition=models.Q(end_told_at__isnull=True), name="alert_notice_unfinished"
            )
        ]

    def __str__(self) -> str:
        return f"{self.alert} by {self.channel}"

    @property
    def last_told_at(self) -> dt.datetime | None:
        """When it, or its end, was told last."""
        return self.end_told_at or self.told_at
