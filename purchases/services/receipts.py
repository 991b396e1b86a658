"""Print a receipt: each print is kept, so that a second one can never pass for the original."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from audit.kinds import Kind
from audit.services import record
from purchases.models import Order, ReceiptPrint
from purchases.services.actions import Action, require
from purchases.services.moving import lock_order_for_move

if TYPE_CHECKING:
    from django.http import HttpRequest

    from purchases.models.receipts import Paper
    from staff.models import User


def print_receipt(order: Order, *, paper: Paper, printed_by: User, request: HttpRequest | None = None) -> ReceiptPrint:
    """Note a print of the order's receipt and return it, numbered. Raises `ActionRefused` unless it is a success."""
    with transaction.atomic():
        current = lock_order_for_move(order.pk)
        require(Action.PRINT_RECEIPT, current, printed_by)
        printed = ReceiptPrint.objects.create(
            order=current, number=current.receipt_prints.count() + 1, paper=paper, printed_by=printed_by
        )
        facts = {"number": printed.number, "paper": paper.value}
        record(Kind.PRINTED, person=printed_by, request=request, subject=current.ref_id, facts=facts)
        return printed
