"""Bill checks as the pages show them: where one stands, and what a person can do next."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from django.utils import timezone

from balance import presenting as balance
from bills.models import Answer, BillCheck, State
from purchases.destinations import kind_of, shown
from purchases.models import Order
from purchases.order_life import HoldReason, Status
from purchases.presenting import seconds_until_next_look

# A valid bill is looked at again this often: somebody else may have paid it, or the payment in its way has ended.
_LOOK_AT_VALID = 10


class Step(StrEnum):
    """What comes next for a bill."""

    WAIT = "wait"  # for the biller's answer
    ASK = "ask"  # nobody asks the biller any more: ask once more
    PAY = "pay"
    FOLLOW = "follow"  # the payment is under way
    LOOK = "look"  # the total has changed: fetch the present one
    CONFIRM = "confirm"  # the present total is known: confirm it
    PAY_AGAIN = "pay_again"  # held, and the check still lives
    CHECK = "check"  # a new check, with a new ref_id
    PAID_BEFORE = "paid_before"  # a month of it was paid with another check
    OPEN_ELSEWHERE = "open_elsewhere"  # another check of it has an open payment
    DONE = "done"


def next_step(check: BillCheck, order: Order | None, *, other: Order | None) -> Step:
    """The one thing to do next; `order` is the check's payment, `other` that of another check which is in its way."""
    if order is None:
        return _without_payment(check, other)
    if order.status == Status.HELD and not check.is_past_expiry:
        return _of_held(check, order)
    if order.status == Status.SUCCESS:
        return Step.DONE
    return Step.CHECK if order.is_final or order.status == Status.HELD else Step.FOLLOW


def _of_held(check: BillCheck, order: Order) -> Step:
    if order.hold_reason != HoldReason.AMOUNT_MISMATCH:
        return Step.PAY_AGAIN
    if check.total != order.max_price:
        return Step.CONFIRM
    has_looked = check.answered_at is not None and order.sent_at is not None and check.answered_at > order.sent_at
    return Step.PAY_AGAIN if has_looked else Step.LOOK


def _without_payment(check: BillCheck, other: Order | None) -> Step:
    if check.answer == Answer.NONE:
        return Step.ASK if check.next_ask_at is None else Step.WAIT
    if check.answer == Answer.REFUSAL or check.is_past_expiry:
        return Step.CHECK
    if other is None:
        return Step.PAY
    return Step.PAID_BEFORE if other.status == Status.SUCCESS else Step.OPEN_ELSEWHERE


@dataclass(frozen=True)
class ShownBill:
    """A check with its payment, as a page needs it. Read once, so that all of a page tells of one moment."""

    check: BillCheck
    order: Order | None

    @classmethod
    def of(cls, check: BillCheck) -> ShownBill:
        """The check as it stands now."""
        return cls(check=check, order=check.order)

    @cached_property
    def state(self) -> State:
        """What can be done with the check."""
        return self.check.state_with(self.order)

    @cached_property
    def other(self) -> Order | None:
        """Another check's payment that keeps this bill from being paid: it has paid a month of it, or is still open."""
        if self.order or self.check.answer != Answer.BILL or self.check.is_past_expiry:
            return None
        return self.check.paid_before or self.check.open_elsewhere

    @cached_property
    def step(self) -> Step:
        """What a person does next."""
        return next_step(self.check, self.order, other=self.other)

    @property
    def payment(self) -> Order | None:
        """The payment whose status is the bill's: the check's own, or the open one that is in its way."""
        return self.other if self.step is Step.OPEN_ELSEWHERE else self.order

    @property
    def destination(self) -> str:
        """The customer number, grouped for reading aloud."""
        return shown(kind_of(self.check.product), self.check.destination)

    @property
    def refusal_code(self) -> str:
        """Why it cannot be paid, in the upstream's code: the payment's, else the check's."""
        return self.order.error_code if self.order and self.order.status == Status.REJECTED else self.check.error_code

    @property
    def best_action(self) -> str:
        """Which way out comes first when it cannot be paid: check "again", "correct" the number, or "another" bill."""
        if self.refusal_code in {"INVALID_DESTINATION", "BILL_NOT_AVAILABLE"}:
            return "correct"
        return (
            "another" if self.refusal_code in {"BILL_ALREADY_PAID", "NOTHING_TO_PAY", "PRODUCT_NOT_FOUND"} else "again"
        )

    @property
    def seconds_left(self) -> int:
        """Whole seconds for which it can still be paid."""
        if self.check.expires_at is None:
            return 0
        return max(0, int((self.check.expires_at - timezone.now()).total_seconds()))

    @property
    def can_expire(self) -> bool:
        """Whether the clock is running: a person may still pay it, and not for ever."""
        return self.step in {Step.PAY, Step.LOOK, Step.CONFIRM, Step.PAY_AGAIN}

    @property
    def version(self) -> str:
        """Names what the page shows; another version is shown anew."""
        shown = self.order or self.other
        order = f"{shown.status}.{shown.attempt}" if shown else "-"
        return f"{self.state.value}.{self.step.value}.{self.check.total}.{order}.{bool(self.check.message)}"

    @property
    def delay(self) -> int | None:
        """Seconds until the page asks again; None when nothing will change by itself."""
        if self.step is Step.WAIT:
            age = (timezone.now() - self.check.created_at).total_seconds()
            return 2 if age < 30 else 4 if age < 90 else 10
        if self.can_expire or self.step is Step.OPEN_ELSEWHERE:
            return min(_LOOK_AT_VALID, self.seconds_left + 1)
        if self.step is Step.FOLLOW and self.order:
            return seconds_until_next_look(self.order, last_change=self.order.sent_at or self.order.created_at)
        return None


@dataclass(frozen=True)
class Funds:
    """What is available, and what a payment would leave of it. Rupiah; None where it is not known.

    `is_certain`: our books are open, so that a payment of more is refused.
    """

    available: int | None
    after: int | None
    is_certain: bool

    @classmethod
    def for_paying(cls, total: int) -> Funds:
        """What paying `total` rupiah would leave."""
        funds = balance.Funds.now()
        return cls(available=funds.available, after=funds.after(total), is_certain=funds.is_open)

    @property
    def missing(self) -> int:
        """How many rupiah are short; 0 when it is enough or not known."""
        return max(0, -self.after) if self.after is not None else 0
