"""Template tags about receipts and messages (`{% load receipts %}`)."""

from django import template

from core.customer_texts import whatsapp_link
from core.numbers import sees_whole
from drawers.presenting.sales import ShownSale, refund_text
from purchases.models import Order
from purchases.presenting import shown_destination
from purchases.receipts import Message, ReceiptPaper, message_about, message_text, sample_receipt, whatsapp_address
from shop.models import Paper
from shop.presenting import Letterhead
from staff.models import User

register = template.Library()


@register.simple_tag
def message_of(order: Order, head: Letterhead) -> Message | None:
    """`{% message_of order head as message %}`; None for people who may not see the number, which the text has."""
    if not sees_whole(order.destination):
        return None
    text = message_text(order, head)
    return Message(text, whatsapp_address(order, text))


@register.simple_tag
def message_of_all(sheet: ReceiptPaper, head: Letterhead) -> Message | None:
    """`{% message_of_all sheet head as message %}`: one text about all orders on a paper; None as `message_of`."""
    if not all(sees_whole(order.destination) for order in sheet.orders):
        return None
    text = message_about(sheet.orders, head)
    numbers = {order.destination for order in sheet.orders}
    return Message(text, whatsapp_address(sheet.orders[0], text) if len(numbers) == 1 else whatsapp_link(text))


@register.simple_tag
def refund_message_of(sale: ShownSale, head: Letterhead) -> Message | None:
    """`{% refund_message_of sale head as message %}`: the text about a refund; None as `message_of`."""
    order = sale.payment.order
    if not sees_whole(order.destination):
        return None
    text = refund_text(sale, head, number=shown_destination(order))
    return Message(text, whatsapp_address(order, text))


@register.simple_tag
def sample_of(head: Letterhead, paper: str, person: User) -> ReceiptPaper:
    """`{% sample_of head "58" user as sheet %}`: a made-up receipt with this head on this paper."""
    return ReceiptPaper(head, Paper(paper), [sample_receipt(person)])
