"""The one table of error codes: the meaning of each for money, the next step, and the words for the counter.

To add a code of the upstream, add it to `ErrorCode` and give it a row. The rest follows from the row: the kind of error
that leaves this room, the order's next move, and the words of the pages. A code without a row is never believed.
"""

from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from django.db.models import TextChoices
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class ErrorCode(StrEnum):
    """The error codes of the upstream, as they appear in `error_code`."""

    INVALID_REQUEST = "INVALID_REQUEST"
    INVALID_CREDENTIALS = "INVALID_CREDENTIALS"
    INVALID_SIGNATURE = "INVALID_SIGNATURE"
    INSUFFICIENT_BALANCE = "INSUFFICIENT_BALANCE"
    API_INACTIVE = "API_INACTIVE"
    ACCOUNT_NOT_VERIFIED = "ACCOUNT_NOT_VERIFIED"
    IP_NOT_ALLOWED = "IP_NOT_ALLOWED"
    PRODUCT_NOT_FOUND = "PRODUCT_NOT_FOUND"
    TRANSACTION_NOT_FOUND = "TRANSACTION_NOT_FOUND"
    BILL_NOT_FOUND = "BILL_NOT_FOUND"
    DUPLICATE_REF_ID = "DUPLICATE_REF_ID"
    AMOUNT_MISMATCH = "AMOUNT_MISMATCH"
    INQUIRY_PENDING = "INQUIRY_PENDING"
    PRICE_CHANGED = "PRICE_CHANGED"
    INQUIRY_EXPIRED = "INQUIRY_EXPIRED"
    INVALID_DESTINATION = "INVALID_DESTINATION"
    BILL_NOT_AVAILABLE = "BILL_NOT_AVAILABLE"
    BILL_ALREADY_PAID = "BILL_ALREADY_PAID"
    RATE_LIMITED = "RATE_LIMITED"
    PRODUCT_UNAVAILABLE = "PRODUCT_UNAVAILABLE"
    CUT_OFF = "CUT_OFF"


class OwnCode(StrEnum):
    """Codes that we store in addition to the upstream's. In an answer of the upstream they are not believed."""

    NOTHING_TO_PAY = "NOTHING_TO_PAY"  # the inquiry is valid, but its total is Rp0


class Next(StrEnum):
    """The next move of an order whose request got this answer."""

    REJECT = "reject"  # definitely refused, and final
    NEEDS_ACTION = "needs_action"  # refused for now: a person decides about the `action_reason`
    TRY_AGAIN = "try_again"  # send the same request again, after Retry-After
    WAIT_READY = "wait_ready"  # send the same request again, when the inquiry is ready
    ASK_STATUS = "ask_status"  # it may have been charged: only poll the status
    STOP = "stop"  # our account is refused: nothing is sent until that is corrected


class Step(TextChoices):
    """The next step of a person that can succeed; the label says it."""

    WAIT = "wait", _("Wait: it continues by itself.")
    TRY_LATER = "try_later", _("Try again later.")
    CORRECT_NUMBER = "correct_number", _("Check the number with the customer, then try again.")
    CHECK_AGAIN = "check_again", _("Check the bill again, then pay it.")
    CHOOSE_ANOTHER = "choose_another", _("Choose another product.")
    CONFIRM_PRICE = "confirm_price", _("Confirm the new price, or cancel.")
    CONFIRM_TOTAL = "confirm_total", _("Confirm the new total, or cancel.")
    AFTER_TOP_UP = "after_top_up", _("Send it again after the next top-up, or cancel.")
    NOTHING_TO_DO = "nothing_to_do", _("Take no money from the customer.")
    ASK_OWNER = "ask_owner", _("Tell the owner. It continues by itself when the provider accepts our account again.")


@dataclass(frozen=True)
class Meaning:
    """The meaning of one error code. `words` says what happened, `brief` the same in a few words for lists (both lazy).

    `action_reason` is set only with `Next.NEEDS_ACTION`. `may_be_503`: the upstream sends this code with HTTP 503; any
    other code is believed only with a 4xx. `catalogue_is_stale`: our catalogue is older than the upstream's.
    """

    next: Next
    step: Step
    words: Promise
    brief: Promise
    action_reason: str = ""
    may_be_503: bool = False
    catalogue_is_stale: bool = False

    @property
    def balance_untouched(self) -> bool:
        """Whether the request that got this answer certainly charged nothing."""
        return self.next is not Next.ASK_STATUS


_reject = partial(Meaning, Next.REJECT)
_needs_action = partial(Meaning, Next.NEEDS_ACTION)
_stop = partial(Meaning, Next.STOP, Step.ASK_OWNER, brief=_("Account refused"))

MEANINGS: dict[str, Meaning] = {
    ErrorCode.INVALID_REQUEST: _reject(
        Step.CORRECT_NUMBER, _("The provider did not accept the request."), _("Not accepted")
    ),
    ErrorCode.INVALID_CREDENTIALS: _stop(_("The provider does not know our Secret ID.")),
    ErrorCode.INVALID_SIGNATURE: _stop(_("The provider does not accept our signature.")),
    ErrorCode.API_INACTIVE: _stop(_("The provider has not activated the API for our account.")),
    ErrorCode.ACCOUNT_NOT_VERIFIED: _stop(_("The provider has not verified our account.")),
    ErrorCode.IP_NOT_ALLOWED: _stop(_("The provider does not allow our IP address.")),
    ErrorCode.INSUFFICIENT_BALANCE: _needs_action(
        Step.AFTER_TOP_UP, _("The provider balance is too low."), _("Balance too low"), action_reason="balance_short"
    ),
    ErrorCode.PRICE_CHANGED: _needs_action(
        Step.CONFIRM_PRICE,
        _("The price is higher than the confirmed one."),
        _("Price has risen"),
        action_reason="price_changed",
        catalogue_is_stale=True,
    ),
    ErrorCode.AMOUNT_MISMATCH: _needs_action(
        Step.CONFIRM_TOTAL,
        _("The bill's total is not the confirmed one."),
        _("Total has changed"),
        action_reason="amount_mismatch",
    ),
    ErrorCode.PRODUCT_UNAVAILABLE: _needs_action(
        Step.TRY_LATER,
        _("The provider said that this product is unavailable."),
        _("Unavailable"),
        action_reason="unavailable",
        may_be_503=True,
        catalogue_is_stale=True,
    ),
    ErrorCode.CUT_OFF: _needs_action(
        Step.TRY_LATER,
        _("This product is closed (cut-off)."),
        _("Product closed (cut-off)"),
        action_reason="cut_off",
        may_be_503=True,
    ),
    ErrorCode.PRODUCT_NOT_FOUND: _reject(
        Step.CHOOSE_ANOTHER,
        _("The provider no longer sells this product."),
        _("No longer sold"),
        catalogue_is_stale=True,
    ),
    ErrorCode.INVALID_DESTINATION: _reject(Step.CORRECT_NUMBER, _("This number is not known."), _("Number not known")),
    ErrorCode.BILL_NOT_AVAILABLE: _reject(
        Step.CORRECT_NUMBER, _("There is no bill for this number now."), _("No bill")
    ),
    ErrorCode.BILL_NOT_FOUND: _reject(Step.CHECK_AGAIN, _("The provider does not know this bill."), _("No bill")),
    ErrorCode.INQUIRY_EXPIRED: _reject(Step.CHECK_AGAIN, _("The bill expired before it was paid."), _("Expired")),
    ErrorCode.BILL_ALREADY_PAID: _reject(Step.NOTHING_TO_DO, _("This bill is already paid."), _("Already paid")),
    OwnCode.NOTHING_TO_PAY: _reject(Step.NOTHING_TO_DO, _("There is nothing to pay."), _("Nothing to pay")),
    ErrorCode.INQUIRY_PENDING: Meaning(
        Next.WAIT_READY, Step.WAIT, _("The biller is still preparing this bill."), _("In preparation")
    ),
    ErrorCode.RATE_LIMITED: Meaning(
        Next.TRY_AGAIN, Step.WAIT, _("The provider accepts no more requests at the moment."), _("Too many requests")
    ),
    ErrorCode.TRANSACTION_NOT_FOUND: Meaning(
        Next.ASK_STATUS, Step.WAIT, _("The provider does not know this order yet."), _("Not found")
    ),
    ErrorCode.DUPLICATE_REF_ID: Meaning(
        Next.ASK_STATUS, Step.WAIT, _("The provider has another request with this ref_id."), _("Outcome not known yet")
    ),
}

_UNKNOWN = Meaning(Next.ASK_STATUS, Step.WAIT, _("The outcome is not known yet."), _("Outcome not known yet"))


def meaning_of(code: str) -> Meaning:
    """The row of `code`. For a code that is empty or not in the table the outcome is unknown."""
    return MEANINGS.get(code, _UNKNOWN)
