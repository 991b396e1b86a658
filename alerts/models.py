"""Alerts: facts that somebody has to know now. The rules of the kinds open and close them; nobody does it by hand."""

from __future__ import annotations

import datetime as dt

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from core.rights import Right
from core.triggers import append_only, never_truncated


class Severity(models.IntegerChoices):
    """The severity of an alert."""

    CRITICAL = 1, _("Critical")
    WARNING = 2, _("Warning")

    @property
    def look(self) -> tuple[str, str]:
        """Icon and colour; the label stands beside them, so that colour is never the only sign."""
        return ("alert-octagon", "bad") if self is Severity.CRITICAL else ("alert-triangle", "warn")


class AlertQuerySet(models.QuerySet["Alert"]):
    def open(self) -> AlertQuerySet:
        """Alerts whose reason still stands, the gravest first."""
        return self.filter(closed_at__isnull=True).order_by("severity", "opened_at")


class Alert(models.Model):
    """One reason for alarm, from when it arose until it ended."""

    kind = models.CharField(max_length=30, help_text="The name of a file in `alerts/kinds/`.")
    key = models.CharField(max_length=100, blank=True, help_text="Which one: a ref_id, a process, a difference.")
    severity = models.IntegerField(choices=Severity.choices)
    facts = models.JSONField(default=dict, help_text="What its text names: rupiah, ref_ids, since when.")
    opened_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True)

    objects = AlertQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        permissions = Right.of("alerts.alert")
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["-opened_at", "-id"], name="alert_newest"),
            models.Index(fields=["closed_at"], name="alert_by_end"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "key"], condition=Q(closed_at__isnull=True), name="alert_open_once"
            ),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="what_it_is_about_never_changes", fields=["kind", "key", "opened_at"]),
            pgtrigger.Protect(
                name="closed_once", operation=pgtrigger.Update, condition=pgtrigger.Q(old__closed_at__isnull=False)
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}".rstrip()

    @property
    def look(self) -> tuple[str, str]:
        """Icon and colour of its severity."""
        return Severity(self.severity).look


class AlertSnooze(models.Model):
    """A person hid one alert from their own pages, or showed it again; the last row about an alert counts."""

    alert = models.ForeignKey(Alert, on_delete=models.PROTECT, related_name="snoozes")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False)
    at = models.DateTimeField()
    until = models.DateTimeField(help_text="The alert is hidden until then; the same as `at` if it was shown again.")
    severity = models.IntegerField(
        choices=Severity.choices, help_text="Its severity when it was hidden; a graver alert is shown again."
    )
    grade = models.IntegerField(help_text="How bad it was within that severity; a worse one is shown again.")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(until__gte=models.F("at")), name="alert_snooze_ends_after_it_began")
        ]
        indexes = [models.Index(fields=["person", "-at"], name="alert_snooze_of_person")]
        triggers = append_only()

    def __str__(self) -> str:
        return f"{self.alert} until {self.until}"


class Evaluation(models.Model):
    """The turn to evaluate: one row, so that two evaluators do not work at once."""

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    turn_until = models.DateTimeField(help_text="Until then somebody evaluates, by the database's clock.")

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(only=True), name="evaluation_is_one_row")]

    def __str__(self) -> str:
        return f"until {self.turn_until}"


class AlertNotice(models.Model):
    """The messages about one alert on one way: when people were notified of it, and of its end.

    A message that may have arrived has a time and a fault: it is sent again, later than a failed one.
    """

    class Fault(models.TextChoices):
        FAILED = "failed", _("failed")
        NO_ANSWER = "no_answer", _("no answer in time")

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="notices")
    way = models.CharField(max_length=16, help_text="A keyed hash of the address.")
    service = models.CharField(max_length=100, help_text="What pages call the way, for example Telegram.")
    notified_at = models.DateTimeField(null=True, help_text="When the last message about it left.")
    end_notified_at = models.DateTimeField(null=True, help_text="When the message about its end left, once.")
    not_before = models.DateTimeField(null=True, help_text="Until then it is being sent, or waits for the next try.")
    failures = models.PositiveSmallIntegerField(default=0, help_text="Attempts in a row that were not confirmed.")
    fault = models.CharField(max_length=10, choices=Fault.choices, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["alert", "way"], name="alert_notice_once")]
        indexes = [
            models.Index(fields=["way"], condition=Q(end_notified_at__isnull=True), name="alert_notice_unfinished")
        ]

    def __str__(self) -> str:
        return f"{self.alert} by {self.service}"

    @property
    def last_notified_at(self) -> dt.datetime | None:
        """The time of the last message about the alert or its end."""
        return self.end_notified_at or self.notified_at


class AddedWay(models.Model):
    """A way to people that was added on a page. It is tried before it is kept, and deleted when it is removed.

    Only the key that seals its address ever changes.
    """

    name = models.CharField(max_length=40, help_text="What people call it.")
    service = models.CharField(max_length=100, help_text="As in `AlertNotice`.")
    way = models.CharField(max_length=16, unique=True, help_text="As in `AlertNotice`.")
    sealed_address = models.TextField(help_text="The address, which holds a token or a password (`core.sealing`).")
    added_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", db_index=False)
    added_at = models.DateTimeField(default=timezone.now)

    class Meta:
        default_permissions = ()
        triggers = [
            pgtrigger.Protect(
                name="never_changed",
                operation=pgtrigger.Update,
                condition=pgtrigger.AnyChange(exclude=["sealed_address"]),
            ),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.service})"


class ResultChoice(models.Model):
    """The results that one person wants to be sent by the ways of alerts."""

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, primary_key=True, related_name="+"
    )
    evening = models.BooleanField(default=False)
    weekly = models.BooleanField(default=False)
    chosen_at = models.DateTimeField(help_text="When the person chose; nothing that was due before is sent.")

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.person_id}"


class ResultMessage(models.Model):
    """One result on one way: claimed before it is sent, so that it never leaves twice."""

    class Span(models.TextChoices):
        """The kind of result, named like the field of `ResultChoice`."""

        EVENING = "evening", _("Result of the day")
        WEEKLY = "weekly", _("Result of the week")

    class State(models.TextChoices):
        """The outcome of the sending."""

        SENDING = "sending", _("being sent")
        SENT = "sent", _("sent")
        FAILED = "failed", _("failed, tried again")
        UNCLEAR = "unclear", _("no answer: it may have arrived, and is not sent again")

    span = models.CharField(max_length=7, choices=Span.choices)
    day = models.DateField(help_text="Its first day.")
    way = models.CharField(max_length=16, help_text="As in `AlertNotice`.")
    service = models.CharField(max_length=100)
    state = models.CharField(max_length=7, choices=State.choices)
    at = models.DateTimeField(help_text="When it was last claimed.")
    tries = models.PositiveSmallIntegerField(default=1)

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["span", "day", "way"], name="result_message_once")]

    def __str__(self) -> str:
        return f"{self.span} {self.day} by {self.service}"
