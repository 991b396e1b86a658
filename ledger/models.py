"""The books: one balance, the reserved part of it, and every entry behind them. Only `ledger.services` posts."""

from __future__ import annotations

import datetime as dt

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from core.rights import Right
from core.transactions import TRANSACTION_NUMBER
from core.triggers import append_only, own_transaction
from gateway.models import NEXT_NUMBER


class OrderKind(models.TextChoices):
    """The kind of an entry's order; the same as `purchases.models.Order.Kind`, which this room does not know."""

    PURCHASE = "purchase", _("Purchase")
    BILL = "bill", _("Bill payment")


class Books(models.Model):
    """The account by our books, in rupiah. One row: each posting locks it, after the order's row."""

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    balance = models.BigIntegerField(default=0, help_text="Rupiah: sum of all entries' balance changes.")
    reserved = models.BigIntegerField(default=0, help_text="Rupiah: reserved for orders that are not accepted yet.")
    found = models.BigIntegerField(
        default=0, help_text="Rupiah, signed: open differences that reconciliation found, not in the entries yet."
    )
    opened_at = models.DateTimeField(null=True, help_text="Since when the balance is known; empty before.")
    closed_day = models.DateField(null=True, help_text="The last day that is closed: entries are dated after it.")
    posted_at = models.DateTimeField(null=True, help_text="The time of the last entry: none is dated before it.")

    class Meta:
        default_permissions = ()
        permissions = Right.of("ledger.books")
        constraints = [
            models.CheckConstraint(condition=Q(only=True), name="books_are_one_row"),
            models.CheckConstraint(condition=Q(reserved__gte=0), name="books_reserve_nothing_negative"),
        ]

    def __str__(self) -> str:
        return f"balance {self.balance}, reserved {self.reserved}"


class EntryQuerySet(models.QuerySet["Entry"]):
    def between(self, start: dt.datetime, end: dt.datetime) -> EntryQuerySet:
        """Entries of the half-open time [start, end)."""
        return self.filter(at__gte=start, at__lt=end)

    def with_actors(self) -> EntryQuerySet:
        """The entries, oldest first, each with the person who posted it."""
        return self.select_related("actor").order_by("pk")


class Entry(models.Model):
    """One line of the books. Never changed, never deleted: another entry corrects a mistake.

    Its `id` is a number of the one sequence (gateway): an entry with a higher id was posted later, even if clocks
    differ.
    """

    class Kind(models.TextChoices):
        OPENING = "opening", _("Opening balance")
        HOLD = "hold", _("Reserved")
        RELEASE = "release", _("Released")
        DEBIT = "debit", _("Debit")
        REFUND = "refund", _("Refund")
        REVERSAL = "reversal", _("Reversal")
        TOPUP = "topup", _("Top-up")
        ADJUSTMENT = "adjustment", _("Adjustment")

    id = models.BigIntegerField(primary_key=True, db_default=NEXT_NUMBER, editable=False)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    amount = models.BigIntegerField(help_text="Rupiah, above zero.")
    balance_change = models.BigIntegerField(help_text="Rupiah: what it does to the balance.")
    reserved_change = models.BigIntegerField(help_text="Rupiah: what it does to the reserved amount.")
    balance_after = models.BigIntegerField(help_text="Rupiah.")
    reserved_after = models.BigIntegerField(help_text="Rupiah.")
    ref_id = models.CharField(max_length=64, blank=True, help_text="The order's; empty for the account's own.")
    order_kind = models.CharField(max_length=10, blank=True, choices=OrderKind.choices)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    reason = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField(default=timezone.now)
    txid = models.BigIntegerField(db_default=TRANSACTION_NUMBER, editable=False)

    objects = EntryQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        permissions = Right.of("ledger.entry")
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="entry_amount_positive"),
            models.CheckConstraint(
                condition=Q(kind="hold", balance_change=0, reserved_change=F("amount"))
                | Q(kind="release", balance_change=0, reserved_change=-F("amount"))
                | Q(kind="debit", balance_change=-F("amount"), reserved_change=0)
                | Q(kind__in=["refund", "reversal", "topup"], balance_change=F("amount"), reserved_change=0)
                | Q(kind__in=["opening", "adjustment"], balance_change=F("amount"), reserved_change=0)
                | Q(kind__in=["opening", "adjustment"], balance_change=-F("amount"), reserved_change=0),
                name="entry_changes_as_its_kind",
            ),
            models.CheckConstraint(
                condition=Q(
                    kind__in=["hold", "release", "debit", "refund", "reversal"], ref_id__gt="", order_kind__gt=""
                )
                | Q(kind__in=["opening", "topup", "adjustment"], ref_id="", order_kind=""),
                name="entry_names_its_order",
            ),
            models.UniqueConstraint(fields=["ref_id"], condition=Q(kind="debit"), name="entry_debit_once"),
            # A debit comes back once: the upstream refunds a failure, or takes a success back.
            models.UniqueConstraint(
                fields=["ref_id"], condition=Q(kind__in=["refund", "reversal"]), name="entry_refund_once"
            ),
            models.UniqueConstraint(fields=["kind"], condition=Q(kind="opening"), name="entry_opening_once"),
        ]
        indexes = [
            models.Index(fields=["at"], name="entry_by_time"),
            models.Index(fields=["ref_id"], name="entry_by_order"),
            models.Index(fields=["txid", "id"], name="entry_to_seal"),
            # The other kinds come with every order, so any part of the entries has some of them.
            models.Index(
                fields=["kind", "-at", "-id"],
                name="entry_of_rare_kind",
                condition=Q(kind__in=["opening", "refund", "reversal", "topup", "adjustment"]),
            ),
        ]
        triggers = [*append_only(), own_transaction()]

    def __str__(self) -> str:
        return f"{self.kind} {self.amount} {self.ref_id}".rstrip()

    @property
    def balance_before(self) -> int:
        """The balance before this entry, in rupiah."""
        return self.balance_after - self.balance_change


class ClosedDay(models.Model):
    """The state of the books at the end of one day (Asia/Jakarta), kept after the end of the day. Amounts in rupiah.

    The pages read this row instead of adding up entries; the nightly proof adds them up and compares.
    """

    day = models.DateField(primary_key=True)
    last_entry = models.BigIntegerField(help_text="The newest entry at its end; 0 before the first.")
    balance = models.BigIntegerField(help_text="At its end.")
    reserved = models.BigIntegerField(help_text="At its end.")
    lowest = models.BigIntegerField(help_text="The least balance of the day, its opening balance included.")
    sums = models.JSONField(
        default=dict, help_text='What entries did, signed: {"debit:bill": {"count", "balance", "reserved"}, …}.'
    )
    closed_at = models.DateTimeField(default=timezone.now)
    txid = models.BigIntegerField(db_default=TRANSACTION_NUMBER, editable=False)

    class Meta:
        ordering = ["day"]
        indexes = [models.Index(fields=["txid", "day"], name="closed_day_to_seal")]
        triggers = [*append_only(), own_transaction()]

    def __str__(self) -> str:
        return f"{self.day}: {self.balance}"


class RunningDay(models.Model):
    """The sums of the entries of a running day, up to one of them. One row. Amounts in rupiah.

    The pages add up only the later entries. No entry changes, and their ids and times are in the order of posting, so
    these sums stay right. The row of a closed day is never made from these sums.
    """

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    day = models.DateField()
    last_entry = models.BigIntegerField(help_text="The newest entry that is summed.")
    last_at = models.DateTimeField(help_text="When that entry was posted.")
    lowest = models.BigIntegerField(help_text="The day's least balance up to that entry, its opening balance included.")
    sums = models.JSONField(default=dict, help_text="The same sums as those of a closed day.")

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(only=True), name="running_day_is_one_row")]

    def __str__(self) -> str:
        return f"{self.day}, up to {self.last_entry}"


class Flaw(models.TextChoices):
    """The flaws of the books when rows were changed in the database itself."""

    RUNNING = "running", _("An entry's balance does not follow from the one before")
    CACHED = "cached", _("The books' sums are not those of the entries")
    TIME = "time", _("An entry is dated before the one before")
    ORDER = "order", _("An entry is not what its order says")
    RESERVED = "reserved", _("What is reserved for an order is not what its status says")
    UNFOUNDED = "unfounded", _("A top-up or adjustment has no difference behind it")
    MISSING = "missing", _("An order or a difference lacks its entry")
    FOUND = "found", _("The sum of open differences is not what the books have")
    KEPT = "kept", _("The sums of the last comparison are not those of the entries and differences")
    DAY = "day", _("A closed day is not what its entries say")


class Proof(models.Model):
    """The progress of the proof of entries, and the first flaw if there is one. One row. Amounts in rupiah."""

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    upto = models.BigIntegerField(default=0, help_text="The last entry that was added up.")
    balance = models.BigIntegerField(default=0, help_text="After that entry.")
    reserved = models.BigIntegerField(default=0, help_text="After that entry.")
    proved_at = models.DateTimeField(null=True)
    all_proved_at = models.DateTimeField(null=True, help_text="When all entries were added up last.")
    flaw = models.CharField(max_length=20, blank=True, choices=Flaw.choices)
    flaw_amount = models.BigIntegerField(default=0, help_text="Signed.")
    flaw_entry = models.BigIntegerField(null=True, help_text="The first entry that shows it.")

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(only=True), name="proof_is_one_row")]

    def __str__(self) -> str:
        if not self.flaw:
            return f"proved up to {self.upto}"
        entry = f" (entry {self.flaw_entry} of {Entry._meta.db_table})" if self.flaw_entry else ""
        return f"{self.get_flaw_display()}{entry}"
