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

# A valid bill is looked at again this often: somebody else may have paid it.
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
    PAID_BEFORE = "paid_before"  # its period was paid with another check
    DONE = "done"


def next_step(check: BillCheck, order: Order | None) -> Step:
    """The one thing to do next; `order` is the check's payment, if there is one."""
    if order is None:
        return _without_payment(check)
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


def _without_payment(check: BillCheck) -> Step:
    if check.answer == Answer.NONE:
        return Step.ASK if check.next_ask_at is None else Step.WAIT
    if check.answer == Answer.REFUSAL or check.is_past_expiry:
        return Step.CHECK
    return Step.PAID_BEFORE if check.paid_before else Step.PAY


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
    def step(self) -> Step:
        """What a person does next."""
        return next_step(self.check, self.order)

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
        order = f"{self.order.status}.{self.order.attempt}" if self.order else "-"
        return f"{self.state.value}.{self.step.value}.{self.check.total}.{order}.{bool(self.check.message)}"

    @property
    def delay(self) -> int | None:
        """Seconds until the page asks again; None when nothing will change by itself."""
        if self.step is Step.WAIT:
            age = (timezone.now() - self.check.created_at).total_seconds()
            return 2 if age < 30 else 4 if age < 90 else 10
        if self.can_expire:
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
