"""Callbacks as they came in, stored before anything is done about them."""

from __future__ import annotations

import datetime as dt

import pgtrigger
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class ReceiptQuerySet(models.QuerySet["Receipt"]):
    def due(self) -> ReceiptQuerySet:
        """Receipts that wait though their own task should have processed them, oldest first."""
        a_while_ago = timezone.now() - dt.timedelta(seconds=3)
        return self.filter(state=Receipt.State.RECEIVED, received_at__lt=a_while_ago).order_by("pk")


class Receipt(models.Model):
    """One callback: its bytes, where it came from, and what became of it."""

    class State(models.TextChoices):
        RECEIVED = "received", _("Waiting")
        APPLIED = "applied", _("Processed")
        HINT = "hint", _("Status asked for")
        UNMATCHED = "unmatched", _("No such order")
        MALFORMED = "malformed", _("Not understood")

    received_at = models.DateTimeField(default=timezone.now)
    delivery_id = models.CharField(max_length=100, blank=True)
    content_hash = models.CharField(max_length=64, help_text="SHA-256 of the body, hex.")
    event = models.CharField(max_length=60, blank=True)
    ref_id = models.CharField(max_length=64, blank=True, db_index=True)
    body = models.BinaryField(help_text="The raw bytes.")
    headers = models.JSONField(help_text="Without the signature.")
    source_address = models.GenericIPAddressField(null=True)
    is_signed = models.BooleanField(help_text="The body itself was authenticated, so that it may settle an order.")
    repeats = models.IntegerField(default=0, help_text="How often the very same delivery came again.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.RECEIVED)
    processed_at = models.DateTimeField(null=True)
    result = models.CharField(max_length=300, blank=True)

    objects = ReceiptQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        permissions = [("process_receipt", "Can process a callback again")]
        constraints = [
            models.UniqueConstraint(fields=["delivery_id", "content_hash"], name="receipt_once"),
            models.CheckConstraint(
                condition=Q(state="received", processed_at__isnull=True) | ~Q(state="received"), name="receipt_waiting"
            ),
        ]
        indexes = [models.Index(fields=["id"], name="receipt_due", condition=Q(state="received"))]
        triggers = [
            pgtrigger.ReadOnly(
                name="what_came_in_never_changes",
                fields=["received_at", "delivery_id", "content_hash", "body", "headers", "source_address", "is_signed"],
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return f"{self.event or 'callback'} {self.ref_id}"


class Refusal(models.Model):
    """A callback that was turned away unread: counted for ever, described for the last few only."""

    KEPT = 200

    at = models.DateTimeField(default=timezone.now)
    reason = models.CharField(max_length=60)
    source_address = models.GenericIPAddressField(null=True)
    size = models.IntegerField(help_text="Bytes of the body.")

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.reason} from {self.source_address}"


class RefusalCount(models.Model):
    """How many callbacks were turned away, by reason and day."""

    day = models.DateField()
    reason = models.CharField(max_length=60)
    count = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["day", "reason"], name="refusal_count_once")]

    def __str__(self) -> str:
        return f"{self.day} {self.reason}: {self.count}"
