"""A file of the bank becomes rows, each once: the same file, or one with some of the same days, adds nothing twice."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from django.db import transaction
from django.utils import timezone

from audit.services import record
from bank.errors import BankRefused
from bank.events import BANK_FILE_READ, BANK_FILE_TAKEN_BACK
from bank.formats import Booking, Columns, bookings_of, heading_of
from bank.models import BankAccount, BankFile, BankRow
from bank.services.matching import lock_bank, match_rows
from staff.models import User


def kept_columns(account: str, lines: Sequence[Sequence[str]]) -> Columns | None:
    """The columns that a person chose once for this account; None if its file looks different now."""
    kept = BankAccount.objects.filter(name=account).values_list("columns", flat=True).first()
    columns = Columns.of(kept) if kept else None
    return columns if columns and (not columns.heading or columns.heading in map(heading_of, lines)) else None


@transaction.atomic
def read_file(
    name: str, content: bytes, lines: Sequence[Sequence[str]], columns: Columns, *, account: str, fee: int, actor: User
) -> tuple[int, int]:
    """Keep the rows of this file, and match. Returns how many rows are new, and how many are matched at once.

    `account`: the name of a known or new account, which keeps `columns` and `fee`. Raises `BankRefused`.
    """
    bookings = list(bookings_of(lines, columns, timezone.localdate()))
    if not bookings:
        raise BankRefused("no_rows")
    lock_bank()
    kept = {"columns": columns.as_dict(), "most_fee": fee}
    of_bank, _is_new = BankAccount.objects.update_or_create(name=account, defaults=kept)
    digest = hashlib.sha256(content).hexdigest()
    if of_bank.files.filter(sha256=digest).exists():
        raise BankRefused("known")
    days = [booking.day for booking in bookings]
    file = BankFile.objects.create(
        account=of_bank,
        name=name[:100],
        sha256=digest,
        read_at=timezone.now(),
        read_by=actor,
        first_day=min(days),
        last_day=max(days),
    )
    BankRow.objects.bulk_create(_rows(file, bookings), ignore_conflicts=True, batch_size=1_000)
    added = file.rows.count()
    matched = match_rows(min(days), max(days))
    facts = {"bank_account": account, "file": file.name, "sha256": digest, "rows": added, "matched": matched}
    record(BANK_FILE_READ, actor=actor, subject="bank", facts=facts)
    return added, matched


def _rows(file: BankFile, bookings: Sequence[Booking]) -> list[BankRow]:
    seen: Counter[Booking] = Counter()
    rows = []
    for booking in bookings:
        seen[booking] += 1
        rows.append(BankRow(file=file, account=file.account, nth=seen[booking], **vars(booking)))
    return rows


@transaction.atomic
def take_back(file: BankFile, *, actor: User) -> None:
    """Delete the rows that this file brought, with their matches: it was for another account, or read wrongly."""
    lock_bank()
    facts = {"bank_account": file.account.name, "file": file.name, "sha256": file.sha256, "rows": file.rows.count()}
    record(BANK_FILE_TAKEN_BACK, actor=actor, subject="bank", facts=facts)
    file.delete()
