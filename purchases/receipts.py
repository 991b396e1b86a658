"""A receipt and the text of a message, as pages and papers show them. Neither says what an order costs the shop."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import timezone, translation

from catalogue.destinations import METER
from catalogue.models import Brand, Category, Product
from core.customer_texts import one_line, plain_lines, whatsapp_link
from core.numbers import still_seen
from drawers.models import Payment
from drawers.presenting.sales import back_words
from purchases.models import Order
from purchases.presenting import SerialNumber, serial_number, shown_destination
from purchases.receipt_lines import Lines, lines_of
from purchases.states import OPEN, Status
from shop.models import Paper
from shop.presenting import Letterhead

if TYPE_CHECKING:
    from purchases.models import ReceiptPrint
    from staff.models import User

_TARIFF = re.compile(r"[RBISPLTC]-?\d[A-Z]{0,2}", re.IGNORECASE)
_POWER = re.compile(r"0*(\d{3,6})\s*(VA)?", re.IGNORECASE)
_ENERGY = re.compile(r"(\d{1,3}(?:\.\d{3})+,\d{1,3}|\d{1,5}(?:[.,]\d{1,3})?)\s*(KWH)?", re.IGNORECASE)


@dataclass(frozen=True)
class MeterOwner:
    """The facts after a token, as far as they are understood; empty if the provider did not send them."""

    name: str = ""
    tariff: str = ""
    energy: str = ""
    rest: str = ""

    @classmethod
    def read(cls, serial: SerialNumber) -> MeterOwner:
        """Reads "NAME/TARIFF/POWER/KWH", in which each part may be missing; an unknown text stays as it is."""
        name = tariff = power = energy = ""
        rest = []
        for part in filter(None, (part.strip() for part in serial.rest.split("·"))):
            if not tariff and _TARIFF.fullmatch(part):
                tariff = part.upper()
            elif not power and (match := _POWER.fullmatch(part)) and (match[2] or tariff):
                power = f"{match[1]} VA"
            elif not energy and (match := _ENERGY.fullmatch(part)) and (match[2] or power):
                energy = f"{match[1] if ',' in match[1] else match[1].replace('.', ',')} kWh"
            elif not name and not tariff and any(letter.isalpha() for letter in part):
                name = part
            else:
                rest.append(part)
        return cls(name, " / ".join(filter(None, (tariff, power))), energy, " · ".join(rest))


@dataclass(frozen=True)
class Receipt:
    """One order's part of a paper. `printed`: the print; None for a preview."""

    order: Order
    printed: ReceiptPrint | None = None

    @property
    def destination(self) -> str:
        """The number, in groups."""
        return shown_destination(self.order)

    @property
    def serial(self) -> SerialNumber | None:
        """The provider's text."""
        return serial_number(self.order)

    @property
    def owner(self) -> MeterOwner | None:
        """The owner of the meter for which a token is."""
        serial = self.serial
        return MeterOwner.read(serial) if serial and serial.is_token else None

    @property
    def check(self) -> Any:
        """The check of the bill that the order pays; None for a purchase."""
        return getattr(self.order, "bill_check", None) if self.order.kind == Order.Kind.BILL else None

    @property
    def cashier(self) -> str:
        return self.order.placed_by.shown_name if self.order.placed_by else ""

    @property
    def total(self) -> int:
        """Rupiah that the customer pays."""
        return self.order.customer_pays

    @property
    def is_void(self) -> bool:
        """Whether the upstream took the order back."""
        return self.order.status == Status.REVERSED

    @property
    def is_copy(self) -> bool:
        """Whether it was printed before."""
        return self.printed is not None and self.printed.is_copy


@dataclass(frozen=True)
class ReceiptPaper:
    """The content of one paper."""

    head: Letterhead
    paper: Paper
    receipts: Sequence[Receipt]

    @property
    def total(self) -> int:
        """Rupiah that the customer pays for all of it."""
        return sum(receipt.total for receipt in self.receipts)

    @property
    def orders(self) -> list[Order]:
        return [receipt.order for receipt in self.receipts]

    @property
    def payments(self) -> list[Payment]:
        return [order.payment for order in self.orders]

    @property
    def is_single(self) -> bool:
        """Whether it is about one order."""
        return len(self.receipts) == 1

    @property
    def batch(self) -> Any:
        """The key of the batch whose bills it is about; None for a purchase, and for a single bill."""
        return getattr(self.receipts[0].check, "batch", None)

    @property
    def printed(self) -> ReceiptPrint | None:
        """The print; the first one if there are several."""
        return self.receipts[0].printed

    @property
    def lines(self) -> Lines:
        return lines_of(self)

    @property
    def cashiers(self) -> list[str]:
        """The names of the people who sold the orders on it."""
        return [*dict.fromkeys(receipt.cashier for receipt in self.receipts if receipt.cashier)]


@dataclass(frozen=True)
class Message:
    """A text for a customer, and the address that opens WhatsApp with it."""

    text: str
    address: str


def papers_of(orders: Iterable[Order]) -> list[list[Order]]:
    """The orders of each paper: orders that a customer paid at once share one, every other order has its own."""
    papers: defaultdict[object, list[Order]] = defaultdict(list)
    for order in orders:
        papers[order.payment.paid_at_once or order.ref_id].append(order)
    return [sorted(paper, key=lambda order: order.pk) for paper in papers.values()]


def message_text(order: Order, head: Letterhead) -> str:
    """The text for a customer about the order: plain text, in the shop's language or the signed-in person's.

    An open order is never called paid or failed.
    """
    return message_about([order], head)


def message_about(orders: Sequence[Order], head: Letterhead) -> str:
    """The text about several orders: each is numbered, and their sum stands at the end."""
    facts = {
        "head": head,
        "total": sum(order.customer_pays for order in orders),
        "is_any_success": any(order.status == Status.SUCCESS for order in orders),
        "is_sandbox": settings.SANDBOX,
    }
    with translation.override(head.language or translation.get_language()):
        parts = [_message_facts(order) for order in orders]
        written = render_to_string("purchases/message.txt", facts | {"parts": parts})
    return plain_lines(written)


def _message_facts(order: Order) -> dict[str, Any]:
    receipt = Receipt(order)
    bill = receipt.check
    owner, serial = receipt.owner, receipt.serial
    return {
        "order": order,
        "receipt": receipt,
        "product": one_line(order.product_name),
        "name": one_line(still_seen(bill.customer_name) if bill else owner.name if owner else ""),
        "period": one_line(bill.period if bill else ""),
        "serial": one_line(serial.main if serial else ""),
        "is_bill": bill is not None,
        "is_open": order.status in OPEN,
        "is_success": order.status == Status.SUCCESS,
        "is_reversed": order.status == Status.REVERSED,
        "back": back_words(order.payment),
    }


def whatsapp_address(order: Order, text: str) -> str:
    """The address that opens WhatsApp with the text: to the order's own number if it is a phone number."""
    is_phone = order.product.kind.is_phone_number(order.destination)
    return whatsapp_link(text, phone=order.destination if is_phone else "")


def sample_receipt(person: User) -> Receipt:
    """A made-up receipt for a preview: a token, the longest receipt that most shops print."""
    product = Product(
        code="PLN50",
        name="Token PLN 50.000",
        kind=METER,
        brand=Brand(code="pln", name="PLN"),
        category=Category(code="token-pln", name="Token PLN"),
    )
    order = Order(
        ref_id="BO-0000-0000",
        kind=Order.Kind.PURCHASE,
        product=product,
        product_name=product.name,
        destination="12345678901",
        status=Status.SUCCESS,
        sn="12345678901234567890/BUDI SANTOSO/R1/1300VA/32,5",
        price=51_500,
        max_price=51_500,
        final_at=timezone.now(),
        placed_by=person,
        payment=Payment(amount=51_500, cash_given=100_000),
    )
    return Receipt(order)
