"""What people write about an order: notes, and tags, short words that orders share."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils import timezone

from core.search import MOST_FOUND, words_of, words_that_begin
from core.transactions import TRANSACTION_NUMBER
from core.triggers import append_only, own_transaction
from purchases.models.orders import Order


class OrderNote(models.Model):
    """What a person noted about an order. Append-only."""

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
        """The keys of the orders whose notes have words that begin so, read now: PostgreSQL expects too many."""
        notes = cls.objects.alias(words=words_of("text")).filter(words=words_that_begin(text))
        return list(notes.order_by("-pk").values_list("order", flat=True)[:MOST_FOUND])


class Tag(models.Model):
    """A short word in small letters. It stays to be chosen after its last order has lost it."""

    name = models.CharField(max_length=20, unique=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
