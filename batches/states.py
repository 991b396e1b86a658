"""The states of a batch and of its rows."""

from django.utils.translation import gettext_lazy as _, pgettext_lazy

from core.looks import LookChoices


class BatchState(LookChoices):
    """The state of a batch. Only the rows of a released batch become orders."""

    CHECKED = "checked", "list-check", "held", _("Checked, not released")
    RUNNING = "running", "loader", "pending", pgettext_lazy("batch", "Running")
    PAUSED = "paused", "player-pause", "needs_action", pgettext_lazy("batch", "Paused")
    ENDED = "ended", "circle-check", "success", pgettext_lazy("batch", "Finished")
    CANCELLED = "cancelled", "circle-minus", "cancelled", _("Cancelled")


class RowState(LookChoices):
    """The state of a row. After `PLACED`, its order has the state."""

    READY = "ready", "clock", "queued", pgettext_lazy("row", "Ready")
    WRONG = "wrong", "alert-triangle", "bad", _("To be corrected")
    LEFT_OUT = "left_out", "circle-minus", "cancelled", _("Left out")
    PLACED = "placed", "send", "pending", _("Order placed")
    REFUSED = "refused", "ban", "rejected", _("Not placed")
    CANCELLED = "cancelled", "circle-minus", "cancelled", _("Cancelled")


class Fault(LookChoices):
    """The first reason why a row cannot be sold as it is."""

    NO_NUMBER = "no_number", "hash", "bad", _("No number")
    WRONG_NUMBER = "wrong_number", "hash", "bad", _("Wrong number")
    UNCLEAR_NUMBER = "unclear_number", "hash", "bad", _("Not clear where the number ends")
    DIGITS_LOST = "digits_lost", "hash", "bad", _("Digits of the number are lost")
    NO_PRODUCT = "no_product", "help", "bad", _("No product")
    UNKNOWN_PRODUCT = "unknown_product", "help", "bad", _("Unknown product")
    UNCLEAR_PRODUCT = "unclear_product", "help", "bad", _("Not one product")
    UNCLEAR_AMOUNT = "unclear_amount", "help", "bad", _("Unclear amount")
    NAME_BEHIND = "name_behind", "user", "held", _("Perhaps a name behind the product")
    BILL = "bill", "file-invoice", "bad", _("A bill: it takes the right to check bills")
    OTHER_OPERATOR = "other_operator", "arrows-exchange", "bad", _("Product of another operator")
    NOT_FOR_SALE = "not_for_sale", "player-pause", "bad", _("Cannot be sold now")
    BELOW_COST = "below_cost", "trending-down", "bad", _("Sells below cost")
    TWICE = "twice", "copy", "held", _("Twice in the table")
    DONE = "done", "checks", "held", _("Done before, by its reference")
    OPEN = "open", "loader", "held", _("An order for it is still open")
    TODAY = "today", "repeat", "held", _("Bought today already")
    ASKING = "asking", "loader", "pending", _("Being checked by the biller")
    UNANSWERED = "unanswered", "clock-x", "held", _("The biller has not answered")
    PAID = "paid", "checks", "held", _("This bill is paid already")
    BILLER = "biller", "ban", "bad", _("The biller gives no bill")
    TOTAL_CHANGED = "total_changed", "arrows-exchange", "held", _("The total has changed")
    UNEXPECTED = "unexpected", "bug", "bad", _("The app failed at this row, and nothing was sent for it")


#: A person may want such a sale a second time.
REPEATS = frozenset({Fault.DONE, Fault.TODAY})
#: A product can be chosen for all rows with one of these.
OF_PRODUCT = frozenset(
    {
        *(Fault.NO_PRODUCT, Fault.UNKNOWN_PRODUCT, Fault.UNCLEAR_PRODUCT, Fault.UNCLEAR_AMOUNT),
        *(Fault.OTHER_OPERATOR, Fault.NOT_FOR_SALE),
    }
)
#: With one of these, `BatchRow.said` is the ref_id of another order.
NAMES_AN_ORDER = frozenset({Fault.DONE, Fault.OPEN, Fault.TODAY, Fault.PAID})
#: The biller can be asked again about these.
ASKED_AGAIN = frozenset({Fault.UNANSWERED, Fault.BILLER, Fault.UNEXPECTED})
#: In a released batch, a person decides about rows with one of these, in a new batch.
FOR_A_PERSON = frozenset({Fault.TOTAL_CHANGED, Fault.UNANSWERED, Fault.UNEXPECTED})
