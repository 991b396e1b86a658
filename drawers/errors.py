"""The reasons why something was not done with a drawer."""

import datetime as dt

from django.utils.translation import gettext_lazy as _

from core.errors import ForReason, OrderRefused, Refused
from core.money import rupiah, signed_rupiah
from core.times import hour


class DrawerRefused(ForReason):
    """Nothing was entered. `reason` is one of the keys below."""

    texts = {
        "drawer_taken": _("Somebody has this drawer open. Choose another one, or have it handed over."),
        "drawer_off": _("This drawer is not in use any more."),
        "other_branch": _("This person sells in another branch only. Choose a drawer of that branch."),
        "usual_elsewhere": _("This drawer is not in the person's branch. Choose a drawer of that branch."),
        "person_busy": _("This person has a drawer open. Close that shift first."),
        "no_right": _("This person may not use a drawer."),
        "name_taken": _("There is a drawer with this name already."),
        "in_use": _("This drawer is open. Close its shift first."),
        "closed": _("This shift is closed. It never changes."),
        "cash_counted": _(
            "This cash was counted when its shift closed, so the payment stays."
            " A person who manages credit can enter what is still owed as “Owed from before”."
        ),
        "count_used": _("A later shift began with this count. It never changes."),
        "corrected": _("This count was corrected before. It never changes."),
        "no_correction": _("Write why the count was wrong."),
        "explained": _("This count has its reason. It never changes."),
        "no_explanation": _("Write why it differs."),
        "not_yours": _("Only the cashier of this shift, or a person who manages drawers, can do this."),
        "no_shift": _("You have no drawer open. Open one first."),
        "no_sale": _("This order is in no drawer."),
        "sold_before": _("This sale is in a shift that is closed. It never changes."),
        "cash_short": _("The customer gave less than the price."),
        "no_customer": _("Choose the customer who buys on credit."),
        "ended": _(
            "This order has ended without success, so how it was paid stays as it is. Note how the money goes back."
        ),
        "not_owed": _("Nothing is owed for this order now."),
        "on_no_account": _(
            "This sale was on credit, but it is on no customer's tab: nobody has paid it. Give no money."
        ),
        "given_back": _("Somebody has noted before that the customer has the money back."),
        "form_used": _("This form was sent before, and entered something else. Look at the entries, then try again."),
        "no_reason": _("Write what it is for."),
        "day_signed": _("This day is signed. It never changes."),
        "day_open": _("A shift is open that began on this day. Close it first."),
        "day_moved": _("The closing of this day has changed since you saw it. Check it again, then sign."),
        "day_empty": _("No shift was closed on this day."),
        "day_running": _("This day is not over. An owner can sign it from the next day on."),
    }


class TooLittleCash(Refused):
    """Only `there` rupiah should be in the drawer, less than the amount to go out."""

    def __init__(self, there: int, *, is_blind: bool) -> None:
        self.there = there
        words = _(
            "There should be only %(amount)s in this drawer: no more can go out in cash. First enter what came in."
        )
        if is_blind:
            words = _("There should be less in this drawer: it cannot go out in cash. First enter what came in.")
        super().__init__(words % {"amount": rupiah(there)})


class PaymentUnclear(OrderRefused):
    """The payment in the review is invalid, so nothing was placed."""


class SlipUsed(OrderRefused):
    """A sale of today, or of the last hour, has this number on its slip; a person may confirm that it paid both."""

    def __init__(self, ref_id: str, slip: str, *, at: dt.datetime) -> None:
        self.ref_id, self.slip = ref_id, slip
        words = _(
            "Order %(ref_id)s of %(time)s has the same number on its slip: %(slip)s. Is it the slip of this sale?"
        )
        super().__init__(words % {"ref_id": ref_id, "slip": slip, "time": hour(at)})


class OpeningUnexplained(Refused):
    """The count differs by `difference` (rupiah) from what the drawer's last count left, and nobody wrote why."""

    def __init__(self, difference: int) -> None:
        self.difference = difference
        super().__init__(
            _("The count differs by %(amount)s from what the last shift left. Count again, or write why.")
            % {"amount": signed_rupiah(difference)}
        )


class DifferenceUnexplained(Refused):
    """The count differs from what is expected by `difference` (rupiah), and nobody wrote why."""

    def __init__(self, difference: int) -> None:
        self.difference = difference
        super().__init__(
            _("The count differs by %(amount)s. Count again, or write why. “I do not know” is a reason, too.")
            % {"amount": signed_rupiah(difference)}
        )
