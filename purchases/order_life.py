"""The statuses of an order and the moves between them: the one table that services, triggers and pages read.

queued ──claim──▶ sending ──accepted──▶ pending ──▶ success | failed (refunded)
  ▲ │               ├── no answer to trust ──▶ unknown ──status says──▶ pending | success | failed
  │ └▶ cancelled    ├── definite no ──▶ rejected
  └── again ── held ◀── no money moved: balance short, cut-off, …; or never arrived
"""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class Status(models.TextChoices):
    """Where an order stands. Only what the upstream said counts: `unknown` is never called failed."""

    QUEUED = "queued", _("Queued")
    SENDING = "sending", _("Sending")
    PENDING = "pending", _("In process")
    UNKNOWN = "unknown", _("Outcome not known yet")
    HELD = "held", _("Held")
    SUCCESS = "success", _("Success")
    FAILED = "failed", _("Failed")
    REJECTED = "rejected", _("Rejected")
    CANCELLED = "cancelled", _("Cancelled")


class HoldReason(models.TextChoices):
    """Why an order is held. In each case no money has moved, as far as the upstream has told us."""

    BALANCE_SHORT = "balance_short", _("Balance at the upstream is short")
    PRICE_CHANGED = "price_changed", _("Price has risen")
    CUT_OFF = "cut_off", _("Closed for the night")
    DISTURBED = "disturbed", _("Product disturbed")
    AMOUNT_MISMATCH = "amount", _("The bill's total has changed")
    NEVER_ARRIVED = "never_arrived", _("Never arrived at the upstream")


FINAL = frozenset({Status.SUCCESS, Status.FAILED, Status.REJECTED, Status.CANCELLED})
OPEN = frozenset(Status) - FINAL
# The upstream has, or may have, the order: all that we may do is ask for its status (document, What the service does
# 9).
ASKED_ABOUT = frozenset({Status.SENDING, Status.PENDING, Status.UNKNOWN})

# What the upstream itself reports is believed from every open status: an order that was thought never to have
# arrived, and was queued again or held, may still have arrived late.
_EVIDENCE = frozenset({Status.PENDING, Status.SUCCESS, Status.FAILED})

TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.QUEUED: _EVIDENCE | {Status.SENDING, Status.CANCELLED},
    Status.SENDING: _EVIDENCE | {Status.UNKNOWN, Status.REJECTED, Status.HELD, Status.QUEUED},
    Status.UNKNOWN: _EVIDENCE | {Status.REJECTED, Status.HELD, Status.QUEUED},
    Status.PENDING: frozenset({Status.SUCCESS, Status.FAILED}),
    Status.HELD: _EVIDENCE | {Status.QUEUED, Status.CANCELLED},
    Status.SUCCESS: frozenset(),
    Status.FAILED: frozenset(),
    Status.REJECTED: frozenset(),
    Status.CANCELLED: frozenset(),
}


def may_move(before: Status, after: Status) -> bool:
    """Whether an order may go from `before` to `after`."""
    return after in TRANSITIONS[before]


def allowed_moves() -> list[tuple[str, str]]:
    """Every permitted move, for the database trigger that enforces this table."""
    return sorted((before.value, after.value) for before, afters in TRANSITIONS.items() for after in afters)
