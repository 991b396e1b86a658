"""The reasons why something is not sold on credit, or not entered in a customer's account."""

import datetime as dt

from django.utils.translation import gettext_lazy as _

from core.errors import ForReason, OrderRefused
from core.money import rupiah
from core.times import day_words


class CreditRefused(ForReason, OrderRefused):
    """Nothing was sold, entered or sent. `reason` is one of the keys below."""

    texts = {
        "no_right": _("Only a person who gives customers credit can do this."),
        "may_not": _("You have no right to sell on credit or to take its payments."),
        "no_reason": _("Write what it is for."),
        "no_customer": _("Choose the customer who buys on credit."),
        "placed_before": _("This order was placed before, and not on credit. Change on its page how it was paid."),
        "on_credit": _("This order is on a customer's tab already."),
        "not_on_credit": _("This order is on no customer's tab."),
        "still_owed": _(
            "This order is on a customer's tab. Give it back under “Payment” on its page: that takes it off the debt."
        ),
        "more_than_owed": _("The customer owes less than that. Type what was paid of the debt."),
        "more_than_kept": _("The shop owes the customer less than that. Look at the account, then try again."),
        "not_paid_yet": _("The customer has not paid this sale yet. Take it off the tab instead."),
        "nobodys": _("The customer of this account was deleted. Give the money back in cash, by transfer or QRIS."),
        "not_money": _("Choose how the money moves."),
        "no_reference": _("Write the number on the slip of the card terminal."),
        "form_used": _("This form was sent before, and entered something else. Look at the entries, then try again."),
        "account_gone": _("The customer of this sale was deleted or merged: how it was paid stays as it is."),
        "gone_meanwhile": _("This customer was deleted or merged meanwhile. Nothing was entered."),
        "sold_meanwhile": _("Something was sold to one of them at this moment. Look at both, and try again."),
        "undone": _("This was undone before."),
        "deleted": _("This customer was deleted, and nobody can owe it again. The payment stays."),
        "paid_back_since": _(
            "Money went back to the customer after this payment, so the payment stays."
            " A person who manages credit can enter a difference as “Owed from before”."
        ),
        "not_yours": _("Only the person who took this payment, or a person who gives customers credit, can undo it."),
    }


class NoAccount(CreditRefused):
    """The customer may not buy on credit, because nobody has given the customer an account."""

    def __init__(self, name: str) -> None:
        self.reason = ""
        OrderRefused.__init__(self, _("%(name)s may not buy on credit. An owner can allow it.") % {"name": name})


class OtherAccount(CreditRefused):
    """The sale is on the account of another customer than the named one."""

    def __init__(self, name: str) -> None:
        self.reason = ""
        words = _("This sale is on the account of %(name)s: it comes off that account and no other.")
        OrderRefused.__init__(self, words % {"name": name})


class OverCap(CreditRefused):
    """The customer would owe more than the cap. `owed`, `cap`, `amount`: rupiah."""

    def __init__(self, name: str, *, owed: int, cap: int, amount: int) -> None:
        self.reason, self.owed, self.cap, self.amount = "", owed, cap, amount
        words = _("%(name)s owes %(owed)s; with %(amount)s more it would be above the cap of %(cap)s.")
        facts = {"name": name, "owed": rupiah(owed), "amount": rupiah(amount), "cap": rupiah(cap)}
        OrderRefused.__init__(self, words % facts)


class Overdue(CreditRefused):
    """The customer's debt has been due since the day `since`. Nothing more is sold on credit until it is paid."""

    def __init__(self, name: str, *, since: dt.date) -> None:
        self.reason, self.since = "", since
        words = _("%(name)s has a debt that was due on %(day)s. It has to be paid before anything more is on credit.")
        OrderRefused.__init__(self, words % {"name": name, "day": day_words(since)})
