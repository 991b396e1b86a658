"""The books: one balance and what is held of it, and every entry that made them so. Only `balance.services` posts."""

from __future__ import annotations

import datetime as dt

import pgtrigger
from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class OrderKind(models.TextChoices):
    """What an order's entry is for; as `purchases.models.Order.Kind`, which this room does not know."""

    PURCHASE = "purchase", _("Purchase")
    BILL = "bill", _("Bill payment")


class Books(models.Model):
    """The account as our books say, in rupiah. One row: whoever posts locks it, after the order's row."""

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    balance = models.BigIntegerField(default=0, help_text="Rupiah: sum of all entries' balance changes.")
    held = models.BigIntegerField(default=0, help_text="Rupiah: reserved for orders that are not accepted yet.")
    opened_at = models.DateTimeField(null=True, help_text="Since when the balance is known; empty before.")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(only=True), name="books_are_one_row"),
            models.CheckConstraint(condition=Q(held__gte=0), name="books_hold_nothing_negative"),
        ]

    def __str__(self) -> str:
        return f"balance {self.balance}, held {self.held}"


class EntryQuerySet(models.QuerySet["Entry"]):
    def between(self, start: dt.datetime, end: dt.datetime) -> EntryQuerySet:
        """Entries of the half-open time [start, end)."""
        return self.filter(at__gte=start, at__lt=end)


class Entry(models.Model):
    """One line of the books. Never changed, never deleted: a mistake is mended by another entry."""

    class Kind(models.TextChoices):
        OPENING = "opening", _("Opening balance")
        HOLD = "hold", _("Hold")
        RELEASE = "release", _("Release")
        DEBIT = "debit", _("Debit")
        REFUND = "refund", _("Refund")
        TOPUP = "topup", _("Top-up")
        ADJUSTMENT = "adjustment", _("Adjustment")

    kind = models.CharField(max_length=10, choices=Kind.choices)
    amount = models.BigIntegerField(help_text="Rupiah, above zero.")
    balance_change = models.BigIntegerField(help_text="Rupiah: what it does to the balance.")
    held_change = models.BigIntegerField(help_text="Rupiah: what it does to the held amount.")
    balance_after = models.BigIntegerField(help_text="Rupiah.")
    held_after = models.BigIntegerField(help_text="Rupiah.")
    ref_id = models.CharField(max_length=64, blank=True, help_text="The order's; empty for the account's own.")
    order_kind = models.CharField(max_length=10, blank=True, choices=OrderKind.choices)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField(default=timezone.now)

    objects = EntryQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        permissions = [("adjust_balance", "Can propose and approve adjustments of the balance")]
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="entry_amount_positive"),
            models.CheckConstraint(
                condition=Q(kind="hold", balance_change=0, held_change=F("amount"))
                | Q(kind="release", balance_change=0, held_change=-F("amount"))
                | Q(kind="debit", balance_change=-F("amount"), held_change=0)
                | Q(kind__in=["refund", "topup"], balance_change=F("amount"), held_change=0)
                | Q(kind__in=["opening", "adjustment"], balance_change=F("amount"), held_change=0)
                | Q(kind__in=["opening", "adjustment"], balance_change=-F("amount"), held_change=0),
                name="entry_changes_as_its_kind",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["hold", "release", "debit", "refund"], ref_id__gt="", order_kind__gt="")
                | Q(kind__in=["opening", "topup", "adjustment"], ref_id="", order_kind=""),
                name="entry_names_its_order",
            ),
            models.UniqueConstraint(fields=["ref_id"], condition=Q(kind="debit"), name="entry_debit_once"),
            models.UniqueConstraint(fields=["ref_id"], condition=Q(kind="refund"), name="entry_refund_once"),
            models.UniqueConstraint(fields=["kind"], condition=Q(kind="opening"), name="entry_opening_once"),
        ]
        indexes = [
            models.Index(fields=["at"], name="entry_by_time"),
            models.Index(fields=["ref_id"], name="entry_by_order"),
        ]
        triggers = [
            pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete),
            pgtrigger.Trigger(
                name="never_truncated",
                level=pgtrigger.Statement,
                when=pgtrigger.Before,
                operation=pgtrigger.Truncate,
                func="RAISE EXCEPTION 'the books are append-only: % is never truncated', TG_TABLE_NAME;",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.amount} {self.ref_id}".rstrip()

    @property
    def balance_before(self) -> int:
        """Rupiah: the balance that this entry found."""
        return self.balance_after - self.balance_change
