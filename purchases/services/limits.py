"""The amount that a person may still spend today, checked in the transaction that stores an order; and the hours."""

from dataclasses import dataclass

from django.db import connection
from django.utils import timezone

from core import clock
from core.rights import Right
from core.times import start_of_day
from policies.services import is_between, policies
from purchases.errors import LimitReached, OutsideHours
from purchases.states import Status
from staff.models import User
from staff.services import Limits, limits_of, lock_person, names_of_helpers

# Orders in these statuses have certainly cost nothing, and never will.
_FREE = ", ".join(f"'{status}'" for status in (Status.REJECTED, Status.CANCELLED, Status.FAILED))
_SPENT = f"""
    SELECT COALESCE(sum(COALESCE(price, max_price)), 0)::bigint FROM purchases_order
    WHERE placed_by_id = %s AND created_at >= %s AND status NOT IN ({_FREE}) AND idempotency_key <> %s
"""  # noqa: S608 - our names


@dataclass(frozen=True)
class Allowance:
    """A person's limits; `left`: the rest of today's limit in rupiah, None without a limit."""

    limits: Limits
    left: int | None

    def refusal(self, amount: int, *, largest: int | None = None) -> LimitReached | None:
        """The reason why an order of `amount` rupiah is beyond the limits, without names of helpers; None if it is not.

        For several orders, `amount` is the sum and `largest` the largest of them.
        """
        largest_amount = amount if largest is None else largest
        if self.limits.per_order is not None and largest_amount > self.limits.per_order:
            return LimitReached("per_order", amount=largest_amount, limit=self.limits.per_order, left=self.left)
        if self.limits.per_day is not None and self.left is not None and amount > self.left:
            return LimitReached("per_day", amount=amount, limit=self.limits.per_day, left=self.left)
        return None


def allowance_of(person: User, *, but: str = "") -> Allowance:
    """This person's limits now, without the order with the idempotency key `but`.

    It asks the database only if the person has a limit per day.
    """
    limits = limits_of(person)
    if limits.per_day is None:
        return Allowance(limits, None)
    return Allowance(limits, max(0, limits.per_day - _spent_today(person, but)))


def name_helpers(refusal: LimitReached, person: User) -> LimitReached:
    """The same refusal with the names of colleagues who can help."""
    return refusal.with_helpers(names_of_helpers(person))


def refuse_beyond_limits(person: User | None, amount: int, *, key: str, is_only_asked: bool = False) -> None:
    """Raise `LimitReached` when an order of `amount` rupiah is beyond what this person may spend.

    Call it in the transaction that stores the order with the idempotency key `key`. A person with a limit per day is
    locked, so that the second of two orders at the same moment sees the first; not with `is_only_asked`, when nothing
    is stored yet. A command without `--as` (None) has no limit.
    """
    if person is None:
        return
    if limits_of(person).per_day is not None and not is_only_asked:
        lock_person(person)
    if refusal := allowance_of(person, but=key).refusal(amount):
        raise name_helpers(refusal, person)


def outside_hours(person: User | None) -> OutsideHours | None:
    """The reason why this person may not sell at this hour; None for people who may approve orders, and commands."""
    held, at = policies(), timezone.localtime(clock.now()).time()
    if held.opens_at is None or held.closes_at is None or is_between(held.opens_at, held.closes_at, at):
        return None
    if person is None or person.has_perm(Right.APPROVE_ORDERS):
        return None
    return OutsideHours(held.opens_at, held.closes_at)


def _spent_today(person: User, but: str) -> int:
    """Rupiah of the person's orders of today (in the shop's time) that have cost something, or still may."""
    with connection.cursor() as cursor:
        cursor.execute(_SPENT, [person.pk, start_of_day(timezone.localdate()), but])
        (spent,) = cursor.fetchone() or (0,)
    return int(spent)
