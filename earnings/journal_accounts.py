"""The accounts of a day's journal: our keys, the purpose of each, and its place in beancount."""

from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from credit.methods import METHODS


@dataclass(frozen=True)
class Account:
    """An account. `name`: its number and name until the shop chooses its own; `beancount`: its name in beancount."""

    words: str | Promise
    name: str
    beancount: str


_NAMES = {"cash": "Kas", "transfer": "Transfer", "qris": "QRIS", "card": "Kartu"}
#: Money without a method, such as a refund that only a note describes.
OTHER = "other"
ACCOUNTS = {
    **{
        method.code: Account(
            method.words,
            f"1-1{number:02d}0 {_NAMES.get(method.code, method.code)}",
            f"Assets:Money:{method.code.title()}",
        )
        for number, method in enumerate(METHODS, start=1)
        if not method.needs_debtor
    },
    "receivables": Account(_("What customers owe"), "1-1200 Piutang", "Assets:Receivables"),
    "deposit": Account(_("Provider balance"), "1-1300 Saldo deposit", "Assets:Deposit"),
    "bank": Account(_("The bank that pays top-ups"), "1-1400 Bank", "Assets:Bank"),
    "owed": Account(_("Refunds due"), "2-1100 Utang pengembalian", "Liabilities:Refunds"),
    "opening": Account(_("Balances from before"), "3-1000 Saldo awal", "Equity:Opening"),
    OTHER: Account(_("Other money in and out"), "3-1100 Kas masuk dan keluar lain", "Equity:Other"),
    "sales": Account(_("Sales"), "4-1000 Penjualan", "Income:Sales"),
    "refunds": Account(_("Sales that did not arrive"), "4-1100 Retur penjualan", "Income:Refunds"),
    "cost": Account(_("Cost"), "5-1000 Harga pokok", "Expenses:Cost"),
    "fees": Account(_("Provider's fees and corrections"), "6-1000 Biaya penyedia", "Expenses:Fees"),
    "differences": Account(_("Differences of cash"), "6-1100 Selisih kas", "Expenses:Differences"),
}
