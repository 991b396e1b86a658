"""Prove the books from their entries: the entries are the books, everything else is a sum of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection
from django.db.models import Max

from ledger.models import Entry, Flaw, Proof
from ledger.services.posting import books

# Entries that one statement adds up: far below the database's statement timeout.
CHUNK = 200_000

_RUNNING_SUMS = """
    SELECT id, balance_after - %(balance)s - sum(balance_change) OVER w AS off,
           reserved_after - %(reserved)s - sum(reserved_change) OVER w AS reserved_off
    FROM ledger_entry WHERE id > %(first)s AND id <= %(last)s WINDOW w AS (ORDER BY id)
"""


@dataclass(frozen=True, kw_only=True)
class FoundFlaw:
    """Something about the books that is wrong: by how many rupiah (signed), and the first entry that shows it."""

    kind: Flaw
    amount: int
    entry_id: int | None = None


def chunks(first: int) -> Iterator[tuple[int, int]]:
    """The entries after the id `first` in parts: (after this id, up to this id)."""
    newest = Entry.objects.aggregate(newest=Max("pk"))["newest"] or 0
    while first < newest:
        last = min(first + CHUNK, newest)
        yield first, last
        first = last


def prove_sums(proof: Proof) -> FoundFlaw | None:
    """Add up the entries after those that `proof` holds, and compare the sums that are kept; None: all agree.

    Brings `proof` up to the newest entry. Call it in a snapshot.
    """
    for first, last in chunks(proof.upto):
        if flaw := _first_wrong_sum(proof, first, last):
            return flaw
        sums = Entry.objects.filter(pk__gt=first, pk__lte=last).order_by("-pk")
        newest = sums.values_list("balance_after", "reserved_after").first()
        if newest:
            proof.balance, proof.reserved = newest
        proof.upto = last
    kept = books()
    if off := kept.balance - proof.balance:
        return FoundFlaw(kind=Flaw.CACHED, amount=off, entry_id=proof.upto or None)
    if off := kept.reserved - proof.reserved:
        return FoundFlaw(kind=Flaw.CACHED, amount=off, entry_id=proof.upto or None)
    return None


def _first_wrong_sum(proof: Proof, first: int, last: int) -> FoundFlaw | None:
    values = {"balance": proof.balance, "reserved": proof.reserved, "first": first, "last": last}
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT id, off, reserved_off FROM ({_RUNNING_SUMS}) sums"  # noqa: S608 - our own text
            " WHERE off <> 0 OR reserved_off <> 0 ORDER BY id LIMIT 1",
            values,
        )
        row = cursor.fetchone()
    return FoundFlaw(kind=Flaw.RUNNING, amount=int(row[1] or row[2]), entry_id=row[0]) if row else None
