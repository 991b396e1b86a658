"""The standings of a bill check: the one table that queries, commands and pages read."""

from enum import StrEnum

from django.db import models
from django.utils.translation import gettext_lazy as _

from core.looks import LookChoices


class AnswerKind(models.TextChoices):
    """The biller's answer; the only stored fact about its state."""

    NONE = "none", _("No answer yet")
    BILL = "bill", _("A bill")
    REFUSAL = "refusal", _("A refusal")


class BillState(LookChoices):
    """The state of a check in short: for lists, filters and the commands."""

    PENDING = "pending", "loader", "pending", _("Checking the bill")
    VALID = "valid", "file-invoice", "queued", _("Payable")
    EXPIRED = "expired", "clock-x", "warn", _("Expired")
    PAID = "paid", "circle-check", "success", _("Paid")
    REPLACED = "replaced", "arrow-forward-up", "queued", _("Replaced by a newer check")
    NOT_PAYABLE = "not_payable", "ban", "bad", _("Not payable")


class Standing(StrEnum):
    """The exact standing of a check, which decides the next step.

    It is never stored: `BillCheckQuerySet.with_standing` works it out from the answer, the clock and the payments.
    """

    ASKING = "asking"
    UNANSWERED = "unanswered"  # nobody inquires any more: a person may
    REFUSED = "refused"  # by the biller
    PAYABLE = "payable"
    EXPIRED = "expired"  # before it was paid, or while its payment needed action
    PAID_BEFORE = "paid_before"  # we have paid a month of it with another check
    OPEN_ELSEWHERE = "open_elsewhere"  # another check of the bill has an open payment
    REPLACED = "replaced"  # a newer check of the bill is to be paid
    PAYING = "paying"  # the payment continues by itself
    TOTAL_CHANGED = "total_changed"  # the payment was refused: inquire for the new total
    CONFIRM = "confirm"  # the new total is known: confirm it
    PAY_AGAIN = "pay_again"  # the payment needs action: it can be sent again
    DECIDE = "decide"  # the payment may have been charged, and the check can no longer be paid
    PAID = "paid"
    ENDED = "ended"  # the payment ended, and the bill is not paid

    @property
    def state(self) -> BillState:
        """The standing in short."""
        return next(state for state, standings in STANDINGS.items() if self in standings)


STANDINGS = {
    BillState.PENDING: {Standing.ASKING, Standing.UNANSWERED},
    BillState.VALID: {
        Standing.PAYABLE,
        Standing.PAYING,
        Standing.TOTAL_CHANGED,
        Standing.CONFIRM,
        Standing.PAY_AGAIN,
    },
    BillState.EXPIRED: {Standing.EXPIRED, Standing.DECIDE},
    BillState.PAID: {Standing.PAID},
    BillState.NOT_PAYABLE: {
        Standing.REFUSED,
        Standing.PAID_BEFORE,
        Standing.OPEN_ELSEWHERE,
        Standing.ENDED,
    },
    BillState.REPLACED: {Standing.REPLACED},
}
