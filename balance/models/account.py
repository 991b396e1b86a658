"""What we know of our account at the upstream: the balances it told us, and whether it lets us in."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class ReadingQuerySet(models.QuerySet["Reading"]):
    def of_their_time(self) -> ReadingQuerySet:
        """Readings that were true between sending and answer, without those that may tell an older balance."""
        return self.exclude(source=Reading.Source.PAST)


class Reading(models.Model):
    """A balance that the upstream told us, in rupiah, with the interval in which it was true.

    A transaction's `balance` is the one "after the operation" (document, Transaction): true at the sending that made
    it, but of the past in the answer to a status request or to a repeated payment.
    """

    class Source(models.TextChoices):
        BALANCE = "balance", _("Balance request")
        ORDER = "order", _("Answer to an order's sending")
        PAST = "past", _("Answer that may tell an older balance")

    balance = models.BigIntegerField(help_text="Rupiah; below zero when the account is in debt.")
    source = models.CharField(max_length=10, choices=Source.choices)
    ref_id = models.CharField(max_length=64, blank=True)
    sent_at = models.DateTimeField(help_text="When our request left.")
    received_at = models.DateTimeField(help_text="When its answer was in.")

    objects = ReadingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(received_at__gte=models.F("sent_at")), name="reading_after_request"),
        ]
        indexes = [
            models.Index(fields=["-received_at"], name="reading_newest"),
            models.Index(fields=["sent_at"], name="reading_by_sending"),
        ]

    def __str__(self) -> str:
        return f"{self.balance} at {self.received_at:%Y-%m-%d %H:%M:%S}"


class UpstreamAccount(models.Model):
    """The one account at the upstream that this database belongs to, and how it answers us at present."""

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    fingerprint = models.CharField(max_length=64, blank=True, help_text="Hash of the upstream's address and Secret ID.")
    last_answer_at = models.DateTimeField(null=True, help_text="When it last answered anything.")
    unreachable_since = models.DateTimeField(null=True, help_text="Since when it has answered nothing.")
    refused_since = models.DateTimeField(null=True, help_text="Since when nothing may be sent: it refuses our account.")
    refused_code = models.CharField(max_length=40, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(only=True), name="upstream_account_is_one_row")]

    def __str__(self) -> str:
        return self.refused_code or ("unreachable" if self.unreachable_since else "ok")
