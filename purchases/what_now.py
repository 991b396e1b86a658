"""The words for an order of unknown outcome: the present step, the people who decide it, and from what time.

It promises only what the code does: the decision is offered from the latest hour of `possible_outcomes` on (at once, if
the upstream says that it does not know the order), and the names are those of people who hold the right. A person in a
hurry reads it: the time of the next poll is elsewhere.
"""

import datetime as dt
from collections.abc import Collection
from typing import NamedTuple

from django.utils.translation import gettext as _, ngettext

from core import clock
from core.rights import Right
from core.times import short_time
from purchases.models import Order
from purchases.presenting import step_if_never_arrived
from purchases.sent_again import waits_since
from purchases.services.actions import Action, decided_from, may_ever, possible_outcomes, waiting_verdict
from purchases.states import ActionReason, Status
from staff.models import User
from staff.services import names_of_holders

#: The time for which an order may wait for a person, counted from `waits_since`.
DECIDED_WITHIN = dt.timedelta(minutes=30)


class Now(NamedTuple):
    """The present step, and below it the deciders and the time; "" if the explanation's own step is shown.

    `waits`: the person has nothing to do with the order until then.
    """

    act: str
    then: str = ""
    waits: bool = False


def what_now(order: Order, actions: Collection[Action], person: User) -> Now | None:
    """The words for a person who can do `actions` now; None if the outcome is known or about to be."""
    if waiting_verdict(order) is not None and not order.is_final:
        if Action.APPROVE_VERDICT in actions:
            return Now(_("Approve or refuse now what a colleague proposed: see below."))
        return Now(_("Wait: a second person approves the proposed outcome."), waits=True)
    if order.action_reason == ActionReason.NEVER_ARRIVED and order.kind == Order.Kind.PURCHASE:
        return Now(_if_never_arrived(order, actions))
    if order.status in {Status.UNKNOWN, Status.PENDING} and possible_outcomes(order):
        if Action.PROPOSE_VERDICT in actions:
            return Now(_("Decide now: ask the provider's support, then propose the outcome below."))
        call = _call(order, Right.PROPOSE_VERDICTS)
        return Now(call) if call else None
    return _until_decided(order, person) if order.status == Status.UNKNOWN else None


def _if_never_arrived(order: Order, actions: Collection[Action]) -> str:
    may_decide = Action.CLOSE in actions
    step = step_if_never_arrived(may_decide=may_decide)
    if not may_decide:
        return f"{step} {_call(order, Right.RESOLVE_ORDERS)}".rstrip()
    due = waits_since(order) + DECIDED_WITHIN
    until = _("Decide by %(time)s.") if due > clock.now() else _("The decision is overdue since %(time)s.")
    return f"{step} {until % {'time': short_time(due)}}"


def _until_decided(order: Order, person: User) -> Now:
    if order.kind == Order.Kind.BILL:
        act = _("Wait. Do not pay again or refund.")
    else:
        act = _("Wait. Do not sell again or refund.")
    tell = _("Say “We are checking.”")
    checks, names = _("We check until %(time)s at the latest."), []
    if not may_ever(Action.PROPOSE_VERDICT, person):
        names = names_of_holders(Right.PROPOSE_VERDICTS, branch=order.payment.branch_id)
    if names:
        checks = ngettext(
            "We check until %(time)s at the latest, then %(names)s decides.",
            "We check until %(time)s at the latest, then %(names)s decide.",
            len(names),
        )
    facts = {"time": short_time(decided_from(order)), "names": ", ".join(names)}
    return Now(act, f"{checks % facts} {tell}", waits=True)


def _call(order: Order, right: Right) -> str:
    names = names_of_holders(right, branch=order.payment.branch_id)
    return _("Call one of them now, who decides: %(names)s.") % {"names": ", ".join(names)} if names else ""
