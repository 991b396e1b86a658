"""Callbacks as they arrived, stored before they are processed."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _, pgettext_lazy

from audit.history import history_of
from core import clock
from core.looks import LookChoices
from core.rights import Right
from core.triggers import never_truncated
from policies.bounds import BOUNDS


class CallbackState(LookChoices):
    """The state of a callback's processing."""

    RECEIVED = "received", "clock", "pending", _("Waiting")
    APPLIED = "applied", "circle-check", "good", pgettext_lazy("callback", "Processed")
    HINT = "hint", "refresh", "held", _("Status checked")
    UNMATCHED = "unmatched", "alert-triangle", "warn", _("No such order")
    MALFORMED = "malformed", "alert-triangle", "warn", _("Not understood")


class RefusalReason(models.TextChoices):
    """The reason why a callback is rejected before it is processed."""

    SOURCE = "source", _("source address not allowed")
    TOO_LARGE = "too_large", _("body too large")
    CONTENT_TYPE = "content_type", _("not application/json")
    NOT_JSON = "not_json", _("not a strict JSON object")
    SIGNATURE = "signature", _("signature not genuine")


# A body is evidence and kept for at least this many days, under any policy.
LEAST_DAYS = BOUNDS["callbacks_kept_days"].least

_SELDOM = sorted(set(CallbackState.values) - {CallbackState.APPLIED})


class CallbackQuerySet(models.QuerySet["Callback"]):
    def due(self) -> CallbackQuerySet:
        """Waiting callbacks to process now, the oldest due first; new ones are always due, even if a clock is wrong."""
        is_due = Q(tries=0) | Q(next_try_at__lte=clock.now())
        return self.filter(is_due, state=CallbackState.RECEIVED).order_by("next_try_at", "pk")


class Callback(models.Model):
    """One callback: its bytes, its source, and its result."""

    received_at = models.DateTimeField(default=timezone.now)
    delivery_id = models.CharField(max_length=100, blank=True)
    content_hash = models.CharField(max_length=64, help_text="SHA-256 of the body, hex.")
    event = models.CharField(max_length=60, blank=True)
    ref_id = models.CharField(max_length=64, blank=True, db_index=True)
    body = models.BinaryField(help_text="The raw bytes; none once they are gone.")
    body_gone_at = models.DateTimeField(
        null=True, help_text="When the body was deleted after its days; the hash stays."
    )
    headers = models.JSONField(help_text="The request's headers, without the signature.")
    source_address = models.GenericIPAddressField(null=True)
    is_signed = models.BooleanField(help_text="The body itself was authenticated, so that it may settle an order.")
    repeats = models.IntegerField(default=0, help_text="How often the very same bytes came again.")
    state = models.CharField(max_length=10, choices=CallbackState.choices, default=CallbackState.RECEIVED)
    processed_at = models.DateTimeField(null=True)
    result = models.CharField(
        max_length=300, blank=True, help_text='Statuses ("pending → success"), or the fields that make no sense.'
    )
    next_try_at = models.DateTimeField(default=timezone.now, help_text="While it waits: when the sweep takes it.")
    tries = models.IntegerField(default=0, help_text="How often our own code failed on it.")
    fault = models.CharField(max_length=300, blank=True, help_text="How our own code failed on it last.")

    objects = CallbackQuerySet.as_manager()
    # A verification of the audit computes it again, unless the bytes were properly deleted
    digests = {"content_hash": ("body", "body_gone_at")}

    class Meta:
        default_permissions = ()
        permissions = Right.of("callbacks.callback")
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["content_hash", "is_signed"], name="callback_once"),
            models.CheckConstraint(
                condition=Q(state="received", processed_at__isnull=True) | ~Q(state="received"), name="callback_waiting"
            ),
        ]
        indexes = [
            models.Index(fields=["next_try_at"], name="callback_due", condition=Q(state="received")),
            models.Index(fields=["-received_at", "-id"], name="callback_newest"),
            # Nearly all callbacks are processed: this index holds only the others.
            models.Index(
                fields=["state", "-received_at", "-id"], name="callback_by_state", condition=Q(state__in=_SELDOM)
            ),
            models.Index(fields=["delivery_id"], opclasses=["varchar_pattern_ops"], name="callback_by_delivery"),
            models.Index(fields=["received_at"], name="callback_with_body", condition=Q(body_gone_at__isnull=True)),
            models.Index(fields=["body_gone_at"], name="callback_gone", condition=Q(body_gone_at__isnull=False)),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="what_came_in_never_changes",
                fields=["received_at", "delivery_id", "content_hash", "headers", "source_address", "is_signed"],
            ),
            pgtrigger.Protect(
                name="body_changes_only_to_none",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "OLD.body IS DISTINCT FROM NEW.body"
                    " AND (NEW.body <> '' OR NEW.body_gone_at IS NOT DISTINCT FROM OLD.body_gone_at)"
                ),
            ),
            # The history has these columns, so that a verification of the audit checks the same rule between two
            # copies.
            pgtrigger.Protect(
                name="body_goes_once_and_late",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(
                    "OLD.body_gone_at IS DISTINCT FROM NEW.body_gone_at"
                    " AND (OLD.body_gone_at IS NOT NULL OR NEW.state = 'received' OR NEW.body_gone_at > now()"
                    f" OR NEW.body_gone_at < OLD.received_at + interval '{LEAST_DAYS} days')"
                ),
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.event or 'callback'} {self.ref_id}"

    @property
    def badge(self) -> SafeString:
        """Its state, for a page."""
        return CallbackState(self.state).badge


# The body is kept once, beside its hash. Our own retries say nothing about money.
CallbackHistory = history_of(Callback, exclude=["body", "headers", "repeats", "next_try_at", "tries", "fault"])


class CallbackRefusal(models.Model):
    """A callback that was rejected before processing: each is counted, the last few are described."""

    KEPT = 200

    at = models.DateTimeField(default=timezone.now)
    reason = models.CharField(max_length=20, choices=RefusalReason.choices)
    source_address = models.GenericIPAddressField(null=True)
    size = models.IntegerField(help_text="Bytes of the body.")

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.reason} from {self.source_address}"


class CallbackRefusalCount(models.Model):
    """The number of rejected callbacks, by reason and day."""

    day = models.DateField()
    reason = models.CharField(max_length=20, choices=RefusalReason.choices)
    count = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["day", "reason"], name="refusal_count_once")]

    def __str__(self) -> str:
        return f"{self.day} {self.reason}: {self.count}"
