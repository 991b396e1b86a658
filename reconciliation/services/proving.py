"""Prove the books: the entries' own sums, and what each entry rests on (its order, its difference)."""

from __future__ import annotations

import datetime as dt

import structlog
from django.db import connection
from django.db.models import Sum
from django.utils import timezone

from core.snapshot import snapshot
from ledger.models import Flaw, Proof
from ledger.services import books
from ledger.services.proving import FoundFlaw, chunks, prove_sums
from reconciliation.models import Difference

log = structlog.get_logger()

_TRY_AGAIN_AFTER = dt.timedelta(minutes=10)

# An entry of an order is its price, a refund belongs to a failed one, a reversal to a reversed one.
_NOT_ITS_ORDERS = """
    SELECT e.id, COALESCE(NULLIF(e.balance_change - COALESCE(
        CASE e.kind WHEN 'debit' THEN -1 ELSE 1 END * COALESCE(o.price, o.max_price), 0), 0), e.balance_change)
    FROM ledger_entry e LEFT JOIN purchases_order o ON o.ref_id = e.ref_id
    WHERE e.id > %(first)s AND e.id <= %(last)s AND e.kind IN ('debit', 'refund', 'reversal') AND NOT COALESCE(
        e.amount = COALESCE(o.price, o.max_price) AND (
            e.kind = 'debit' OR (e.kind = 'refund' AND o.status = 'failed')
            OR (e.kind = 'reversal' AND o.status = 'reversed')
        ), FALSE)
    ORDER BY e.id LIMIT 1
"""
_UNFOUNDED = """
    SELECT e.id, COALESCE(NULLIF(e.balance_change - COALESCE(d.amount, 0), 0), e.balance_change)
    FROM ledger_entry e LEFT JOIN reconciliation_difference d ON d.entry_id = e.id
    WHERE e.id > %(first)s AND e.id <= %(last)s AND e.kind IN ('topup', 'adjustment')
        AND d.amount IS DISTINCT FROM e.balance_change
    ORDER BY e.id LIMIT 1
"""
_MISSING = """
    SELECT 0, -COALESCE(o.price, o.max_price) FROM purchases_order o
    WHERE o.accepted_no IS NOT NULL AND o.status IN ('pending', 'success', 'failed', 'reversed')
        AND NOT EXISTS (SELECT 1 FROM ledger_entry e WHERE e.ref_id = o.ref_id AND e.kind = 'debit')
    LIMIT 1
"""


def prove(*, everything: bool = False) -> Proof:
    """Prove the entries since the last proof, or all of them; store and return how far it came and what is wrong.

    A flaw stays until a proof of everything finds none; that is tried again every few minutes. Safe at any time, by
    anyone.
    """
    now = timezone.now()
    with snapshot():
        before = last_proof()
        if before.flaw and not everything:
            if before.all_proved_at and now - before.all_proved_at < _TRY_AGAIN_AFTER:
                return before
            everything = True
        proof = Proof() if everything else before
        start = proof.upto
        found = prove_sums(proof) or _rests_on_nothing(start, everything=everything) or _wrong_sum_of_differences()
    proof.proved_at = now
    proof.all_proved_at = now if everything else before.all_proved_at
    proof.flaw, proof.flaw_amount, proof.flaw_entry = "", 0, None
    if found:
        proof.upto, proof.balance, proof.reserved = before.upto, before.balance, before.reserved
        proof.flaw, proof.flaw_amount, proof.flaw_entry = found.kind, found.amount, found.entry_id
        log.error("books_have_a_flaw", kind=str(found.kind), amount=found.amount, entry=found.entry_id)
    kept = {field.name: getattr(proof, field.name) for field in Proof._meta.fields if not field.primary_key}
    return Proof.objects.update_or_create(only=True, defaults=kept)[0]


def last_proof() -> Proof:
    """The last proof as it was stored; an empty one before the first."""
    return Proof.objects.filter(only=True).first() or Proof()


def _rests_on_nothing(start: int, *, everything: bool) -> FoundFlaw | None:
    """The first entry since `start` that its order or its difference does not bear out."""
    questions = [(Flaw.ORDER, _NOT_ITS_ORDERS), (Flaw.UNFOUNDED, _UNFOUNDED)]
    for first, last in chunks(start):
        for kind, question in questions:
            if row := _first_row(question, first=first, last=last):
                return FoundFlaw(kind=kind, amount=row[1], entry_id=row[0])
    if everything and (row := _first_row(_MISSING)):
        return FoundFlaw(kind=Flaw.MISSING, amount=row[1])
    return None


def _wrong_sum_of_differences() -> FoundFlaw | None:
    found = Difference.objects.open().aggregate(total=Sum("amount"))["total"] or 0
    off = books().found - found
    return FoundFlaw(kind=Flaw.FOUND, amount=off) if off else None


def _first_row(question: str, **values: int) -> tuple[int, int] | None:
    with connection.cursor() as cursor:
        cursor.execute(question, values)
        row = cursor.fetchone()
    return (int(row[0]), int(row[1])) if row else None
