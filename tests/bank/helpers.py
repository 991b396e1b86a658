"""Sales whose money reaches the bank, files of the bank, and the rows that are matched with the books."""

import datetime as dt
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from bank.formats import columns_of, lines_of
from bank.models import BankRow, State
from bank.presenting import statement_of
from bank.services import read_file
from bank.services.items import Item, open_items, open_sums
from staff.models import User
from testing.database import past_triggers
from testing.people import Browser
from tests.drawers.helpers import end, sell

TODAY = timezone.localdate
ONE_DAY = dt.timedelta(days=1)
#: The columns of `file_of` and `today`, kept for the bank.
CONFIRMED = {"day": 0, "text": 1, "amount": 2, "save": "BCA 1"}


def paid(seller: User, amount: int, method: str, *, days_ago: int = 0, reference: str = "") -> str:
    """The ref_id of a sale that was paid in this way."""
    order = end(sell(seller, amount), "success")
    with past_triggers() as cursor:
        cursor.execute(
            "UPDATE drawers_payment SET method = %s, is_cash = false, cash_given = NULL, reference = %s,"
            " at = at - make_interval(days => %s) WHERE id = %s",
            [method, reference, days_ago, order.payment_id],
        )
    return str(order.ref_id)


def still_open(day: dt.date) -> list[Item]:
    """The entries of this day without a matched row."""
    _sums, others = open_sums(day, day, {day})
    return [*open_items({day}), *others]


def read(owner: User, *rows: tuple[dt.date, str, str], account: str = "BCA 1", fee: int = 100) -> tuple[int, int]:
    """Read these rows: day, text, amount as the bank writes it."""
    lines = ["Tanggal;Keterangan;Cabang;Jumlah"]
    lines += [f"{day:%d/%m/%Y};{text};0000;{amount}" for day, text, amount in rows]
    content = "\n".join(lines).encode()
    table = lines_of(content)
    columns = columns_of(table)
    assert columns
    return read_file("mutasi.csv", content, table, columns, account=account, fee=fee, actor=owner)


def matches() -> dict[str, int]:
    """Item → rupiah at the bank."""
    return dict(BankRow.objects.filter(state=State.MATCHED).values_list("item", "amount"))


def names(part: str) -> list[str]:
    """The items, or the texts, of a part of the last thirty days."""
    lines = statement_of(TODAY() - 30 * ONE_DAY, TODAY()).part(part).lines()
    return [line.key or line.row.text for line in lines if line.key or line.row]


def file_of(*rows: str, heading: str = "Wann;Was;Wieviel") -> SimpleUploadedFile:
    """A file with these rows."""
    return SimpleUploadedFile("mutasi.csv", "\n".join([heading, *rows]).encode(), "text/csv")


def today(text: str, amount: str) -> str:
    """A row of today."""
    return f"{timezone.localdate():%d/%m/%Y};{text};{amount}"


def upload(browser: Browser, file: SimpleUploadedFile, **fields: Any) -> Any:
    """Have the page read the file; the answer."""
    return browser.post("/bank/read/", {"account": "BCA 1", "fee": "0,7", "file": file, **fields})
