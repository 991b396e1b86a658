"""The receipt for a payment of a debt, on the same paper and as the same kind of text as the receipt of an order."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _

from core.customer_texts import one_line, plain_lines
from core.money import rupiah
from credit.methods import find_method
from credit.models import CreditEntry
from credit.services import name_of
from purchases.receipt_lines import Facts, Lines, Mark, Part, framed, labelled, moment_words
from shop.models import Paper
from shop.presenting import Letterhead


@dataclass(frozen=True)
class PaymentPaper:
    """The content of the paper of one payment; the templates and the printer take it as a `ReceiptPaper`."""

    head: Letterhead
    paper: Paper
    entry: CreditEntry

    @property
    def is_single(self) -> bool:
        """It is about one payment."""
        return True

    @property
    def lines(self) -> Lines:
        """The lines of the paper, in the shop's language or that of the reader."""
        with translation.override(self.head.language or translation.get_language()):
            return framed(
                self.head,
                parts=(Part("", tuple(self._marks()), tuple(self._facts()), None),),
                cashier=labelled(_("Cashier"), self.entry.person.shown_name),
            )

    def _marks(self) -> Iterator[Mark]:
        if hasattr(self.entry, "undone_by"):
            yield Mark("void", f"*** {_('VOID')} ***")

    def _facts(self) -> Iterator[Facts]:
        entry = self.entry
        yield Facts(
            "facts",
            (
                (_("Date"), moment_words(entry.at)),
                (_("Payment no."), str(entry.pk)),
                (_("Name"), name_of(entry.account)),
                (_("Owed before"), rupiah(entry.balance_after + entry.paid)),
            ),
        )
        yield Facts("total", ((_("PAID"), rupiah(entry.paid)),))
        yield Facts("sums", ((_("Paid by"), paid_by(entry)), (_("Still owed"), rupiah(entry.balance_after))))


def paid_by(entry: CreditEntry) -> str:
    """The method, with the number of the slip if it has one: any other note is the shop's own."""
    method = find_method(entry.method)
    slip = entry.reason if method and method.needs_reference else ""
    return " ".join(filter(None, [str(entry.method_words), one_line(slip)]))


def payment_text(entry: CreditEntry, head: Letterhead) -> str:
    """The text for the customer about this payment: plain text, in the shop's language or the signed-in person's."""
    with translation.override(head.language or translation.get_language()):
        facts = {
            "head": head,
            "entry": entry,
            "name": one_line(name_of(entry.account)),
            "paid_by": paid_by(entry),
            "is_void": hasattr(entry, "undone_by"),
            "is_sandbox": settings.SANDBOX,
        }
        return plain_lines(render_to_string("purchases/payment_message.txt", facts))
