"""The ways to pay, one row each.

To add one, add a row here and its words to the translations: the review, the order, the receipt, the shift, its paper,
its file and the day follow from the table.
"""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

CASH, CREDIT = "cash", "credit"


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to pay, or to give money back. A payment keeps `code`, and whether it counted as cash."""

    code: str
    words: str | Promise
    icon: str
    #: The key that chooses it in a review; "" for none. Not F5 to F7, which are the browser's own.
    key: str = ""
    #: Its money is in the drawer, and counted there.
    counts_as_cash: bool = False
    #: No money moves: the price is on a customer's account.
    needs_debtor: bool = False
    #: The number on the slip must be noted with it. If a method only `takes_reference`, the number may stay empty.
    needs_reference: bool = False
    takes_reference: bool = False
    #: Its provider pays the sum of a day to the bank, less a fee.
    is_paid_by_day: bool = False

    @property
    def keeps_reference(self) -> bool:
        """Whether a number is noted with it."""
        return self.needs_reference or self.takes_reference


METHODS = [
    Method(code=CASH, words=_("Cash"), icon="cash", key="F2", counts_as_cash=True),
    Method(code="transfer", words=_("Transfer"), icon="building-bank", key="F8", takes_reference=True),
    Method(code="qris", words=_("QRIS"), icon="qrcode", key="F4", is_paid_by_day=True),
    Method(
        code="card",
        words=_("Card (EDC)"),
        icon="credit-card",
        key="F9",
        needs_reference=True,
        is_paid_by_day=True,
    ),
    Method(code=CREDIT, words=_("On credit"), icon="notebook", key="F3", needs_debtor=True),
]


def find_method(code: str) -> Method | None:
    """The row with this code; None for a code that no row has."""
    return next((method for method in METHODS if method.code == code), None)


def bank_methods() -> list[Method]:
    """The methods whose money reaches the shop's bank."""
    return [method for method in METHODS if not (method.counts_as_cash or method.needs_debtor)]


def counts_as_cash(code: str) -> bool:
    """Whether money by this method is in the drawer."""
    method = find_method(code)
    return method is not None and method.counts_as_cash


def method_words(code: str) -> str:
    """The words of a method; its code if the table no longer has it."""
    method = find_method(code)
    return str(method.words) if method else code


def method_choices() -> list[tuple[str, str]]:
    """All methods, for a form."""
    return [(method.code, str(method.words)) for method in METHODS]


def money_choices() -> list[tuple[str, str]]:
    """The methods by which money moves, for a form; credit is a promise."""
    return [(method.code, str(method.words)) for method in METHODS if not method.needs_debtor]


def moves_money(code: str) -> bool:
    """Whether money moves by this method."""
    return code in dict(money_choices())
