"""The timeline of an order, line by line, its incidents, and what people write about it: notes, and tags."""

import pgtrigger
from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from audit.history import history_of
from core.search import MOST_FOUND, words_of, words_that_begin
from core.transactions import TRANSACTION_NUMBER
from core.triggers import append_only, never_truncated, own_transaction
from purchases.models.orders import Order
from purchases.states import Status


class OrderEvent(models.Model):
    """A line of an order's timeline: the event, and its source. Append-only."""

    class Source(models.TextChoices):
        STAFF = "staff", _("Staff")
        SUBMIT = "submit", _("Answer to our request")
        POLL = "poll", _("Status check")
        CALLBACK = "callback", _("Callback")

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="events")
    at = models.DateTimeField(default=timezone.now)
    from_status = models.CharField(max_length=12, blank=True)
    to_status = models.CharField(max_length=12, choices=Status.choices)
    source = models.CharField(max_length=10, choices=Source.choices)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    note = models.CharField(max_length=500, blank=True, help_text="A person's words, or the upstream's.")
    facts = models.JSONField(default=dict, help_text="What our own words are made of: {code, …}; rupiah, ISO times.")
    raw = models.JSONField(null=True, help_text="The upstream's message; it holds no secret and no signature.")
    callback_id = models.BigIntegerField(null=True, help_text="The stored callback that said so.")
    txid = models.BigIntegerField(db_default=TRANSACTION_NUMBER, editable=False)

    class Meta:
        ordering = ["at", "pk"]
        indexes = [
            models.Index(fields=["order", "at"], name="order_event_timeline"),
            models.Index(fields=["txid", "id"], name="order_event_to_seal"),
        ]
        triggers = [*append_only(), own_transaction()]

    def __str__(self) -> str:
        return f"{self.from_status} → {self.to_status}"


class Incident(models.Model):
    """An event that should never happen to money. The order's row stays as it was; a person looks into it."""

    class Kind(models.TextChoices):
        CONTRADICTION = "contradiction", _("The provider contradicts a final status")
        PRICE_ABOVE_MAX = "price_above_max", _("Charged more than the confirmed price")
        OTHER_PRICE = "other_price", _("The provider names another price than before, or none")
        MISMATCH = "mismatch", _("The answer names another product or destination")
        LOST_AFTER_ACCEPTANCE = "lost", _("Accepted before, now not found")
        DOUBLED_SN = "doubled_sn", _("Another order of the brand has the same SN")
        DOUBLED_TRX_ID = "doubled_trx_id", _("Another order has the same trx_id")
        NO_TOKEN = "no_token", _("Success without a token of 20 digits")

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="incidents")
    kind = models.CharField(max_length=20, choices=Kind.choices)
    at = models.DateTimeField(default=timezone.now)
    source = models.CharField(max_length=10, choices=OrderEvent.Source.choices)
    detail = models.CharField(max_length=500)
    raw = models.JSONField(null=True)
    callback_id = models.BigIntegerField(null=True)
    closed_at = models.DateTimeField(null=True)
    closed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    closing_note = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["-at"]
        constraints = [
            # The same contradiction again (a retried callback, a repeated poll) is one incident.
            models.UniqueConstraint(fields=["order", "kind", "detail"], name="incident_once"),
        ]
        indexes = [models.Index(fields=["-at"], name="incident_open", condition=Q(closed_at__isnull=True))]
        triggers = [
            pgtrigger.ReadOnly(
                name="what_happened_never_changes",
                fields=["order", "kind", "at", "source", "detail", "raw", "callback_id"],
            ),
            pgtrigger.Protect(
                name="closed_once", operation=pgtrigger.Update, condition=pgtrigger.Q(old__closed_at__isnull=False)
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.detail}"

    @property
    def is_for_everybody(self) -> bool:
        """Whether its detail says nothing about money."""
        return self.kind in {self.Kind.DOUBLED_SN, self.Kind.DOUBLED_TRX_ID, self.Kind.NO_TOKEN}


IncidentHistory = history_of(Incident)


class OrderNote(models.Model):
    """A person's note about an order. Append-only."""

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="notes")
    at = models.DateTimeField(default=timezone.now)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    text = models.CharField(max_length=500)
    txid = models.BigIntegerField(db_default=TRANSACTION_NUMBER, editable=False)

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(fields=["txid", "id"], name="order_note_to_seal"),
            GinIndex(words_of("text"), name="order_note_by_words"),
        ]
        triggers = [*append_only(), own_transaction()]

    def __str__(self) -> str:
        return self.text

    @classmethod
    def with_words(cls, text: str) -> list[int]:
        """Keys of orders whose notes have words that begin so. Read here, because PostgreSQL would expect too many."""
        notes = cls.objects.alias(words=words_of("text")).filter(words=words_that_begin(text))
        return list(notes.order_by("-pk").values_list("order", flat=True)[:MOST_FOUND])


class Tag(models.Model):
    """A short word in lower case. People can still choose it after it was taken off its last order."""

    name = models.CharField(max_length=20, unique=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
