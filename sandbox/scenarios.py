"""Magic destinations: the one table of the service's behaviour for destinations whose digits end in 900000NN.

`docs/sandbox.md` shows this table, and a test compares them. A fault of the connection or of the answer is played only
on the first request with a ref_id; a repeat of the request gets a normal answer. All seconds are divided by
SANDBOX_SPEED.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal

from sandbox.errors import ErrorCode

MAGIC = re.compile(r"900000(\d\d)$")
Kind = Literal["purchase", "bill"]


class Answer(StrEnum):
    """The way in which the answer to an accepted request is sent."""

    PLAIN = "plain"
    CUT = "connection cut"
    HANG = "hang"
    HTTP_500 = "HTTP 500"
    BROKEN_JSON = "broken JSON"
    OTHER_REF_ID = "another ref_id"
    FLOAT_PRICE = "price not a whole number"
    DELAYED = "delayed"


class Content(StrEnum):
    """The contents of a callback."""

    TRUE = "true"
    FORGED = "forged"  # says failed, signed wrongly, not from the service
    STALE = "stale"  # an older state, sent after a newer one
    CONTRADICTION = "contradiction"  # says the opposite, signed correctly


class Serial(StrEnum):
    """The kind of SN that a success gets."""

    OWN = "own"
    SAME = "the same each time"
    NO_TOKEN = "a reference number, also for a token"  # noqa: S105 - no secret


@dataclass(frozen=True)
class Callback:
    """A callback that a scenario sends `after` seconds from the settlement, or from the acceptance if `early`."""

    content: Content = Content.TRUE
    after: float = 0.0
    early: bool = False


@dataclass(frozen=True)
class Scenario:
    """One row of the table: first the words for a person, then the actions of the services."""

    number: int
    does: str
    ends: str = "success"
    within: str = "10 s"
    charged: str = "once"
    applies_to: Literal["purchase, bill", "purchase", "bill"] = "purchase, bill"
    # seconds until it settles; None: when a person settles it
    settles_after: float | None = 3.0
    outcome: Literal["success", "failed"] = "success"
    serial: Serial = Serial.OWN
    answer: Answer = Answer.PLAIN
    callbacks: tuple[Callback, ...] = (Callback(),)
    # the connection is cut before anything happens; the request takes effect `arrives_after` seconds later or never
    cut_first: bool = False
    arrives_after: float | None = None
    # the refusal of the purchase or payment: always, on the first request only, or until a top-up
    refusal: ErrorCode | None = None
    refused_once: bool = False
    refused_until_topup: bool = False
    # rupiah that this order's price, or this bill's total, rises before the first request is served
    rise: int = 0
    # inquiries: seconds until it is valid (None: when a person completes it), seconds that it is valid, refusal, answer
    inquiry_pending: float | None = 0.0
    inquiry_valid: float | None = None
    inquiry_refusal: ErrorCode | None = None
    inquiry_answer: Answer = Answer.PLAIN


POLLED = "only the status endpoint reports it (no callback)"
NEVER_ARRIVED: dict[str, Any] = {
    "ends": "unknown, then needs action (never arrived); a bill is paid again identically: success",
    "within": "20 min (after the grace period); a bill 30 s",
    "charged": "no; a bill once",
}


def _polled(number: int, does: str, answer: Answer, *, within: str = "30 s") -> Scenario:
    return Scenario(number, f"{does}; {POLLED}", within=within, answer=answer, callbacks=())


def _needs_action(number: int, does: str, refusal: ErrorCode, *, until_topup: bool = False) -> Scenario:
    return Scenario(number, does, "needs action", "5 s", "no", refusal=refusal, refused_until_topup=until_topup)


_PURCHASES_AND_BILLS = (
    Scenario(1, "succeeds 3 s after it was accepted; one callback"),
    Scenario(2, "succeeds after 60 s", within="75 s", settles_after=60.0),
    Scenario(
        3, "stays pending until a person settles it in the dashboard", "pending", "at once, until settled",
        settles_after=None,
    ),
    Scenario(4, "fails after 3 s and is refunded", "failed", charged="once, refunded", outcome="failed"),
    _polled(5, "accepted, then the connection is cut without an answer", Answer.CUT),
    _polled(6, "accepted, then no answer for 40 s (or until the client hangs up)", Answer.HANG, within="90 s"),
    _polled(7, "accepted, but answered with HTTP 500 and an HTML page", Answer.HTTP_500),
    _polled(8, "accepted, but the answer's JSON is cut off in the middle", Answer.BROKEN_JSON),
    _polled(9, "accepted, but the answer has another ref_id (and looks like a success)", Answer.OTHER_REF_ID),
    _polled(10, "accepted, but the answer's price is not a whole number", Answer.FLOAT_PRICE),
    Scenario(
        11, "the connection is cut before anything happens; status says not found; a later request succeeds",
        **NEVER_ARRIVED, cut_first=True,
    ),
    Scenario(
        12, "the connection is cut, status says not found, and 20 s later the request arrives and succeeds",
        within="60 s", cut_first=True, arrives_after=20.0,
    ),
    Scenario(
        13, "succeeds at once and the callback is sent first; the answer (still pending) follows 2 s later",
        settles_after=0.0, answer=Answer.DELAYED,
    ),
    Scenario(
        14, "succeeds after 3 s; the callback comes twice, as two deliveries",
        callbacks=(Callback(), Callback(after=1.0)),
    ),
    _polled(15, "succeeds after 3 s", Answer.PLAIN),
    Scenario(
        16, "succeeds after 3 s; after the true callback an older one arrives that still says pending",
        callbacks=(Callback(), Callback(Content.STALE, after=2.0)),
    ),
    Scenario(
        17, "a forged callback (failed, wrong signature) comes after 1 s; the true success comes after 3 s",
        callbacks=(Callback(Content.FORGED, after=1.0, early=True), Callback()),
    ),
    Scenario(
        18, "succeeds after 3 s; 2 s later a correctly signed callback says failed, while status stays success",
        "success, with an incident", callbacks=(Callback(), Callback(Content.CONTRADICTION, after=2.0)),
    ),
    Scenario(
        19, "the price of this order rises by Rp500: PRICE_CHANGED while max_price is lower, else success",
        "needs action, success once the new price is confirmed", "5 s", "no, then once", "purchase", rise=500,
    ),
    _needs_action(
        20, "INSUFFICIENT_BALANCE until the account is topped up, then success", ErrorCode.INSUFFICIENT_BALANCE,
        until_topup=True,
    ),
    _needs_action(21, "CUT_OFF, always", ErrorCode.CUT_OFF),
    _needs_action(22, "PRODUCT_UNAVAILABLE (outage at the provider), always", ErrorCode.PRODUCT_UNAVAILABLE),
    Scenario(
        23, "INVALID_DESTINATION; for a bill the inquiry says so", "rejected", "5 s", "no",
        refusal=ErrorCode.INVALID_DESTINATION, inquiry_refusal=ErrorCode.INVALID_DESTINATION,
    ),
    Scenario(
        24, "the first request is answered 429 with Retry-After 3; the next one succeeds after 3 s",
        within="30 s", refusal=ErrorCode.RATE_LIMITED, refused_once=True,
    ),
    Scenario(
        25, "the first request is answered HTTP 400 with the unknown code WEIRD_NEW_CODE; status says not found",
        **NEVER_ARRIVED, refusal=ErrorCode.WEIRD_NEW_CODE, refused_once=True,
    ),
    Scenario(
        26, "succeeds after 3 s with the SN 26002600260026002600, each time",
        "success; the second one of a brand with an incident", applies_to="purchase", serial=Serial.SAME,
    ),
    Scenario(
        27, "succeeds after 3 s with an SN of 16 digits, also for an electricity token",
        "success; for a token with an incident", applies_to="purchase", serial=Serial.NO_TOKEN,
    ),
)  # fmt: skip

AFTER_PAYMENT = "10 s after the payment"


def _bill(number: int, does: str, ends: str, within: str = "5 s", charged: str = "no", **behaviour: Any) -> Scenario:
    return Scenario(number, does, ends, within, charged, "bill", **behaviour)


_BILLS = (
    _bill(
        31, "inquiry: pending for 10 s, then valid", "success once paid", AFTER_PAYMENT, "once", inquiry_pending=10.0,
    ),
    _bill(
        32, "inquiry: pending until a person completes it in the dashboard", "no payment possible (INQUIRY_PENDING)",
        "at once, until completed", inquiry_pending=None,
    ),
    _bill(
        33, "inquiry: valid, but it expires after 15 s; a payment after that is answered INQUIRY_EXPIRED",
        "success if paid in time, otherwise refused before sending; rejected if it expires on the way",
        AFTER_PAYMENT, "once, or no", inquiry_valid=15.0,
    ),
    _bill(
        34, "the total rises by Rp2.500 between inquiry and payment: AMOUNT_MISMATCH; the same inquiry again shows it",
        "needs action (amount), success once the new total is confirmed", charged="no, then once", rise=2_500,
    ),
    _bill(35, "inquiry: BILL_ALREADY_PAID", "no payment possible", inquiry_refusal=ErrorCode.BILL_ALREADY_PAID),
    _bill(
        36, "inquiry: BILL_NOT_AVAILABLE (no bill was found for the customer)", "no payment possible",
        inquiry_refusal=ErrorCode.BILL_NOT_AVAILABLE,
    ),
    _bill(
        37, "the bill is paid elsewhere after the inquiry: the payment is answered BILL_ALREADY_PAID", "rejected",
        refusal=ErrorCode.BILL_ALREADY_PAID,
    ),
    _bill(
        38, "the service loses the inquiry: the payment is answered BILL_NOT_FOUND", "rejected",
        refusal=ErrorCode.BILL_NOT_FOUND,
    ),
    _bill(
        39, "inquiry: stored, but the connection is cut; the same inquiry again returns it", "success once paid",
        AFTER_PAYMENT, "once", inquiry_answer=Answer.CUT,
    ),
)  # fmt: skip

SCENARIOS = {row.number: row for row in (*_PURCHASES_AND_BILLS, *_BILLS)}


def scenario_for(kind: Kind, destination: str) -> Scenario | None:
    """The scenario that the destination (for a bill: the customer number) selects, if any."""
    match = MAGIC.search("".join(filter(str.isdigit, destination)))
    scenario = SCENARIOS.get(int(match.group(1))) if match else None
    return scenario if scenario is not None and kind in scenario.applies_to else None
