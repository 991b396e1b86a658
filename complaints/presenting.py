"""The answer to a customer about an order, in a plain sentence; and complaints in words.

An unknown outcome is never called failed.
"""

from dataclasses import dataclass

from django.utils import translation
from django.utils.translation import gettext as _, ngettext, pgettext

from complaints.models import MOVES, Complaint, State
from core.bidi import visible
from core.customer_texts import one_line
from core.money import rupiah
from core.times import short_time
from credit.methods import moves_money
from credit.presenting import off_account_words
from credit.services import OffAccount
from gateway.polling import backoff
from purchases.models import Order
from purchases.presenting import serial_number, shown_destination
from purchases.states import UNFULFILLED, ActionReason, Status
from shop.presenting import Letterhead


@dataclass(frozen=True)
class Answer:
    """The answer to the customer. `code` names it for scripts and tests; `text` is the whole message."""

    code: str
    sentence: str
    more: str
    text: str


def answer_for(order: Order, head: Letterhead, *, owed: int | None, off_account: OffAccount | None) -> Answer:
    """The answer in the shop's language, or the signed-in person's. `owed`: rupiah to be given back, if any.

    `off_account`: the rupiah that come, or came, off an account instead of a refund.
    """
    with translation.override(head.language or translation.get_language()):
        code, sentence, more = _said(order, owed, off_account)
        lines = [head.name, f"{sentence} {more}".strip(), f"Ref: {order.ref_id}", head.phone]
        text = visible("\n".join(line for line in lines if line))
    return Answer(code, visible(sentence), visible(more), text)


def _said(order: Order, owed: int | None, off_account: OffAccount | None) -> tuple[str, str, str]:
    """The code, the sentence, and the words after it."""
    facts = {"product": one_line(order.product_name), "number": shown_destination(order)}
    status = Status(order.status)
    if status is Status.SUCCESS:
        return _arrived(order, facts)
    if status in UNFULFILLED:
        return _ended(order, facts, owed, off_account)
    if status is Status.NEEDS_ACTION and order.action_reason != ActionReason.NEVER_ARRIVED:
        sentence = _("%(product)s for %(number)s has not been sent yet.") % facts
        return "waiting", sentence, _("Our staff is looking after it.")
    if status is Status.QUEUED and not order.may_be_charged:
        sentence = _("%(product)s for %(number)s waits its turn and is sent in a moment.") % facts
        return "waiting", sentence, ""
    sentence = _("%(product)s for %(number)s is still being processed.") % facts
    if status is Status.PENDING:
        return "processing", sentence, _asks_again(order)
    uncertain = _("It is not certain yet how it ends, so please do not buy it anywhere else meanwhile.")
    return "uncertain", sentence, f"{uncertain} {_asks_again(order)}"


def _arrived(order: Order, facts: dict[str, str]) -> tuple[str, str, str]:
    values = {**facts, "time": short_time(order.final_at) if order.final_at else "–"}
    is_bill = order.kind == Order.Kind.BILL
    sentence = (
        _("%(product)s for %(number)s has been paid: %(time)s.")
        if is_bill
        else _("%(product)s for %(number)s has arrived: %(time)s.")
    ) % values
    serial = serial_number(order)
    if serial is None:
        return ("paid" if is_bill else "arrived"), sentence, ""
    name = _("Token") if serial.is_token else "SN"
    return ("paid" if is_bill else "arrived"), sentence, f"{name}: {one_line(serial.main)}"


def _ended(
    order: Order, facts: dict[str, str], owed: int | None, off_account: OffAccount | None
) -> tuple[str, str, str]:
    status = Status(order.status)
    code, sentence = "not_through", _("%(product)s for %(number)s did not go through.")
    if status is Status.REVERSED:
        code, sentence = "reversed", _("The provider took %(product)s for %(number)s back.")
    elif status is Status.CLOSED:
        code, sentence = "closed", _("We have closed %(product)s for %(number)s: the provider does not know it.")
    payment, is_given = order.payment, order.payment.is_given
    if off_account and (is_given or owed):
        return code, sentence % facts, off_account_words(off_account, is_done=is_given)
    if (
        is_given and payment.given_method and not moves_money(payment.given_method)
    ):  # for people who may not see the account
        money = _("We have settled %(amount)s on your account.")
    elif is_given:
        money = _("We have given you %(amount)s back.")
    elif owed:
        money = _(
            "You get your %(amount)s back. Please come to us with this message, or tell us where we may transfer it to."
        )
    else:
        money = _("If you have paid for it, you get your money back from us.")
    return code, sentence % facts, money % {"amount": rupiah(owed or payment.to_give_back)}


def _asks_again(order: Order) -> str:
    """The words about how often the status is checked automatically, so that nobody needs to."""
    seconds = max(1, round(backoff(order.polls)))
    if seconds < 120:
        words = ngettext(
            "The status is checked again every %(n)s second.",
            "The status is checked again every %(n)s seconds.",
            seconds,
        )
        return words % {"n": seconds}
    minutes = round(seconds / 60)
    words = ngettext(
        "The status is checked again every %(n)s minute.",
        "The status is checked again every %(n)s minutes.",
        minutes,
    )
    return words % {"n": minutes}


def steps_of(complaint: Complaint) -> list[tuple[str, str]]:
    """The states to which the complaint can go, with the words of each button."""
    words = {State.ASKED: _("Provider asked"), State.ANSWERED: _("Answered")}
    close = pgettext("complaint", "Close it")
    return [(state.value, words.get(state, close)) for state in MOVES[State(complaint.state)]]
