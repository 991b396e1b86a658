"""The bank's rows, and the item that each is matched with. A match is only a note: it changes no order and no book.

Amounts are whole rupiah, below zero for money that left the account.
"""

from __future__ import annotations

import pgtrigger
from django.contrib.postgres.expressions import ArraySubquery
from django.db import models
from django.db.models import Count, OuterRef, Q
from django.db.models.functions import JSONObject
from django.utils.translation import gettext_lazy as _

from core.looks import LookChoices
from core.rights import Right
from core.triggers import never_truncated
from staff.models import User

#: The part of a day's sum that providers of QRIS and cards may keep, in hundredths of a percent: default and limit.
USUAL_FEE, MOST_FEE = 100, 1_000


class BankAccount(models.Model):
    """An account of the shop, with the columns of its files as a person chose them once."""

    name = models.CharField(max_length=40, unique=True)
    columns = models.JSONField(default=dict, help_text="`bank.formats.Columns`.")
    most_fee = models.PositiveSmallIntegerField(
        default=USUAL_FEE, help_text="The provider's fee at most, in hundredths of a percent."
    )

    class Meta:
        default_permissions = ()
        ordering = ["name"]
        constraints = [models.CheckConstraint(condition=Q(most_fee__lte=MOST_FEE), name="bank_fee_bounded")]
        triggers = [never_truncated()]

    def __str__(self) -> str:
        return self.name


class BankFileQuerySet(models.QuerySet["BankFile"]):
    def with_counts(self) -> BankFileQuerySet:
        """Annotate `row_count`, and `decided_count`: the rows about which a person has decided."""
        decided = Count("rows", filter=Q(rows__decided_at__isnull=False))
        return self.annotate(row_count=Count("rows"), decided_count=decided)

    def with_others(self, most: int) -> BankFileQuerySet:
        """Annotate `others`: name, first and last day of the newest files of its account with some of its days."""
        same_days = BankFile.objects.filter(
            account=OuterRef("account"), first_day__lte=OuterRef("last_day"), last_day__gte=OuterRef("first_day")
        )
        facts = JSONObject(name="name", first="first_day", last="last_day")
        others = same_days.exclude(pk=OuterRef("pk")).order_by("-pk").values_list(facts)[:most]
        return self.annotate(others=ArraySubquery(others))


class BankFile(models.Model):
    """A file of the bank that was read. Only its rows are kept."""

    account = models.ForeignKey(BankAccount, on_delete=models.PROTECT, related_name="files", db_index=False)
    name = models.CharField(max_length=100)
    sha256 = models.CharField(max_length=64)
    read_at = models.DateTimeField()
    read_by = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+", db_index=False)
    first_day = models.DateField(null=True, help_text="The first day that it has, also in a row that was known before.")
    last_day = models.DateField(null=True, help_text="The last one.")

    objects = BankFileQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["account", "sha256"], name="bank_file_read_once")]
        indexes = [models.Index(fields=["first_day", "last_day"], name="bank_file_by_days")]
        triggers = [never_truncated()]

    def __str__(self) -> str:
        return self.name


class State(LookChoices):
    """The state of a row."""

    UNKNOWN = "unknown", "help-circle", "held", _("Unknown")
    MATCHED = "matched", "circle-check", "success", _("Matched")
    ASIDE = "aside", "circle-minus", "queued", _("Set aside")


class BankRow(models.Model):
    """A row of the bank. `item`: the key of the item that it is matched with (`bank.services.items`)."""

    account = models.ForeignKey(BankAccount, on_delete=models.PROTECT, related_name="rows", db_index=False)
    file = models.ForeignKey(BankFile, on_delete=models.CASCADE, related_name="rows")
    day = models.DateField()
    amount = models.BigIntegerField()
    text = models.CharField(max_length=300, blank=True)
    reference = models.CharField(max_length=100, blank=True)
    nth = models.PositiveSmallIntegerField(help_text="Its number, from 1, among equal rows of its day.")

    state = models.CharField(max_length=10, choices=State.choices, default=State.UNKNOWN)
    item = models.CharField(max_length=80, null=True, unique=True)  # noqa: DJ001 - NULLs are no twins
    item_day = models.DateField(null=True)
    item_amount = models.BigIntegerField(null=True)
    reason = models.CharField(max_length=500, blank=True)
    decided_by = models.ForeignKey(
        User, null=True, on_delete=models.PROTECT, related_name="+", db_index=False, help_text="Empty: by itself."
    )
    decided_at = models.DateTimeField(
        null=True, help_text="When a person decided; nothing matches the row by itself afterwards."
    )

    class Meta:
        default_permissions = ()
        permissions = Right.of("bank.bankrow")
        constraints = [
            models.UniqueConstraint(
                fields=["account", "day", "amount", "text", "reference", "nth"], name="bank_row_once"
            ),
            models.CheckConstraint(condition=~Q(amount=0), name="bank_row_moves_money"),
            models.CheckConstraint(
                condition=Q(state="matched", item__isnull=False, item_day__isnull=False, item_amount__isnull=False)
                | Q(state__in=["unknown", "aside"], item__isnull=True, item_day__isnull=True, item_amount__isnull=True),
                name="bank_row_matched_iff_item",
            ),
            models.CheckConstraint(
                condition=Q(decided_by__isnull=True, decided_at__isnull=True, reason="") & ~Q(state="aside")
                | Q(decided_by__isnull=False, decided_at__isnull=False, reason__gt=""),
                name="bank_row_decided_with_a_reason",
            ),
        ]
        indexes = [models.Index(fields=["day", "id"], name="bank_row_by_day")]
        triggers = [
            pgtrigger.ReadOnly(
                name="what_the_bank_said_never_changes",
                fields=["account", "file", "day", "amount", "text", "reference", "nth"],
            ),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.amount}"
