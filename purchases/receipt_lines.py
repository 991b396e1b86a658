"""The content of a receipt, in its language: the only source for the browser's paper and for the printer's lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import translation
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _, pgettext

from core.money import rupiah
from core.numbers import still_seen
from core.times import hour
from credit.methods import CASH
from drawers.presenting.sales import change_in_coins, paid_together, slip_of

if TYPE_CHECKING:
    import datetime as dt

    from purchases.receipts import Receipt, ReceiptPaper
    from shop.presenting import Letterhead


@dataclass(frozen=True)
class Mark:
    """A separate line. `code`: "test", "void", "copy", "by_hand", "printed" or "printed_all"."""

    code: str
    text: str


@dataclass(frozen=True)
class Facts:
    """Labels and values below one another. `code`: "facts", "sums", "total", "sum", "cash" or "paid"."""

    code: str
    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Serial:
    """The provider's text. `groups`: the digits of a token; without them `text` is shown. `rest`: the line below."""

    label: str
    text: str
    groups: tuple[str, ...] = ()
    rest: str = ""
    by_hand: Mark | None = None


@dataclass(frozen=True)
class Part:
    """One order on the paper."""

    ref_id: str
    marks: tuple[Mark, ...]
    facts: tuple[Facts, ...]
    serial: Serial | None


@dataclass(frozen=True)
class Lines:
    """All lines of a paper, from its head to its foot. `logo`: the address of the picture, or ""."""

    language: str
    logo: str
    shop: str
    head: tuple[str, ...]
    test: Mark | None
    parts: tuple[Part, ...]
    sums: tuple[Facts, ...]
    cashier: str
    printed: Mark | None
    foot: tuple[str, ...]


def lines_of(sheet: ReceiptPaper) -> Lines:
    """The lines of this paper, in the shop's language or that of the reader."""
    with translation.override(sheet.head.language or translation.get_language()):
        return framed(
            sheet.head,
            parts=tuple(_part(receipt, is_single=sheet.is_single) for receipt in sheet.receipts),
            sums=() if sheet.is_single else tuple(_sums(sheet)),
            cashier=labelled(_("Cashier"), ", ".join(sheet.cashiers)),
            printed=_printed(sheet),
        )


def framed(
    head: Letterhead,
    *,
    parts: tuple[Part, ...],
    cashier: str,
    sums: tuple[Facts, ...] = (),
    printed: Mark | None = None,
) -> Lines:
    """These parts between the shop's head and foot, in the active language."""
    return Lines(
        language=translation.get_language(),
        logo=head.logo,
        shop=head.name,
        head=(*head.address, *filter(None, [head.phone])),
        test=Mark("test", _("TEST – no proof of payment")) if settings.SANDBOX else None,
        parts=parts,
        sums=sums,
        cashier=cashier,
        printed=printed,
        foot=head.footer or (_("Thank you"),),
    )


def _part(receipt: Receipt, *, is_single: bool) -> Part:
    marks = [(receipt.is_void, "void", _("VOID")), (receipt.is_copy, "copy", _("COPY"))]
    facts = [Facts("facts", tuple(_facts(receipt)))]
    if receipt.check:
        facts.append(Facts("sums", tuple(_bill(receipt))))
    facts.append(Facts("total", ((_("TOTAL"), rupiah(receipt.total)),)))
    if is_single:
        facts += _paid(receipt)
    shown = tuple(Mark(code, f"*** {words} ***") for holds, code, words in marks if holds)
    return Part(receipt.order.ref_id, shown, tuple(facts), _serial(receipt))


def _facts(receipt: Receipt) -> Iterator[tuple[str, str]]:
    order, check, owner = receipt.order, receipt.check, receipt.owner
    yield _("Date"), moment_words(order.final_at)
    yield "Ref", order.ref_id
    yield _("Product"), order.product_name
    yield (_("Customer no.") if check else _("Number")), receipt.destination
    if check and check.customer_name:
        yield _("Name"), still_seen(check.customer_name)
    if owner and owner.name:
        yield _("Name"), owner.name
    if owner and owner.tariff:
        yield _("Tariff/power"), owner.tariff
    if owner and owner.energy:
        yield _("Energy"), owner.energy


def _bill(receipt: Receipt) -> Iterator[tuple[str, str]]:
    check = receipt.check
    if check.details:
        yield from ((line["period"], rupiah(line["amount"])) for line in check.details)
    else:
        yield check.period or _("Amount"), rupiah(check.amount)
    if check.penalty:
        yield _("Penalty"), rupiah(check.penalty)
    yield _("Admin fee"), rupiah(check.admin_fee)
    if receipt.order.fee:
        yield _("Service fee"), rupiah(receipt.order.fee)


def _paid(receipt: Receipt) -> Iterator[Facts]:
    paid = receipt.order.payment
    if paid.cash_given is not None:
        yield _cash(paid.cash_given, paid.change or 0)
    elif paid.method != CASH:
        debtor = paid.debt and paid.debt.account.customer  # none once the customer was erased
        words = [str(paid.method_words), slip_of(paid), debtor.name if debtor else ""]
        yield Facts("paid", ((_("Paid by"), " ".join(filter(None, words))),))


def _sums(sheet: ReceiptPaper) -> Iterator[Facts]:
    yield Facts("sum", ((_("TOTAL OF ALL"), rupiah(sheet.total)),))
    paid = paid_together(sheet.payments)
    if paid and paid.cash_given is not None:
        yield _cash(paid.cash_given, paid.change)
    elif paid:
        yield Facts("paid", ((_("Paid by"), str(paid.words)),))


def _cash(given: int, change: int) -> Facts:
    """The cash given and the change in coins, as the counter said it; total and rounding are what the shop kept."""
    in_coins = change_in_coins(change)
    rounding = [(pgettext("cash", "Rounding"), rupiah(change - in_coins))] if in_coins < change else []
    rows = (*rounding, (_("Cash given"), rupiah(given)), (pgettext("money", "Change"), rupiah(in_coins)))
    return Facts("cash", rows)


def _serial(receipt: Receipt) -> Serial | None:
    serial = receipt.serial
    if serial is None:
        return None
    by_hand = Mark("by_hand", f"({_('entered by hand')})") if receipt.order.sn_by_hand else None
    rest = receipt.owner.rest if receipt.owner else ""
    label = _("TOKEN") if serial.is_token else "SN"
    return Serial(label, serial.main, serial.groups if serial.is_token else (), rest, by_hand)


def _printed(sheet: ReceiptPaper) -> Mark | None:
    if sheet.printed is None:
        return None
    at = sheet.printed.at
    when = {"day": _day(at), "time": hour(at)}
    if sheet.is_single:
        return Mark("printed", _("Print %(number)s, %(day)s %(time)s WIB") % {"number": sheet.printed.number, **when})
    return Mark("printed_all", _("Printed %(day)s %(time)s WIB") % when)


def moment_words(at: dt.datetime | None) -> str:
    """Day and time as a paper has them; "" for None."""
    return f"{_day(at)} {hour(at)} WIB" if at else ""


def _day(at: dt.datetime) -> str:
    return date_format(localtime(at), "d/m/Y")


def labelled(label: str, value: str) -> str:
    """The value behind its label; "" without a value."""
    return f"{label}: {value}" if value else ""
