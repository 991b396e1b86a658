"""Template tags about receipts and messages (`{% load receipts %}`)."""

from __future__ import annotations

from dataclasses import dataclass

from django import template

from core.numbers import sees_whole_numbers
from drawers.presenting import ShownSale, refund_text
from purchases.models import Order
from purchases.presenting import shown_destination
from purchases.receipts import ReceiptPaper, message_text, sample_receipt, whatsapp_address
from shop.models import Paper
from shop.presenting import Letterhead
from staff.models import User

register = template.Library()


@dataclass(frozen=True)
class Message:
    """A text for a customer, and the address that opens WhatsApp with it."""

    text: str
    address: str


@register.simple_tag
def message_of(order: Order, head: Letterhead) -> Message | None:
    """`{% message_of order head as message %}`; None for people without full numbers: the text needs one."""
    if not sees_whole_numbers():
        return None
    text = message_text(order, head)
    return Message(text, whatsapp_address(order, text))


@register.simple_tag
def refund_message_of(sale: ShownSale, head: Letterhead) -> Message | None:
    """`{% refund_message_of sale head as message %}`; None for people without full numbers, as `message_of`."""
    if not sees_whole_numbers():
        return None
    order = sale.payment.order
    text = refund_text(sale, head, number=shown_destination(order))
    return Message(text, whatsapp_address(order, text))


@register.simple_tag
def sample_of(head: Letterhead, paper: str, person: User) -> ReceiptPaper:
    """`{% sample_of head "58" user as sheet %}`: a receipt of nothing with this head on this paper."""
    return ReceiptPaper(head, Paper(paper), [sample_receipt(person)])
