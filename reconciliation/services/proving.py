"""Proves the books: the entries' own sums, and the basis of each entry (its order, its difference).

A proof of everything has parts, each a short statement in a separate snapshot, for any number of entries.
"""

import datetime as dt

import structlog
from django.db import connection, transaction
from django.db.models import Max, Min, Sum
from django.utils import timezone

from core.snapshot import snapshot
from ledger.models import Flaw, Proof
from ledger.services import books, close_days, wrong_day
from ledger.services.proving import FoundFlaw, newest_entry, nothing_proved, prove_entries, prove_sums
from purchases.models import Order
from reconciliation.models import Difference
from reconciliation.services import proving_sql as sql

log = structlog.get_logger()

# The most ids of entries, and of orders, for one statement: it stays far below the database's statement timeout.
ENTRIES_AT_ONCE, ORDERS_AT_ONCE = 200_000, 50_000

_TRY_AGAIN_AFTER = dt.timedelta(minutes=10)

_OF_ENTRIES = [(Flaw.ORDER, sql.NOT_ITS_ORDERS), (Flaw.RESERVED, sql.RESERVED), (Flaw.UNFOUNDED, sql.UNFOUNDED)]
_OF_ORDERS = [(Flaw.MISSING, sql.MISSING), (Flaw.RESERVED, sql.RESERVED_OF_ORDERS)]
_OF_COMPARISON = [(Flaw.KEPT, sql.KEPT_BOOKED), (Flaw.KEPT, sql.KEPT_OUTSIDE)]


def prove(*, everything: bool = False) -> Proof:
    """Prove the entries since the last proof, or all of them; store and return its progress and the flaw.

    A flaw stays until a proof of everything finds none; such a proof is tried again every few minutes. Safe at any
    time, by anyone.
    """
    began = timezone.now()
    before = last_proof()
    if before.flaw and not everything:
        if before.all_proved_at and began - before.all_proved_at < _TRY_AGAIN_AFTER:
            return before
        everything = True
    proved = Proof(upto=before.upto, balance=before.balance, reserved=before.reserved)
    proof = nothing_proved() if everything else proved
    flaw = _look(proof, everything=everything)
    if flaw:
        log.error("books_have_a_flaw", kind=str(flaw.kind), amount=flaw.amount, entry=flaw.entry_id)
    with transaction.atomic():
        current = Proof.objects.select_for_update().get_or_create(only=True)[0]
        if current.all_proved_at and (current.all_proved_at > began if everything else _differs(current, before)):
            return current  # everything was proved meanwhile, from a later beginning
        if not flaw:
            current.upto, current.balance, current.reserved = proof.upto, proof.balance, proof.reserved
        current.proved_at = began
        if everything:
            current.all_proved_at = began
        current.flaw = flaw.kind if flaw else ""
        current.flaw_amount = flaw.amount if flaw else 0
        current.flaw_entry = flaw.entry_id if flaw else None
        current.save()
        return current


def last_proof() -> Proof:
    """The last proof as it was stored; an empty one before the first."""
    return Proof.objects.filter(only=True).first() or Proof()


def _differs(current: Proof, before: Proof) -> bool:
    return current.all_proved_at != before.all_proved_at


def _look(proof: Proof, *, everything: bool) -> FoundFlaw | None:
    """The first flaw, or None; moves `proof` up to the newest entry."""
    newest = newest_entry()
    in_parts = newest if everything else newest - ENTRIES_AT_ONCE
    while proof.upto < in_parts:
        with snapshot():
            if flaw := _wrong_entry(proof, min(proof.upto + ENTRIES_AT_ONCE, newest)):
                return flaw
    if everything and (flaw := _wrong_order() or _closed_otherwise()):
        return flaw
    with snapshot():
        return (
            _wrong_entry(proof, newest_entry())
            or prove_sums(proof)
            or _wrong_sum_of_differences()
            or _first_of(_OF_COMPARISON)
            or (_first_of([(Flaw.MISSING, sql.DANGLING)]) if everything else None)
        )


def _wrong_entry(proof: Proof, last: int) -> FoundFlaw | None:
    if last <= proof.upto:
        return None
    first = proof.upto
    return prove_entries(proof, last) or _first_of(_OF_ENTRIES, first=first, last=last)


def _wrong_order() -> FoundFlaw | None:
    """The first order that lacks an entry; oldest first, in parts."""
    ids = Order.objects.aggregate(oldest=Min("pk"), newest=Max("pk"))
    for before in range((ids["oldest"] or 1) - 1, ids["newest"] or 0, ORDERS_AT_ONCE):
        if flaw := _first_of(_OF_ORDERS, first=before, last=before + ORDERS_AT_ONCE):
            return flaw
    return None


def _closed_otherwise() -> FoundFlaw | None:
    close_days()
    return wrong_day()


def _wrong_sum_of_differences() -> FoundFlaw | None:
    total = Difference.objects.open().aggregate(total=Sum("amount"))["total"] or 0
    off = books().found - total
    return FoundFlaw(kind=Flaw.FOUND, amount=off) if off else None


def _first_of(questions: list[tuple[Flaw, str]], **values: int) -> FoundFlaw | None:
    """The flaw of the first query with an answer (entry, rupiah); None if no query has an answer."""
    for kind, question in questions:
        with connection.cursor() as cursor:
            cursor.execute(question, values)
            row = cursor.fetchone()
        if row:
            return FoundFlaw(kind=kind, amount=int(row[1]), entry_id=row[0] and int(row[0]))
    return None
