"""What to do now with an order whose outcome is not known, until when, and who does it then.

It promises only what the code does: the time of the next poll is the stored one, the decision is offered from the hour
that `possible_outcomes` goes by, and the names are those of people who hold the right.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from core import clock
from core.rights import Right
from core.times import short_time
from purchases.models import Order
from purchases.presenting import step_if_never_arrived
from purchases.services.actions import Action, decided_from, may_ever, open_verdict, possible_outcomes
from purchases.states import ActionReason, Status
from staff.services import names_of_holders

if TYPE_CHECKING:
    from collections.abc import Collection

    from staff.models import User

#: How long an order may wait for a person.
DECIDED_WITHIN = dt.timedelta(minutes=30)


def what_now(order: Order, actions: Collection[Action], person: User) -> str:
    """The sentence for this person, who can do `actions` now; "" where the outcome is known or about to be."""
    verdict = open_verdict(order)
    if verdict is not None and verdict.order_status == order.status and not order.is_final:
        if Action.APPROVE_VERDICT in actions:
            return _("Approve or refuse now what a colleague proposed: see below.")
        return _("Wait: its outcome is proposed, and a second person approves it. The app asks the provider meanwhile.")
    if order.action_reason == ActionReason.NEVER_ARRIVED and order.kind == Order.Kind.PURCHASE:
        return _if_never_arrived(order, actions)
    if order.status in {Status.UNKNOWN, Status.PENDING} and possible_outcomes(order):
        if Action.PROPOSE_VERDICT in actions:
            return _(
                "Decide now: ask the provider's support what became of it, then propose it below. A second person "
                "approves."
            )
        return _call(Right.PROPOSE_VERDICTS)
    return _until_decided(order, person) if order.status == Status.UNKNOWN else ""


def _if_never_arrived(order: Order, actions: Collection[Action]) -> str:
    may_decide = Action.CLOSE in actions
    step = step_if_never_arrived(may_decide=may_decide)
    if not may_decide:
        return f"{step} {_call(Right.RESOLVE_ORDERS)}"
    due = (order.sent_at or order.created_at) + DECIDED_WITHIN
    until = _("At the latest at %(time)s.") if due > clock.now() else _("Overdue since %(time)s.")
    return f"{step} {until % {'time': short_time(due)}}"


def _until_decided(order: Order, person: User) -> str:
    until, next_poll = decided_from(order), order.next_poll_at
    if next_poll is not None and next_poll > clock.now():
        wait = _("Wait: the app asks the provider again at %(time)s.") % {"time": short_time(next_poll)}
    else:
        wait = _("Wait: the app asks the provider again by itself.")
    at = {"time": short_time(until)}
    if may_ever(Action.PROPOSE_VERDICT, person):
        then = _("Still open at %(time)s? Propose the outcome here.")
        return f"{wait} {then % at}"
    if names := names_of_holders(Right.PROPOSE_VERDICTS):
        then = _("Still open at %(time)s? Call one of them, who decides: %(names)s.")
        return f"{wait} {then % (at | {'names': ', '.join(names)})}"
    return wait


def _call(right: Right) -> str:
    names = names_of_holders(right)
    return _("Call one of them now, who decides: %(names)s.") % {"names": ", ".join(names)} if names else ""
