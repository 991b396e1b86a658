"""The receipts ("struk") that were printed for customers."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from branches.models import BranchHistory
from core.transactions import TRANSACTION_NUMBER
from core.triggers import append_only, own_transaction
from purchases.models.orders import Order
from shop.models import Paper, ShopHistory


class ReceiptPrint(models.Model):
    """One print of an order's receipt. The first is the original, every later one says that it is a copy."""

    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="receipt_prints")
    number = models.IntegerField(help_text="1 for the original.")
    paper = models.CharField(max_length=2, choices=Paper.choices)
    at = models.DateTimeField(default=timezone.now)
    shop = models.ForeignKey(
        ShopHistory,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The shop as it was at the original.",
    )
    branch = models.ForeignKey(
        BranchHistory,
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The branch as it was at the original; empty where the shop had one.",
        db_index=False,
    )
    sheet = models.UUIDField(null=True, help_text="Printed on one paper with the other prints of this sheet.")
    printed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    txid = models.BigIntegerField(db_default=TRANSACTION_NUMBER, editable=False)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["order", "number"], name="receipt_print_numbered"),
            models.CheckConstraint(condition=Q(number__gte=1), name="receipt_print_number_from_one"),
        ]
        indexes = [
            models.Index(fields=["txid", "id"], name="receipt_print_to_seal"),
            models.Index(fields=["sheet"], name="receipt_print_by_sheet", condition=Q(sheet__isnull=False)),
            models.Index(fields=["at"], name="receipt_print_copies", condition=Q(number__gt=1)),
        ]
        triggers = [*append_only(), own_transaction()]

    def __str__(self) -> str:
        return f"{self.order_id} #{self.number}"

    @property
    def is_copy(self) -> bool:
        """Whether it was printed before."""
        return self.number > 1
