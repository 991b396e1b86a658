"""Print a receipt: each print is kept, so that a second one can never pass for the original."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from purchases.errors import NotPossible
from purchases.models import Order, ReceiptPrint
from purchases.order_life import Status

if TYPE_CHECKING:
    from purchases.models.receipts import Paper
    from staff.models import User


def print_receipt(order: Order, *, paper: Paper, printed_by: User) -> ReceiptPrint:
    """Note a print of the order's receipt and return it, numbered. Raises `NotPossible` before it succeeded."""
    with transaction.atomic():
        current = Order.objects.select_for_update().get(pk=order.pk)
        if current.status != Status.SUCCESS:
            raise NotPossible(_("Only what has succeeded has a receipt."))
        return ReceiptPrint.objects.create(
            order=current, number=current.receipt_prints.count() + 1, paper=paper, printed_by=printed_by
        )
