"""Posts entries to the books; no other module does. Call it inside the transaction that changes the order.

Lock order: the order's row, then the books. All reading comes first: one statement takes the books' row, moves its sums
and appends the entries. Make it the transaction's last statement, so that nobody waits long for the one row.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from gateway.services import next_number
from ledger.errors import NotEnough
from ledger.models import Books, Entry
from staff.models import User


def books() -> Books:
    """The books as they are now, for reading."""
    return Books.objects.filter(only=True).first() or Books()


def lock_books() -> Books:
    """The books, locked until the end of the transaction."""
    return Books.objects.select_for_update().get_or_create(only=True)[0]


def settled_no() -> int:
    """A number below which nobody posts any more: each entry with a lower id can be seen from now on.

    Call it outside any transaction, because it waits for a running posting.
    """
    with transaction.atomic():
        lock_books()
        return next_number()


def set_found(total: int) -> None:
    """Note the sum of the open differences (rupiah, signed), in the transaction that finds or closes one."""
    if not Books.objects.filter(only=True).update(found=total):
        Books.objects.create(found=total)


def available(of: Books | None = None) -> int | None:
    """Rupiah that a new order may spend: balance and found, less reservations. None before the opening."""
    current = of or books()
    return None if current.opened_at is None else current.balance + current.found - current.reserved


@dataclass(frozen=True, kw_only=True)
class Step:
    """The effect of an order's move on the books; `kind` is a kind of an order's entries.

    `amount`: rupiah, to reserve (HOLD) or to debit. `is_new`: the order was stored just now and has no entries yet.
    `is_sent`: the order may be charged already, so its amount is reserved even if less is available.
    """

    kind: Entry.Kind
    ref_id: str
    order_kind: str
    amount: int = 0
    actor_id: int | None = None
    reason: str = ""
    is_new: bool = False
    is_sent: bool = False


def post(steps: Sequence[Step]) -> None:
    """Post these steps of locked orders, one after the other, in one statement.

    HOLD reserves exactly the amount, and replaces an earlier reservation. RELEASE ends the reservation, if there is
    one. DEBIT (the upstream has accepted the order) ends it and debits the amount, once. REFUND and REVERSAL bring back
    a debited amount, if there is one, once. Raises `NotEnough`; then nothing is posted.
    """
    standings = _standings({step.ref_id for step in steps if not step.is_new})
    lines: list[_Line] = []
    needed = None
    for step in steps:
        standing = standings.setdefault(step.ref_id, _Standing())
        if step.kind is Entry.Kind.HOLD and step.amount != standing.reserved and not step.is_sent:
            needed = (needed or 0) + step.amount - standing.reserved
        lines += standing.follow(step)
    if lines and not _append(lines, needed=needed):
        amount = sum(line.amount for line in lines if line.step.kind is Entry.Kind.HOLD and line.reserved_change > 0)
        raise NotEnough(amount=amount, available=(available() or 0) + amount - (needed or 0))


def open_books(balance: int) -> None:
    """Post the balance (rupiah) that the account had before all entries so far. Call it once."""
    current = lock_books()
    current.opened_at = timezone.now()
    current.save(update_fields=["opened_at"])
    if balance:
        _append([_Line(_account(Entry.Kind.OPENING), Entry.Kind.OPENING, abs(balance), balance_change=balance)])


def post_top_up(*, amount: int, actor: User | None, reason: str) -> Entry:
    """Add `amount` rupiah that were paid in."""
    step = _account(Entry.Kind.TOPUP, actor)
    return _append([_Line(step, step.kind, amount, balance_change=amount, reason=reason)])[0]


def post_adjustment(*, amount: int, actor: User, reason: str) -> Entry:
    """Move the balance by `amount` rupiah (signed): an adjustment by two people, or its reversal."""
    step = _account(Entry.Kind.ADJUSTMENT, actor)
    return _append([_Line(step, step.kind, abs(amount), balance_change=amount, reason=reason)])[0]


@dataclass(frozen=True)
class _Line:
    """One entry to be written. Rupiah; the changes are signed."""

    step: Step
    kind: Entry.Kind
    amount: int
    balance_change: int = 0
    reserved_change: int = 0
    reason: str = ""


@dataclass
class _Standing:
    """The sums of an order's entries: rupiah reserved, rupiah debited, whether the debit came back.

    Nobody else posts for the order meanwhile: its row is locked.
    """

    reserved: int = 0
    taken: int = 0
    is_back: bool = False

    def follow(self, step: Step) -> Iterator[_Line]:
        """The entries that this step makes; the standing changes with them."""
        match step.kind:
            case Entry.Kind.HOLD if self.reserved != step.amount:
                yield from self._release(step)
                self.reserved = step.amount
                yield _Line(step, step.kind, step.amount, reserved_change=step.amount)
            case Entry.Kind.RELEASE:
                yield from self._release(step, step.reason)
            case Entry.Kind.DEBIT:
                yield from self._release(step)
                if not self.taken:
                    self.taken = step.amount
                    yield _Line(step, step.kind, step.amount, balance_change=-step.amount)
            case Entry.Kind.REFUND | Entry.Kind.REVERSAL if self.taken and not self.is_back:
                self.is_back = True
                yield _Line(step, step.kind, self.taken, balance_change=self.taken, reason=step.reason)

    def _release(self, step: Step, reason: str = "") -> Iterator[_Line]:
        if self.reserved:
            amount, self.reserved = self.reserved, 0
            yield _Line(step, Entry.Kind.RELEASE, amount, reserved_change=-amount, reason=reason)


_ENTRIES = "SELECT ref_id, kind, amount, reserved_change FROM ledger_entry WHERE ref_id = ANY(%s)"


def _standings(ref_ids: set[str]) -> dict[str, _Standing]:
    standings = {ref_id: _Standing() for ref_id in ref_ids}
    if ref_ids:
        with connection.cursor() as cursor:
            cursor.execute(_ENTRIES, [list(ref_ids)])
            entries = cursor.fetchall()
        for ref_id, kind, amount, reserved_change in entries:
            standing = standings[ref_id]
            standing.reserved += reserved_change
            standing.taken += amount if kind == Entry.Kind.DEBIT else 0
            standing.is_back |= kind in {Entry.Kind.REFUND, Entry.Kind.REVERSAL}
    return standings


def _account(kind: Entry.Kind, actor: User | None = None) -> Step:
    """A step of the account itself, without an order."""
    return Step(kind=kind, ref_id="", order_kind="", actor_id=actor.pk if actor else None)


# The entries take their ids and times under the lock of the books' row. So ids and times are both in the order of
# posting, even if the clocks of several machines differ: never before the last entry, and never in a closed day. So
# each day closes with the balance with which the next day opens.
_APPEND = """
    WITH books AS (
        UPDATE ledger_books
        SET balance = balance + %(balance)s, reserved = reserved + %(reserved)s,
            posted_at = greatest(posted_at, %(now)s, (closed_day + 1)::timestamp AT TIME ZONE %(zone)s)
        WHERE "only" AND (%(needed)s::bigint IS NULL OR opened_at IS NULL OR balance + found - reserved >= %(needed)s)
        RETURNING balance - %(balance)s AS balance, reserved - %(reserved)s AS reserved, posted_at
    )
    INSERT INTO ledger_entry (kind, amount, balance_change, reserved_change, balance_after, reserved_after,
                              ref_id, order_kind, actor_id, reason, at)
    SELECT kind, amount, balance_change, reserved_change,
           balance + sum(balance_change) OVER w, reserved + sum(reserved_change) OVER w,
           ref_id, order_kind, actor_id, reason, posted_at
    FROM books, unnest(%(kind)s::text[], %(amount)s::bigint[], %(balance_change)s::bigint[],
                       %(reserved_change)s::bigint[], %(ref_id)s::text[], %(order_kind)s::text[],
                       %(actor_id)s::bigint[], %(reason)s::text[]) WITH ORDINALITY
        AS line (kind, amount, balance_change, reserved_change, ref_id, order_kind, actor_id, reason, place)
    WINDOW w AS (ORDER BY place) ORDER BY place
    RETURNING *
"""


def _append(lines: Sequence[_Line], *, needed: int | None = None) -> list[Entry]:
    """Move the sums and append the entries; empty, with nothing done, when `needed` rupiah are not available."""
    values = {
        "balance": sum(line.balance_change for line in lines),
        "reserved": sum(line.reserved_change for line in lines),
        "needed": needed,
        "now": timezone.now(),
        "zone": settings.TIME_ZONE,
        "kind": [line.kind.value for line in lines],
        "amount": [line.amount for line in lines],
        "balance_change": [line.balance_change for line in lines],
        "reserved_change": [line.reserved_change for line in lines],
        "ref_id": [line.step.ref_id for line in lines],
        "order_kind": [str(line.step.order_kind) for line in lines],
        "actor_id": [line.step.actor_id for line in lines],
        "reason": [line.reason[:500] for line in lines],
    }
    written = list(Entry.objects.raw(_APPEND, values))
    if not written:  # too little; or there were no books, and another first entry may have made them meanwhile
        Books.objects.get_or_create(only=True)
        written = list(Entry.objects.raw(_APPEND, values))
    return written
