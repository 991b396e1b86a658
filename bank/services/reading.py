"""A file of the bank becomes rows, each once: the same file, or one with some of the same days, adds nothing twice."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from operator import attrgetter

from django.db import transaction
from django.utils import timezone

from audit.services import record
from bank.errors import BankRefused
from bank.events import BANK_FILE_READ, BANK_FILE_TAKEN_BACK
from bank.formats import Booking, Columns, bookings_of, heading_of
from bank.models import BankAccount, BankFile, BankRow
from bank.services.matching import lock_bank, match_rows
from staff.models import User

# The parts by which a row of an account is known.
_OF_THE_BANK = ("day", "amount", "text", "reference", "nth")


def kept_columns(account: str, lines: Sequence[Sequence[str]]) -> Columns | None:
    """The columns that a person chose once for this account; None if its file looks different now."""
    kept = BankAccount.objects.filter(name=_known_name(account)).values_list("columns", flat=True).first()
    columns = Columns.of(kept) if kept else None
    return columns if columns and (not columns.heading or columns.heading in map(heading_of, lines)) else None


@transaction.atomic
def read_file(
    name: str,
    content: bytes,
    lines: Sequence[Sequence[str]],
    columns: Columns,
    *,
    account: str,
    fee: int | None,
    actor: User,
) -> tuple[int, int]:
    """Keep the rows of this file, and match. Returns how many rows are new, and how many are matched at once.

    `account`: the name of a known account, in any case and with any spaces, or of a new one. It keeps `columns` and
    `fee`; None leaves the fee that it has. A known file adds rows that it shared with a file that was taken back.
    Raises `BankRefused`, also if a known file adds nothing.
    """
    bookings = list(bookings_of(lines, columns, timezone.localdate()))
    if not bookings:
        raise BankRefused("no_rows")
    lock_bank()
    kept = {"columns": columns.as_dict()} | ({} if fee is None else {"most_fee": fee})
    of_bank, _is_new = BankAccount.objects.update_or_create(name=_known_name(account), defaults=kept)
    digest = hashlib.sha256(content).hexdigest()
    days = [booking.day for booking in bookings]
    facts_of_file = {
        "name": name[:100],
        "read_at": timezone.now(),
        "read_by": actor,
        "first_day": min(days),
        "last_day": max(days),
    }
    file, is_new = of_bank.files.get_or_create(sha256=digest, defaults=facts_of_file)
    rows = _rows(file, bookings)
    if not (is_new or _is_read_alike(file, rows)):
        raise BankRefused("known")
    count = file.rows.count()
    BankRow.objects.bulk_create(rows, ignore_conflicts=True, batch_size=1_000)
    added = file.rows.count() - count
    if not (is_new or added):
        raise BankRefused("known")
    matched = match_rows(min(days), max(days))
    facts = {"bank_account": of_bank.name, "file": file.name, "sha256": digest, "rows": added, "matched": matched}
    record(BANK_FILE_READ, actor=actor, subject="bank", facts=facts)
    return added, matched


def _known_name(typed: str) -> str:
    """The name of the account that a person means; the typed name if it is of a new account."""
    names = list(BankAccount.objects.values_list("name", flat=True))
    alike = (name for name in names if _plain(name) == _plain(typed))
    return typed if typed in names else next(alike, typed)


def _plain(name: str) -> str:
    return "".join(name.split()).casefold()


def _rows(file: BankFile, bookings: Sequence[Booking]) -> list[BankRow]:
    seen: Counter[Booking] = Counter()
    rows = []
    for booking in bookings:
        seen[booking] += 1
        rows.append(BankRow(file=file, account=file.account, nth=seen[booking], **vars(booking)))
    return rows


def _is_read_alike(file: BankFile, rows: Sequence[BankRow]) -> bool:
    """Whether these are the days and rows of a known file: with other columns each row would be kept twice."""
    days = [row.day for row in rows]
    kept = set(file.rows.values_list(*_OF_THE_BANK))
    return (file.first_day, file.last_day) == (min(days), max(days)) and kept <= {*map(attrgetter(*_OF_THE_BANK), rows)}


@transaction.atomic
def take_back(pk: int, *, actor: User) -> None:
    """Delete the rows that this file brought, with their matches: it was for another account, or read wrongly.

    Raises `BankRefused` if it was taken back before.
    """
    lock_bank()
    file = BankFile.objects.select_related("account").filter(pk=pk).first()
    if file is None:
        raise BankRefused("back")
    facts = {"bank_account": file.account.name, "file": file.name, "sha256": file.sha256, "rows": file.rows.count()}
    record(BANK_FILE_TAKEN_BACK, actor=actor, subject="bank", facts=facts)
    file.delete()
