"""The statuses of an order and the moves between them: the one table that services, triggers and pages read.

docs/architecture.md draws it ("The order's life"). If the upstream leaves an order open for too long, two people
decide: success, failed or reversed.
"""

from django.db import models
from django.utils.translation import gettext_lazy as _

from core.looks import LookChoices


class Status(LookChoices):
    """The statuses of an order. Only what the upstream said counts: `unknown` is never called failed."""

    QUEUED = "queued", "clock", "queued", _("Queued")
    SENDING = "sending", "send", "sending", _("Sending")
    PENDING = "pending", "loader", "pending", _("In process")
    UNKNOWN = "unknown", "help-circle", "unknown", _("Outcome not known yet")
    NEEDS_ACTION = "needs_action", "player-pause", "needs_action", _("Needs action")
    SUCCESS = "success", "circle-check", "success", _("Success")
    FAILED = "failed", "circle-x", "failed", _("Failed")
    REJECTED = "rejected", "ban", "rejected", _("Rejected")
    CANCELLED = "cancelled", "circle-minus", "cancelled", _("Cancelled")
    CLOSED = "closed", "archive", "closed", _("Closed")
    REVERSED = "reversed", "arrow-back-up-double", "reversed", _("Reversed")


class ActionReason(models.TextChoices):
    """The reason why an order needs action. In each case no money has moved, as far as the upstream has reported."""

    BALANCE_SHORT = "balance_short", _("Provider balance is short")
    PRICE_CHANGED = "price_changed", _("Price has risen")
    CUT_OFF = "cut_off", _("Product closed (cut-off)")
    UNAVAILABLE = "unavailable", _("Product unavailable")
    AMOUNT_MISMATCH = "amount_mismatch", _("The bill's total has changed")
    NEVER_ARRIVED = "never_arrived", _("Seems never to have arrived, may have been charged")


FINAL = frozenset({Status.SUCCESS, Status.FAILED, Status.REJECTED, Status.CANCELLED, Status.CLOSED, Status.REVERSED})
OPEN = frozenset(Status) - FINAL
# The order has ended, and the customer has nothing.
UNFULFILLED = FINAL - {Status.SUCCESS}
# The upstream took it and the customer has nothing: the share of sales that went through is without these.
UNSOLD = frozenset({Status.FAILED, Status.REJECTED, Status.REVERSED})
# The upstream has, or may have, the order: all that we may do is ask for its status (document, What the service does
# 9).
POLLED = frozenset({Status.SENDING, Status.PENDING, Status.UNKNOWN})

# The upstream's own report counts in every open status: an order that seemed never to have arrived, and was queued
# again or needs action, may still have arrived late.
REPORTED = frozenset({Status.PENDING, Status.SUCCESS, Status.FAILED})
# The possible decisions of two people if the upstream's word is missing, or was taken back.
DECIDED = frozenset({Status.SUCCESS, Status.FAILED, Status.REVERSED})

TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.QUEUED: REPORTED | {Status.SENDING, Status.CANCELLED},
    Status.SENDING: REPORTED | {Status.UNKNOWN, Status.REJECTED, Status.NEEDS_ACTION, Status.QUEUED},
    Status.UNKNOWN: REPORTED | DECIDED | {Status.REJECTED, Status.NEEDS_ACTION, Status.QUEUED},
    Status.PENDING: DECIDED,
    Status.NEEDS_ACTION: REPORTED | DECIDED | {Status.QUEUED, Status.CANCELLED, Status.CLOSED},
    Status.SUCCESS: frozenset({Status.REVERSED}),
    **dict.fromkeys(UNFULFILLED, frozenset()),
}


def may_move(before: Status, after: Status) -> bool:
    """Whether an order may go from `before` to `after`."""
    return after in TRANSITIONS[before]


def allowed_moves() -> list[tuple[str, str]]:
    """Every permitted move, for the database trigger that enforces this table."""
    return sorted((before.value, after.value) for before, afters in TRANSITIONS.items() for after in afters)
