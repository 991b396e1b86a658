"""What customers are to get back, and how they got it: the shop's to-do of orders that ended without success."""

from __future__ import annotations

import pgtrigger
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from audit.history import history_of
from core.rights import Right
from core.triggers import never_truncated
from credit.models import Method
from drawers.models.shifts import DrawerEntry
from purchases.models import Order
from staff.models import User

_GIVEN = Q(given_at__isnull=False, given_by__isnull=False) & (Q(method__gt="") | Q(note__gt=""))
_TO_GIVE = Q(given_at__isnull=True, given_by__isnull=True, method="", note="", entry__isnull=True)


class RefundQuerySet(models.QuerySet["Refund"]):
    def open(self) -> RefundQuerySet:
        """Those that nobody has given back."""
        return self.filter(given_at=None)


class Refund(models.Model):
    """The money of one order that the customer is to get back. It is given once, and then never changes."""

    order = models.OneToOneField(Order, on_delete=models.PROTECT, related_name="refund")
    amount = models.BigIntegerField(help_text="Rupiah: what the customer paid.")
    since = models.DateTimeField(help_text="When the order ended.")
    given_at = models.DateTimeField(null=True)
    given_by = models.ForeignKey(User, null=True, on_delete=models.PROTECT, related_name="+")
    method = models.CharField(
        max_length=10, blank=True, choices=Method.choices, help_text="Empty while it is not given; then the note says."
    )
    note = models.CharField(_("note"), max_length=500, blank=True)
    entry = models.OneToOneField(
        DrawerEntry,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="Where it came out of a shift; empty of a transfer that no drawer made.",
    )

    objects = RefundQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        permissions = Right.of("drawers.refund")
        constraints = [
            models.CheckConstraint(condition=Q(amount__gte=0), name="refund_amount_not_negative"),
            models.CheckConstraint(condition=_GIVEN | _TO_GIVE, name="refund_given_as_a_whole"),
            models.CheckConstraint(
                condition=~Q(method=Method.CASH) | Q(entry__isnull=False), name="refund_in_cash_out_of_a_drawer"
            ),
        ]
        indexes = [
            models.Index(fields=["-since", "-id"], name="refund_newest"),
            models.Index(fields=["-since", "-id"], name="refund_open", condition=Q(given_at=None)),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="what_is_owed_for_never_changes", fields=["order", "since"]),
            pgtrigger.Protect(
                name="given_once", operation=pgtrigger.Update, condition=pgtrigger.Q(old__given_at__isnull=False)
            ),
            pgtrigger.Protect(name="never_deleted", operation=pgtrigger.Delete),
            never_truncated(),
        ]

    def __str__(self) -> str:
        return f"{self.amount} for {self.order_id}"

    @property
    def is_given(self) -> bool:
        """Whether the customer has it."""
        return self.given_at is not None


RefundHistory = history_of(Refund)
