"""Prints receipts: each print is stored, so that a second one can never pass for the original."""

import uuid
from collections.abc import Sequence

from django.db import transaction

from audit.services import record
from branches.services import branch_version
from purchases.events import PRINTED
from purchases.models import Order, ReceiptPrint
from purchases.services.actions import Action, require
from purchases.services.moving import lock_orders_for_move
from shop.models import Paper
from shop.services import shop_version
from staff.models import User


def print_receipt(order: Order, *, paper: Paper, printed_by: User) -> ReceiptPrint:
    """Note a print of the order's receipt and return it, numbered. Raises `ActionRefused` unless it is a success."""
    [printed] = print_receipts([[order]], paper=paper, printed_by=printed_by)
    return printed


def print_receipts(sheets: Sequence[Sequence[Order]], *, paper: Paper, printed_by: User) -> list[ReceiptPrint]:
    """Note a print of each order of these sheets; the prints of a sheet with several orders have the same `sheet`.

    A print shows the shop as it was when the order's first one was made. Raises `ActionRefused`, and then nothing is
    noted, unless each of them is a success.
    """
    with transaction.atomic():
        locked = lock_orders_for_move([order.ref_id for orders in sheets for order in orders])
        for order in locked.values():
            require(Action.PRINT_RECEIPT, order, printed_by)
        made = []
        for orders in sheets:
            sheet = uuid.uuid4() if len(orders) > 1 else None
            made += [_next_print(locked[one.ref_id], sheet, paper=paper, printed_by=printed_by) for one in orders]
        for printed in ReceiptPrint.objects.bulk_create(made):
            facts = {"number": printed.number, "paper": paper.value}
            record(PRINTED, actor=printed_by, subject=printed.order.ref_id, facts=facts)
        return made


def _next_print(order: Order, sheet: uuid.UUID | None, *, paper: Paper, printed_by: User) -> ReceiptPrint:
    before = list(order.receipt_prints.all())
    first = before[0] if before else None
    version = None if first else branch_version(order.payment.branch_id)
    return ReceiptPrint(
        order=order,
        number=len(before) + 1,
        paper=paper,
        sheet=sheet,
        shop_id=(first and first.shop_id) or shop_version().pk,
        branch_id=first.branch_id if first else version and version.pk,
        printed_by=printed_by,
    )
