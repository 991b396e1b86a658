"""The sums of each day that is over. The pages read them instead of adding up orders. Amounts in whole rupiah."""

from __future__ import annotations

import datetime as dt

from django.db import models
from django.db.models import F, Q

from audit.history import history_of
from branches.models import Branch
from catalogue.models import Product
from core.triggers import never_truncated
from staff.models import User


class SummedDay(models.Model):
    """A day of the shop that is over and has no open order, and has its sums. Only `earnings.services` writes it."""

    day = models.DateField(primary_key=True)
    summed_at = models.DateTimeField(help_text="When its sums were last made.")
    off_by = models.BigIntegerField(
        default=0, help_text="Rupiah, or orders, by which the last proof found its sums wrong; 0: they are proved."
    )

    class Meta:
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=Q(off_by__gte=0), name="summed_day_off_by_a_size")]
        indexes = [models.Index(fields=["day"], name="summed_day_off", condition=Q(off_by__gt=0))]
        triggers = [never_truncated()]

    def __str__(self) -> str:
        return f"{self.day}"


class By(models.TextChoices):
    """The splits of a day's sums: each order counts once in each split."""

    PRODUCT = "product"
    PERSON = "person"
    METHOD = "method"
    BRANCH = "branch"
    BUYER = "buyer"


class DaySumQuerySet(models.QuerySet["DaySum"]):
    """The queries about sums."""

    def of_day(self, day: dt.date) -> DaySumQuerySet:
        """The sums of one day, by the index that begins with the split."""
        return self.filter(by__in=By.values, day=day)


class DaySum(models.Model):
    """The sums of one product, person, way to pay, branch or customer for the sales placed on one day.

    There are no combinations of these: nobody needs them, and they would be many times as many rows.
    """

    day = models.ForeignKey(SummedDay, on_delete=models.PROTECT, related_name="sums", db_index=False)
    by = models.CharField(max_length=7, choices=By.choices)
    product = models.ForeignKey(Product, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    seller = models.ForeignKey(
        User,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="Null for a sum that is of no person, and for sales of commands.",
    )
    method = models.CharField(max_length=20, blank=True, help_text="How the customers paid.")
    branch = models.ForeignKey(Branch, null=True, on_delete=models.PROTECT, related_name="+", db_index=False)
    buyer = models.BigIntegerField(null=True, help_text="The key of the customer, as the payment has it.")
    placed = models.IntegerField(help_text="All orders.")
    sold = models.IntegerField(help_text="Those that arrived.")
    failed = models.IntegerField(help_text="Those that the upstream refused or failed.")
    reversed = models.IntegerField(help_text="Those that arrived, and that the upstream took back.")
    sales = models.BigIntegerField(help_text="What customers pay for those that arrived.")
    cost = models.BigIntegerField(help_text="What the shop pays for those that arrived.")
    seconds = models.BigIntegerField(help_text="How long those that arrived took, all together.")

    objects = DaySumQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["by", "day", "product", "seller", "method", "branch", "buyer"],
                name="day_sum_once",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=Q(
                    Q(by=By.PRODUCT, product__isnull=False, seller__isnull=True, method="", branch__isnull=True)
                    | Q(by=By.PERSON, product__isnull=True, method="", branch__isnull=True)
                    | (Q(by=By.METHOD, product__isnull=True, seller__isnull=True, branch__isnull=True) & ~Q(method=""))
                    | Q(by=By.BRANCH, product__isnull=True, seller__isnull=True, method="", branch__isnull=False),
                    buyer__isnull=True,
                )
                | Q(by=By.BUYER, product__isnull=True, seller__isnull=True, method="", branch__isnull=True),
                name="day_sum_by_one_key",
            ),
            models.CheckConstraint(
                condition=Q(sold__gte=0, failed__gte=0, reversed__gte=0)
                & Q(placed__gte=F("sold") + F("failed") + F("reversed")),
                name="day_sum_of_its_orders",
            ),
            models.CheckConstraint(
                condition=Q(sales__gte=0, cost__gte=0, seconds__gte=0)
                & (Q(sold__gt=0) | Q(sales=0, cost=0, seconds=0)),
                name="day_sum_of_what_arrived",
            ),
        ]
        triggers = [never_truncated()]

    def __str__(self) -> str:
        return f"{self.day_id}: {self.sales}"


class JournalAccounts(models.Model):
    """The accounts of the shop's accounting in its journals: one row. Missing accounts have our own names."""

    only = models.BooleanField(primary_key=True, default=True, editable=False)
    names = models.JSONField(default=dict, help_text="By the key of `earnings.journal_accounts`: number and name.")

    class Meta:
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=Q(only=True), name="journal_accounts_are_one_row")]

    def __str__(self) -> str:
        return "journal accounts"


JournalAccountsHistory = history_of(JournalAccounts)
