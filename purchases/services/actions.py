"""The allowed actions of an order for each person: the only place that pages, commands and services ask."""

import datetime as dt
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.db.models import Prefetch, prefetch_related_objects
from django.utils.translation import gettext as _

from catalogue.rights import sees_cost
from core import clock
from core.rights import Right
from ledger.models import Books
from ledger.services import available
from policies.services import policies
from purchases.errors import ActionRefused
from purchases.models import Order, OrderEvent, Verdict
from purchases.services.placing import needs_approval
from purchases.states import DECIDED, POLLED, ActionReason, Status, may_move
from staff.models import User

# The code of the event in which a person confirms a risen cost.
_CONFIRMED = "price_confirmed"


class Action(StrEnum):
    """The actions of a person on an order."""

    POLL = "poll"
    CANCEL = "cancel"
    SEND_AGAIN = "send_again"
    CONFIRM_PRICE = "confirm_price"  # send it again for the risen price
    CLOSE = "close"  # as never arrived
    PROPOSE_VERDICT = "propose_verdict"
    APPROVE_VERDICT = "approve_verdict"
    PRINT_RECEIPT = "print_receipt"
    GIVE_BACK = "give_back"  # note that the customer has the money back


#: A waiting proposal stops these acts on an order that needs action.
_NOT_WHILE_PROPOSED = frozenset({Action.CLOSE, Action.SEND_AGAIN, Action.CONFIRM_PRICE})


def allowed_actions(
    order: Order, person: User, *, of: Books | None = None, among: Collection[Action] = tuple(Action)
) -> frozenset[Action]:
    """The actions among these that this person can take on the order now, with success as far as we know.

    It reads the order's product, its open verdict and what was given back; and the books, unless `of` has them. For
    many orders see also `read_for_confirming`.
    """
    allowed = {action for action in among if _RULES[action].allows(order, person)}
    if not _would_be_accepted(order, of):
        allowed -= {Action.SEND_AGAIN, Action.CONFIRM_PRICE}
    is_below_cost = order.sells_below(order.product.price) and not person.has_perm(Right.SELL_BELOW_COST)
    if is_below_cost or is_above_limit(order, order.product.price, person):
        allowed -= {Action.CONFIRM_PRICE}
    return frozenset(allowed)


def read_for_confirming(orders: Sequence[Order], person: User) -> None:
    """Read at once what `allowed_actions` would read for each order to say whether this person confirms its cost."""
    risen = [order for order in orders if order.status == Status.NEEDS_ACTION and _rise_of(order) > 0]
    prefetch_related_objects([order for order in risen if order.may_be_charged], "verdicts")
    if not sees_cost(person):
        limit = policies().seller_rise_limit
        confirmed = Prefetch("events", OrderEvent.objects.filter(facts__code=_CONFIRMED))
        prefetch_related_objects([order for order in risen if _rise_of(order) <= limit], confirmed)


def is_above_limit(order: Order, cost: int, person: User | None) -> bool:
    """Whether a risen cost (rupiah) of the order is one that this person does not confirm without a second one."""
    return cost > order.max_price and needs_approval(person, cost=cost, price=order.customer_pays_at(cost))


def may_ever(action: Action, person: User) -> bool:
    """Whether this person may do that with some order."""
    return any(person.has_perm(right) for right in _RULES[action].rights)


def require(action: Action, order: Order, person: User) -> None:
    """Raise `ActionRefused` unless this person can do that with the locked order, and sees its branch."""
    sees_it = person.bound_to is None or person.bound_to == order.payment.branch_id
    if not (sees_it and _RULES[action].allows(order, person)):
        is_stopped = action in _NOT_WHILE_PROPOSED and order.status == Status.NEEDS_ACTION and is_proposed(order)
        raise proposal_waits() if is_stopped else not_possible(order)


def not_possible(order: Order) -> ActionRefused:
    """The refusal that says where the order stands now."""
    return ActionRefused(_("Not possible: the order is now “%(status)s”.") % {"status": Status(order.status).label})


def possible_outcomes(order: Order) -> frozenset[Status]:
    """The possible decisions of two people: success, failed or reversed. Empty while the upstream may still report.

    They may decide when the upstream leaves the order open for too long, has said that it does not know it, or may
    have taken its success back.
    """
    before = Status(order.status)
    if before in {Status.PENDING, Status.UNKNOWN}:
        is_ours = clock.now() >= decided_from(order)
    else:
        is_ours = before == Status.SUCCESS or (before == Status.NEEDS_ACTION and order.may_be_charged)
    return frozenset(outcome for outcome in DECIDED if is_ours and may_move(before, outcome))


def decided_from(order: Order) -> dt.datetime:
    """The time from which people may decide an order that the upstream leaves open."""
    since = order.sent_at or order.created_at
    return since + dt.timedelta(minutes=policies().order_verdict_after_minutes)


def open_verdict(order: Order) -> Verdict | None:
    """The verdict that waits for a second person."""
    return next((verdict for verdict in order.verdicts.all() if verdict.decided_at is None), None)


def waiting_verdict(order: Order) -> Verdict | None:
    """The open verdict, if it is about the order's present status and its last sending."""
    verdict = open_verdict(order)
    if verdict is None or verdict.order_status != order.status:
        return None
    return verdict if order.sent_at is None or order.sent_at <= verdict.proposed_at else None


def is_proposed(order: Order) -> bool:
    """Whether a proposal waits before the order's end: no person closes the order or sends it again meanwhile.

    Only an order that may have been charged has such a proposal; for no other order the verdicts are read.
    """
    return order.may_be_charged and waiting_verdict(order) is not None


def proposal_waits() -> ActionRefused:
    """The refusal of an act that a waiting proposal stops."""
    return ActionRefused(_("Not possible: a proposal waits for a second person."))


def _would_be_accepted(order: Order, of: Books | None) -> bool:
    """Whether we know of nothing that would make the upstream refuse it now."""
    free = available(of) if order.status == Status.NEEDS_ACTION else None
    price = max(order.product.price, order.max_price)
    return (free is None or price <= free) and not order.product.in_cut_off()


def _is_of(order: Order, person: User) -> bool:
    """Whether this cashier placed it. A cashier may end or correct an order that has certainly not been charged."""
    sells = Right.CHECK_BILLS if order.kind == Order.Kind.BILL else Right.BUY
    return order.placed_by_id == person.pk and person.has_perm(sells)


def _may_poll(order: Order, _person: User) -> bool:
    return order.status in POLLED or order.action_reason == ActionReason.NEVER_ARRIVED


def _may_cancel(order: Order, person: User) -> bool:
    if order.may_be_charged or order.status not in {Status.QUEUED, Status.NEEDS_ACTION}:
        return False
    return person.has_perm(Right.RESOLVE_ORDERS) or (order.status == Status.NEEDS_ACTION and _is_of(order, person))


def _may_be_sent(order: Order, person: User) -> bool:
    """A bill is paid again by its own rules, after a new inquiry about its total."""
    if order.status != Status.NEEDS_ACTION or order.kind != Order.Kind.PURCHASE or not order.product.is_listed:
        return False
    is_about_price = order.action_reason == ActionReason.PRICE_CHANGED
    may_send = person.has_perm(Right.RESOLVE_ORDERS) or (is_about_price and _is_of(order, person))
    return may_send and not is_proposed(order)


def _may_send_again(order: Order, person: User) -> bool:
    return _may_be_sent(order, person) and order.product.price <= order.max_price


def _may_confirm_price(order: Order, person: User) -> bool:
    """Unless the order sells at cost, a risen cost lowers the profit, and people who see costs confirm it.

    The seller, who does not see the cost, may confirm it up to what the owner allows (`seller_rise_limit`) for all
    rises of the order together.
    """
    rise = _rise_of(order)
    if rise <= 0 or not _may_be_sent(order, person):
        return False
    if order.follows_cost or sees_cost(person):
        return True
    limit = policies().seller_rise_limit
    return rise <= limit and _is_of(order, person) and rise + _rises_confirmed(order, person) <= limit


def _rise_of(order: Order) -> int:
    """Rupiah by which the cost is above the confirmed one."""
    return order.product.price - order.max_price


def _rises_confirmed(order: Order, person: User) -> int:
    """Rupiah by which the cost of the order has risen with this person's confirmations."""
    confirmed = (
        event.facts
        for event in order.events.all()
        if event.actor_id == person.pk and event.facts.get("code") == _CONFIRMED
    )
    return sum(facts["after"] - facts["before"] for facts in confirmed)


def _may_close(order: Order, _person: User) -> bool:
    return order.action_reason == ActionReason.NEVER_ARRIVED and not is_proposed(order)


def _may_propose(order: Order, _person: User) -> bool:
    return bool(possible_outcomes(order)) and open_verdict(order) is None


def _may_approve(order: Order, person: User) -> bool:
    verdict = waiting_verdict(order)  # none if the upstream has said more since
    if verdict is None or verdict.proposed_by_id == person.pk:
        return False
    return verdict.outcome in possible_outcomes(order)


def _may_print(order: Order, _person: User) -> bool:
    return order.status == Status.SUCCESS


def _may_give_back(order: Order, _person: User) -> bool:
    return order.status == Status.REVERSED and not (order.payment.is_given or order.payment.is_on_no_account)


@dataclass(frozen=True)
class _Rule:
    """An action is for people with one of the rights, while `holds` is true for the order."""

    rights: tuple[Right, ...]
    holds: Callable[[Order, User], bool]

    def allows(self, order: Order, person: User) -> bool:
        return any(person.has_perm(right) for right in self.rights) and self.holds(order, person)


_RULES = {
    Action.POLL: _Rule((Right.RESOLVE_ORDERS, Right.BUY), _may_poll),
    Action.CANCEL: _Rule((Right.RESOLVE_ORDERS, Right.BUY, Right.CHECK_BILLS), _may_cancel),
    Action.SEND_AGAIN: _Rule((Right.RESOLVE_ORDERS, Right.BUY), _may_send_again),
    Action.CONFIRM_PRICE: _Rule((Right.RESOLVE_ORDERS, Right.BUY), _may_confirm_price),
    Action.CLOSE: _Rule((Right.RESOLVE_ORDERS,), _may_close),
    Action.PROPOSE_VERDICT: _Rule((Right.PROPOSE_VERDICTS,), _may_propose),
    Action.APPROVE_VERDICT: _Rule((Right.APPROVE_VERDICTS,), _may_approve),
    Action.PRINT_RECEIPT: _Rule((Right.BUY, Right.CHECK_BILLS), _may_print),
    Action.GIVE_BACK: _Rule((Right.GIVE_BACK,), _may_give_back),
}
