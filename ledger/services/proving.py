"""Proves the books from their entries: the entries are the books, and everything else is a sum of them."""

from dataclasses import dataclass

from django.db import connection
from django.db.models import Max, Min

from ledger.models import Entry, Flaw, Proof
from ledger.services.posting import books

_WRONG_SUM = """
    SELECT id, off, reserved_off, amount FROM (
        SELECT id, amount, balance_after - %(balance)s - sum(balance_change) OVER w AS off,
            reserved_after - %(reserved)s - sum(reserved_change) OVER w AS reserved_off,
            at < COALESCE(lag(at) OVER w, (SELECT at FROM ledger_entry WHERE id <= %(first)s ORDER BY id DESC LIMIT 1))
                AS is_early
        FROM ledger_entry WHERE id > %(first)s AND id <= %(last)s WINDOW w AS (ORDER BY id)
    ) sums WHERE off <> 0 OR reserved_off <> 0 OR is_early ORDER BY id LIMIT 1
"""


@dataclass(frozen=True, kw_only=True)
class FoundFlaw:
    """A flaw of the books: the rupiah by which they are wrong (signed), and the first entry that shows it."""

    kind: Flaw
    amount: int
    entry_id: int | None = None


def newest_entry() -> int:
    """The id of the newest entry; 0 before the first."""
    return Entry.objects.aggregate(newest=Max("pk"))["newest"] or 0


def nothing_proved() -> Proof:
    """The beginning of a proof of everything: before the first entry."""
    return Proof(upto=(Entry.objects.aggregate(first=Min("pk"))["first"] or 1) - 1)


def prove_entries(proof: Proof, last: int) -> FoundFlaw | None:
    """Add up the entries after those that `proof` holds, up to the id `last`; None: each follows from the one before.

    Moves `proof` up to that id.
    """
    values = {"balance": proof.balance, "reserved": proof.reserved, "first": proof.upto, "last": last}
    with connection.cursor() as cursor:
        cursor.execute(_WRONG_SUM, values)
        row = cursor.fetchone()
    if row:
        entry_id, off, reserved_off, amount = row
        kind = Flaw.RUNNING if off or reserved_off else Flaw.TIME
        return FoundFlaw(kind=kind, amount=int(off or reserved_off or amount), entry_id=entry_id)
    sums = Entry.objects.filter(pk__gt=proof.upto, pk__lte=last).order_by("-pk")
    if newest := sums.values_list("balance_after", "reserved_after").first():
        proof.balance, proof.reserved = newest
    proof.upto = max(proof.upto, last)
    return None


def prove_sums(proof: Proof) -> FoundFlaw | None:
    """Compare the sums in the books with those of all entries, which `proof` holds."""
    kept = books()
    off = (kept.balance - proof.balance) or (kept.reserved - proof.reserved)
    return FoundFlaw(kind=Flaw.CACHED, amount=off, entry_id=proof.upto or None) if off else None
