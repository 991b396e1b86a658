"""Orders as the pages show them: their facts, and the meaning of their status for the viewer.

They are never optimistic about money, and offer a step only if `allowed_actions` says that it can succeed.
"""

import datetime as dt
import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _, ngettext

from catalogue.destinations import METER
from catalogue.rights import sees_cost
from core.money import rupiah
from core.numbers import text_as_seen
from core.rights import Right
from core.times import clock
from drawers.errors import DrawerRefused
from purchases.models import Order, OrderEvent
from purchases.services.actions import Action, is_above_limit, possible_outcomes
from purchases.services.limits import allowance_of, name_helpers
from purchases.services.serials import token_of
from purchases.states import UNFULFILLED, ActionReason, Status
from staff.models import User
from staff.services import names_of_holders
from upstream.error_codes import MEANINGS, Next, Step, meaning_of

# An upstream that writes about money: "harga 10.200, saldo 989.800".
_MONEY = re.compile(r"\b(rp|harga|saldo|price|balance)\b\W{0,3}\d|\brp\d", re.IGNORECASE)

_Words = str | Promise
_Actions = Collection[Action]

# In these statuses the page's part about the bill explains the payment.
_SAID_BY_BILL = frozenset({Status.NEEDS_ACTION, Status.FAILED, Status.REJECTED, Status.CANCELLED})
# The step that tells a person not to repeat what may be under way.
_PAY_NOT_AGAIN, _BUY_NOT_AGAIN = "do_not_pay_again", "do_not_buy_again"

_SELL_AGAIN = _("You can sell it again.")

_BY_REASON = {meaning.action_reason: meaning for meaning in MEANINGS.values() if meaning.action_reason}


@dataclass(frozen=True)
class SerialNumber:
    """The provider's text: `main` for the customer, `copied` for the clipboard, `rest` after it.

    `groups`: a token's five groups of four digits.
    """

    main: str
    copied: str
    rest: str
    is_token: bool
    groups: tuple[str, ...] = ()


def serial_number(order: Order) -> SerialNumber | None:
    """The order's SN; an electricity token (20 digits, often followed by "/NAME/TARIFF/…") in groups of four."""
    if not order.sn:
        return None
    sn = text_as_seen(order.sn, order.destination)
    digits, rest = token_of(sn), sn.partition("/")[2]
    if digits and order.product.kind is METER:
        groups = tuple(digits[i : i + 4] for i in range(0, 20, 4))
        after = rest.replace("/", " · ")
        return SerialNumber(main=" ".join(groups), copied=digits, rest=after, is_token=True, groups=groups)
    return SerialNumber(main=sn, copied=sn, rest="", is_token=False)


# The page rings when a person's own order reaches one of these statuses; in all others it is still on its way.
_RINGS = {Status.SUCCESS: "good", **dict.fromkeys([*UNFULFILLED, Status.NEEDS_ACTION], "bad")}


def ending_marks(order: Order, person: User | None) -> SafeString:
    """Attributes with which static/js/endings.js rings when the person's own order ends; "" for others' orders."""
    if person is None or order.placed_by_id != person.pk:
        return SafeString()
    says = f"{order.get_status_display()}: {order.product_name}"
    return format_html(
        ' data-own-order="{}" data-ending="{}" data-says="{}" data-about="{}"',
        order.ref_id,
        _RINGS.get(Status(order.status), ""),
        says,
        shown_destination(order),
    )


def decided_by_people(order: Order) -> bool:
    """Whether two people decided the order's end, also if the upstream has reported something since."""
    return any(verdict.approved_by_id and verdict.outcome == order.status for verdict in order.verdicts.all())


def upstream_words(text: str, order: Order, *, with_cost: bool) -> str:
    """The upstream's words about the order; "" if they name its cost and the person may not see costs.

    Digits count however they are grouped: "Rp10.200", "10,200" and "10200" are one amount. Any balance counts, too.
    """
    if with_cost:
        return text
    costs = {str(amount) for amount in (order.price, order.max_price, order.product.price) if amount}
    plain = re.sub(r"(?<=\d)[., ](?=\d)", "", text)
    return "" if _MONEY.search(text) or any(cost in plain for cost in costs) else text


def shown_destination(order: Order) -> str:
    """The order's destination, grouped for reading aloud, as the viewer may see it."""
    return order.product.kind.as_seen(order.destination)


def event_words(event: OrderEvent, *, with_cost: bool = True) -> str:
    """Our own words about an event, in the person's language, without the event's note.

    `with_cost`: for people who may see costs.
    """
    if not with_cost and event.facts.get("code") == "price_confirmed":
        return str(_("A new cost was confirmed."))
    facts = {name: _SHOWN.get(name, str)(value) for name, value in event.facts.items()}
    return str(_EVENTS.get(facts.pop("code", ""), "")) % facts


def _why(reason: str) -> str:
    name, _colon, detail = reason.partition(": ")
    words = str(_REASONS.get(name, name))
    return f"{words}: {detail}" if detail else words


_EVENTS = {
    "price_confirmed": _("Newly confirmed: %(before)s → %(after)s."),
    "not_found": _("Not found %(times)s times since %(since)s."),
    "interrupted": _("The process that sent it was interrupted."),
    "not_sent": _("Not sent: %(reason)s."),
    "restored": _("The database was restored: it may have been sent before."),
    "taken_in": _("Taken in from the journal of what is sent: the restored database did not know it."),
    "no_answer": _("No reliable answer: %(reason)s."),
    "replaced": _("The bill was checked again as %(by)s."),
    "bill_expired": _("The bill expired before it could be paid."),
    "verdict": _("Two people decided this."),
    "approved": _("Above the limit; approved by %(by)s."),
}
_REASONS = {
    "budget": _("our own limit has no room for more requests"),
    "budget_unreachable": _("our own limit cannot be read"),
    "connect": _("no connection to the provider"),
    "permit_expired": _("the sender was too slow"),
    "stopped": _("the provider refuses our account"),
    "timeout": _("none came in time"),
    "connection": _("the connection broke"),
    "unknown_code": _("an error code that is not in the list"),
    "malformed": _("it cannot be read"),
}
_SHOWN: dict[str, Callable[[Any], str]] = {
    "before": rupiah,
    "after": rupiah,
    "since": lambda since: clock(dt.datetime.fromisoformat(since)),
    "reason": _why,
}


@dataclass(frozen=True)
class Explanation:
    """Three short texts; each may be empty.

    `code` says which text it is, if a status has several; `step_code` says which step.
    """

    happened: _Words = ""
    money: _Words = ""
    step: _Words = ""
    step_code: str = ""
    code: str = ""


def explain(order: Order, actions: _Actions) -> Explanation:
    """The words for a person who can do `actions` with the order now."""
    status = Status(order.status)
    if order.kind == Order.Kind.BILL and status in _SAID_BY_BILL:
        return Explanation()
    return _WORDS[status](order, actions)


def after_rise(order: Order, person: User) -> dict[str, Any]:
    """The effect of confirming the risen cost of an order, for its page: above all its profit (rupiah).

    `is_above_limit`: this person cannot confirm it. `who_confirms`: reads the names of colleagues; only for a person
    without the right to sell at a loss.
    """
    cost = order.product.price
    has_risen = order.action_reason == ActionReason.PRICE_CHANGED and cost > order.max_price
    if not has_risen:
        return {}
    then: dict[str, Any] = {"is_above_limit": True} if is_above_limit(order, cost, person) else {}
    if order.follows_cost:
        return then
    then |= {"profit_then": order.customer_pays - cost, "is_loss_then": order.sells_below(cost)}
    if order.sells_below(cost) and not person.has_perm(Right.SELL_BELOW_COST):
        rights = (Right.RESOLVE_ORDERS, Right.VIEW_COST, Right.SELL_BELOW_COST)
        then["who_confirms"] = partial(names_of_holders, *rights, branch=order.payment.branch_id)
    return then


def limits_shown(person: User, amount: int, *, largest: int | None = None) -> dict[str, Any]:
    """For a page that asks for a confirmation: this person's limits, and why `amount` rupiah are above them.

    For several payments, `amount` is the sum and `largest` the largest of them. See `purchases/limits.html`.
    """
    allowance = allowance_of(person)
    refusal = allowance.refusal(amount, largest=largest)
    refusal = refusal and name_helpers(refusal, person)
    return {
        "allowance": allowance,
        "shows_left": allowance.left is not None and sees_cost(person),
        "limit_refusal": refusal,
        "limit_words": refusal and refusal.words_for(person),
    }


def wait_words(seconds: float | None) -> str:
    """The words for the latest sending of an order in the line; "" when that is at once or not known."""
    if seconds is None or seconds < 5:
        return ""
    if seconds <= 60:
        n = math.ceil(seconds / 10) * 10
        return ngettext("It is sent within %(n)s second.", "It is sent within %(n)s seconds.", n) % {"n": n}
    n = math.ceil(seconds / 60)
    return ngettext("It is sent within %(n)s minute.", "It is sent within %(n)s minutes.", n) % {"n": n}


def _queued(order: Order, _actions: _Actions) -> Explanation:
    money = (
        _("An earlier sending got no answer, so it may have been charged.")
        if order.may_be_charged
        else _("Nothing has been charged yet.")
    )
    code = "may_be_charged" if order.may_be_charged else "not_charged"
    if meaning_of(order.error_code).next is Next.WAIT_READY:
        step = _("The payment that you confirmed is sent by itself as soon as the bill is ready.")
        return Explanation(meaning_of(order.error_code).words, money, step, "sent_when_ready", code)
    return Explanation(_("It waits to be sent to the provider."), money, *_do_not_repeat(order), code)


def _sending(order: Order, _actions: _Actions) -> Explanation:
    return Explanation(_("It is on its way to the provider."), "", *_do_not_repeat(order))


def _pending(order: Order, _actions: _Actions) -> Explanation:
    happened = _("The provider has accepted it and is working on it.")
    if possible_outcomes(order):
        return Explanation(happened, "", *_decide(order))
    time = _("It takes seconds, sometimes a few minutes. It is not a failure.")
    return Explanation(happened, time, *_do_not_repeat(order))


def _unknown(order: Order, _actions: _Actions) -> Explanation:
    happened: _Words
    if order.error_code:
        happened = f"{meaning_of(order.error_code).words} {_('An earlier sending got no answer.')}"
    elif order.not_found_count:
        happened = _("The provider does not find this order so far, but it may still arrive.")
    else:
        happened = _("We do not know yet whether the provider received this order.")
    money = _("It may have been charged.")
    if possible_outcomes(order):
        return Explanation(happened, money, *_decide(order))
    if order.kind == Order.Kind.BILL:
        step = _("Do not pay again, do not refund. Tell the customer: “We are checking it.”")
        return Explanation(happened, money, step, _PAY_NOT_AGAIN)
    step = _("Do not sell again, do not refund. Tell the customer: “We are checking it.”")
    return Explanation(happened, money, step, _BUY_NOT_AGAIN)


def _needs_action(order: Order, actions: _Actions) -> Explanation:
    if order.action_reason == ActionReason.NEVER_ARRIVED:
        return _never_arrived(actions)
    meaning, money = _BY_REASON[order.action_reason], _("Nothing was charged.")
    if order.action_reason == ActionReason.BALANCE_SHORT and order.waits_for_topup:
        step = _("It waits for a top-up: as soon as enough is available it is sent by itself, the oldest first.")
        return Explanation(meaning.words, money, step, code="waits_for_topup")
    if Action.CONFIRM_PRICE in actions:
        step = Step.CONFIRM_PRICE.label
    elif Action.SEND_AGAIN in actions:
        step = _("Send it again when that has changed, or cancel.")
        if meaning.step == Step.CONFIRM_PRICE:
            step = _("The catalogue does not show the new price. Fetch it, or send it again for the confirmed price.")
    elif Action.CANCEL in actions:
        step = _("Cancel it, or leave it: a person who may resolve orders can send it again.")
    else:
        step = _("A person who may resolve orders has to decide this. The order waits safely.")
    return Explanation(meaning.words, money, step)


def _never_arrived(actions: _Actions) -> Explanation:
    """The label of the reason stands above it and says what it means for the money."""
    happened = _("The provider has said several times that it does not know this order.")
    if Action.CLOSE in actions:
        step = _("Still not found? Close it, and give the money back.")
    else:
        step = _("Tell the customer: “We are checking it.”")
    return Explanation(happened, "", step, code="may_be_charged")


def step_if_never_arrived(*, may_decide: bool) -> str:
    """The step for an order that seems never to have arrived, for both its page and its alert."""
    if may_decide:
        return str(_("Do not sell it again. Check the status now."))
    return str(_("Do not sell again. A person who may resolve orders has to decide this."))


def _failed(order: Order, _actions: _Actions) -> Explanation:
    if not decided_by_people(order):
        happened = _("The provider reports that it failed.")
        return Explanation(happened, _("It refunds what was charged."), _SELL_AGAIN, code="refunded")
    happened = _("Two people decided that it failed.")
    if order.accepted_no is None:
        return Explanation(happened, _("Nothing was charged."), _SELL_AGAIN, code="decided_not_charged")
    money = _("It was charged. Our books expect the provider to refund it.")
    return Explanation(happened, money, _SELL_AGAIN, code="decided_charged")


def _success(order: Order, _actions: _Actions) -> Explanation:
    if not decided_by_people(order):
        return Explanation()
    return Explanation(_("Two people decided that it succeeded."), code="decided_success")


def _rejected(order: Order, _actions: _Actions) -> Explanation:
    meaning = meaning_of(order.error_code)
    return Explanation(meaning.words, _("Nothing was charged."), Step(meaning.step).label, code="not_charged")


def _cancelled(_order: Order, _actions: _Actions) -> Explanation:
    return Explanation(_("It was cancelled before anything was charged."))


def _closed(order: Order, _actions: _Actions) -> Explanation:
    happened = _("A person closed it, because it seems never to have arrived.")
    money = _("The provider has reported nothing, so it refunds nothing to the shop.")
    if order.payment.is_on_no_account:
        return Explanation(happened, money, code="not_refunded")
    return Explanation(
        happened,
        money,
        _("Give the customer the money back. If the provider reports it later, an incident says so."),
        step_code="give_back",
        code="not_refunded",
    )


def _reversed(order: Order, actions: _Actions) -> Explanation:
    happened = _("The provider took this order back: the customer does not have it.")
    if order.payment.is_given:
        return Explanation(happened)
    if order.payment.is_on_no_account:
        return Explanation(happened, DrawerRefused.texts["on_no_account"])
    step = (
        _("Give the money back, then note it here.")
        if Action.GIVE_BACK in actions
        else _("A person who sells gives the money back, and notes it here.")
    )
    owed = _("The customer is owed %(amount)s.") % {"amount": rupiah(order.customer_pays)}
    return Explanation(happened, owed, step, step_code="give_back")


def _do_not_repeat(order: Order) -> tuple[_Words, str]:
    if order.kind == Order.Kind.BILL:
        return _("Do not pay it again: this page follows it."), _PAY_NOT_AGAIN
    return _("Do not sell it again: this page follows it."), _BUY_NOT_AGAIN


def _decide(order: Order) -> tuple[_Words, str]:
    if order.kind == Order.Kind.BILL:
        step = _("Do not pay again, do not refund. Tell the customer: “We are checking it.”")
        return step, _PAY_NOT_AGAIN
    step = _("Do not sell again, do not refund. Tell the customer: “We are checking it.”")
    return step, _BUY_NOT_AGAIN


_WORDS: dict[Status, Callable[[Order, _Actions], Explanation]] = {
    Status.QUEUED: _queued,
    Status.SENDING: _sending,
    Status.PENDING: _pending,
    Status.UNKNOWN: _unknown,
    Status.NEEDS_ACTION: _needs_action,
    Status.SUCCESS: _success,
    Status.FAILED: _failed,
    Status.REJECTED: _rejected,
    Status.CANCELLED: _cancelled,
    Status.CLOSED: _closed,
    Status.REVERSED: _reversed,
}
