"""Magic destinations: the one table of what a destination whose digits end in 900000NN makes the service do.

`docs/sandbox.md` shows this table and a test holds the two equal. A fault of the connection or of the answer
is played on the first request with a ref_id only; a repeat of the request goes through plainly. All seconds are
divided by SANDBOX_SPEED.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Literal

from sandbox.api.envelope import ErrorCode

MAGIC = re.compile(r"900000(\d\d)$")


class Answer(StrEnum):
    """How the answer to an accepted request travels."""

    PLAIN = "plain"
    CUT = "connection cut"
    HANG = "hang"
    HTTP_500 = "HTTP 500"
    BROKEN_JSON = "broken JSON"
    OTHER_REF_ID = "another ref_id"
    FLOAT_PRICE = "price no whole number"
    DELAYED = "delayed"


class Content(StrEnum):
    """What a callback says."""

    TRUE = "true"
    FORGED = "forged"  # says failed, badly signed, not from the service
    STALE = "stale"  # an older state, sent after a newer one
    CONTRADICTION = "contradiction"  # says the opposite, properly signed


@dataclass(frozen=True)
class Callback:
    """A callback that a scenario sends, `after` seconds from the settling, or from the acceptance if early."""

    content: Content = Content.TRUE
    after: float = 0.0
    early: bool = False


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One row of the table: first what a person reads, then what the engine does."""

    number: int
    does: str
    ends: str
    within: str
    charged: str
    bills: bool = True
    purchases: bool = True
    # settling after this many seconds; None: never until told
    settles_after: float | None = 3.0
    outcome: Literal["success", "failed"] = "success"
    answer: Answer = Answer.PLAIN
    callbacks: tuple[Callback, ...] = (Callback(),)
    # cut before anything happened; with `arrives_after` the request takes effect that many seconds later
    cut_first: bool = False
    arrives_after: float | None = None
    refusal: ErrorCode | None = None
    # the refusal ends: after the first time / after a top-up
    refused_once: bool = False
    refused_until_topup: bool = False
    unknown_code: bool = False
    price_rise: int = 0
    # bills: seconds until the inquiry is valid (None: never until told), its life, refusals of inquiry and payment
    inquiry_pending: float | None = 0.0
    inquiry_life: float | None = None
    inquiry_refusal: ErrorCode | None = None
    inquiry_answer: Answer = Answer.PLAIN
    total_rise: int = 0

    @property
    def applies_to(self) -> str:
        """For a person: what the scenario can be used with."""
        both = self.bills and self.purchases
        return "purchase, bill" if both else "purchase" if self.purchases else "bill"


NEVER: tuple[Callback, ...] = ()
POLLED = "only the status endpoint tells (no callback)"

_ROWS = (
    Scenario(
        number=1, does="succeeds 3 s after it was accepted; one callback", ends="success", within="10 s", charged="once"
    ),
    Scenario(number=2, does="succeeds after 60 s", ends="success", within="75 s", charged="once", settles_after=60.0),
    Scenario(
        number=3,
        does="stays pending until someone settles it in the dashboard",
        ends="pending",
        within="at once, until told",
        charged="once",
        settles_after=None,
    ),
    Scenario(
        number=4,
        does="fails after 3 s and is refunded",
        ends="failed",
        within="10 s",
        charged="once, refunded",
        outcome="failed",
    ),
    Scenario(
        number=5,
        does=f"accepted, then the connection is cut without an answer; {POLLED}",
        ends="success",
        within="30 s",
        charged="once",
        answer=Answer.CUT,
        callbacks=NEVER,
    ),
    Scenario(
        number=6,
        does=f"accepted, then no answer for 40 s (or until the client hangs up); {POLLED}",
        ends="success",
        within="90 s",
        charged="once",
        answer=Answer.HANG,
        callbacks=NEVER,
    ),
    Scenario(
        number=7,
        does=f"accepted, but answered with HTTP 500 and an HTML page; {POLLED}",
        ends="success",
        within="30 s",
        charged="once",
        answer=Answer.HTTP_500,
        callbacks=NEVER,
    ),
    Scenario(
        number=8,
        does=f"accepted, but the answer's JSON is cut off in the middle; {POLLED}",
        ends="success",
        within="30 s",
        charged="once",
        answer=Answer.BROKEN_JSON,
        callbacks=NEVER,
    ),
    Scenario(
        number=9,
        does=f"accepted, but the answer carries another ref_id (and looks like a success); {POLLED}",
        ends="success",
        within="30 s",
        charged="once",
        answer=Answer.OTHER_REF_ID,
        callbacks=NEVER,
    ),
    Scenario(
        number=10,
        does=f"accepted, but the answer's price is no whole number; {POLLED}",
        ends="success",
        within="30 s",
        charged="once",
        answer=Answer.FLOAT_PRICE,
        callbacks=NEVER,
    ),
    Scenario(
        number=11,
        does="the connection is cut before anything happened; status says not found; a later request goes through",
        ends="unknown, then held as never arrived; a bill is paid again identically: success",
        within="20 min (after the grace period); a bill 30 s",
        charged="no; a bill once",
        cut_first=True,
    ),
    Scenario(
        number=12,
        does="the connection is cut, status says not found, and 20 s later the request arrives and succeeds",
        ends="success",
        within="60 s",
        charged="once",
        cut_first=True,
        arrives_after=20.0,
    ),
    Scenario(
        number=13,
        does="succeeds at once and the callback is sent first; the answer (still pending) follows 2 s later",
        ends="success",
        within="10 s",
        charged="once",
        settles_after=0.0,
        answer=Answer.DELAYED,
    ),
    Scenario(
        number=14,
        does="succeeds after 3 s; the callback comes twice, as two deliveries",
        ends="success",
        within="10 s",
        charged="once",
        callbacks=(Callback(), Callback(after=1.0)),
    ),
    Scenario(
        number=15,
        does=f"succeeds after 3 s; {POLLED}",
        ends="success",
        within="30 s",
        charged="once",
        callbacks=NEVER,
    ),
    Scenario(
        number=16,
        does="succeeds after 3 s; after the true callback an older one arrives that still says pending",
        ends="success",
        within="10 s",
        charged="once",
        callbacks=(Callback(), Callback(Content.STALE, after=2.0)),
    ),
    Scenario(
        number=17,
        does="a forged callback (failed, wrong signature) comes after 1 s; the true success comes after 3 s",
        ends="success",
        within="10 s",
        charged="once",
        callbacks=(Callback(Content.FORGED, after=1.0, early=True), Callback()),
    ),
    Scenario(
        number=18,
        does="succeeds after 3 s; 2 s later a properly signed callback says failed, while status stays success",
        ends="success, with an incident",
        within="10 s",
        charged="once",
        callbacks=(Callback(), Callback(Content.CONTRADICTION, after=2.0)),
    ),
    Scenario(
        number=19,
        does="the price rises by Rp500, in the product list too: PRICE_CHANGED while max_price is lower, else success",
        ends="held",
        within="5 s",
        charged="no",
        bills=False,
        price_rise=500,
    ),
    Scenario(
        number=20,
        does="INSUFFICIENT_BALANCE until the account is topped up, then success",
        ends="held",
        within="5 s",
        charged="no",
        refusal=ErrorCode.INSUFFICIENT_BALANCE,
        refused_until_topup=True,
    ),
    Scenario(
        number=21,
        does="CUT_OFF, always",
        ends="held",
        within="5 s",
        charged="no",
        refusal=ErrorCode.CUT_OFF,
    ),
    Scenario(
        number=22,
        does="PRODUCT_UNAVAILABLE (disturbance at the provider), always",
        ends="held",
        within="5 s",
        charged="no",
        refusal=ErrorCode.PRODUCT_UNAVAILABLE,
    ),
    Scenario(
        number=23,
        does="INVALID_DESTINATION; for a bill the check says so",
        ends="rejected",
        within="5 s",
        charged="no",
        refusal=ErrorCode.INVALID_DESTINATION,
        inquiry_refusal=ErrorCode.INVALID_DESTINATION,
    ),
    Scenario(
        number=24,
        does="the first request is answered 429 with Retry-After 3; the next one succeeds after 3 s",
        ends="success",
        within="30 s",
        charged="once",
        refusal=ErrorCode.RATE_LIMITED,
        refused_once=True,
    ),
    Scenario(
        number=25,
        does="the first request is answered HTTP 400 with the unknown code WEIRD_NEW_CODE; status says not found",
        ends="unknown, then held as never arrived; a bill is paid again identically: success",
        within="20 min (after the grace period); a bill 30 s",
        charged="no; a bill once",
        unknown_code=True,
        refused_once=True,
    ),
    Scenario(
        number=31,
        does="bill check: pending for 10 s, then valid",
        ends="success once paid",
        within="10 s after the payment",
        charged="once",
        purchases=False,
        inquiry_pending=10.0,
    ),
    Scenario(
        number=32,
        does="bill check: pending until someone completes it in the dashboard",
        ends="no payment possible (INQUIRY_PENDING)",
        within="at once, until told",
        charged="no",
        purchases=False,
        inquiry_pending=None,
    ),
    Scenario(
        number=33,
        does="bill check: valid, but it expires after 15 s; a payment after that is answered INQUIRY_EXPIRED",
        ends="success if paid in time, otherwise refused before sending; rejected if it expires on the way",
        within="10 s after the payment",
        charged="once, or no",
        purchases=False,
        inquiry_life=15.0,
    ),
    Scenario(
        number=34,
        does="the total rises by Rp2.500 between check and payment: AMOUNT_MISMATCH; a new look shows it",
        ends="held (amount), success once the new total is confirmed",
        within="5 s",
        charged="no, then once",
        purchases=False,
        total_rise=2_500,
    ),
    Scenario(
        number=35,
        does="bill check: BILL_ALREADY_PAID",
        ends="no payment possible",
        within="5 s",
        charged="no",
        purchases=False,
        inquiry_refusal=ErrorCode.BILL_ALREADY_PAID,
    ),
    Scenario(
        number=36,
        does="bill check: BILL_NOT_AVAILABLE (no bill was found for the customer)",
        ends="no payment possible",
        within="5 s",
        charged="no",
        purchases=False,
        inquiry_refusal=ErrorCode.BILL_NOT_AVAILABLE,
    ),
    Scenario(
        number=37,
        does="the bill is paid elsewhere after the check: the payment is answered BILL_ALREADY_PAID",
        ends="rejected",
        within="5 s",
        charged="no",
        purchases=False,
        refusal=ErrorCode.BILL_ALREADY_PAID,
    ),
    Scenario(
        number=38,
        does="the service forgets the check: the payment is answered BILL_NOT_FOUND",
        ends="rejected",
        within="5 s",
        charged="no",
        purchases=False,
        refusal=ErrorCode.BILL_NOT_FOUND,
    ),
    Scenario(
        number=39,
        does="bill check: stored, but the connection is cut; the same check again returns it",
        ends="success once paid",
        within="10 s after the payment",
        charged="once",
        purchases=False,
        inquiry_answer=Answer.CUT,
    ),
)

SCENARIOS: Mapping[int, Scenario] = MappingProxyType({row.number: row for row in _ROWS})


def for_purchase(destination: str) -> Scenario | None:
    """The scenario that a purchase's destination selects, if any."""
    scenario = _select(destination)
    return scenario if scenario is not None and scenario.purchases else None


def for_bill(destination: str) -> Scenario | None:
    """The scenario that a bill's customer number selects, if any."""
    scenario = _select(destination)
    return scenario if scenario is not None and scenario.bills else None


def _select(destination: str) -> Scenario | None:
    match = MAGIC.search("".join(filter(str.isdigit, destination)))
    return SCENARIOS.get(int(match.group(1))) if match else None
