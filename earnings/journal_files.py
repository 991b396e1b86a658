"""A day's journal as files for other accounting programs."""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from earnings.journal_accounts import ACCOUNTS
from earnings.services.journal import Booking


@dataclass(frozen=True)
class Row:
    """One side of a booking. `account`: number and name as the shop chose them."""

    day: dt.date
    account: str
    words: str
    debit: int
    credit: int


def rows_of(day: dt.date, bookings: Iterable[Booking], names: Mapping[str, str]) -> Iterator[Row]:
    """The two sides of each booking, the debit first."""
    for booking in bookings:
        words = f"{names[booking.debit]} / {names[booking.credit]}"
        yield Row(day, names[booking.debit], words, booking.amount, 0)
        yield Row(day, names[booking.credit], words, 0, booking.amount)


#: The columns that imports of general journals ask for; numbers and names of accounts are apart.
COLUMNS: dict[str, Callable[[Row], Any]] = {
    "number": lambda row: f"JU-{row.day:%Y%m%d}",
    "date": lambda row: f"{row.day:%d/%m/%Y}",
    "account_number": lambda row: row.account.partition(" ")[0],
    "account_name": lambda row: row.account.partition(" ")[2],
    "description": lambda row: row.words,
    "debit": lambda row: row.debit,
    "credit": lambda row: row.credit,
}


def beancount_of(day: dt.date, bookings: Iterable[Booking], names: Mapping[str, str]) -> str:
    """The journal in beancount, one transaction for each booking; its words name the shop's own accounts."""
    lines = ['plugin "beancount.plugins.auto_accounts"', ""]  # opens each account at its first use
    for booking in bookings:
        words = f"{names[booking.debit]} / {names[booking.credit]}".replace("\\", "").replace('"', "")
        lines += [
            f'{day} * "{words}"',
            f"  {ACCOUNTS[booking.debit].beancount}  {booking.amount} IDR",
            f"  {ACCOUNTS[booking.credit].beancount}  -{booking.amount} IDR",
            "",
        ]
    return "\n".join(lines)
