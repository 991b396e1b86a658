"""The reasons why an order cannot be placed or changed, each in words for the person at the counter."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _, gettext_lazy

from catalogue.rights import sees_cost
from core.errors import ForReason, OrderRefused, Refused
from core.money import rupiah
from core.times import hour
from purchases.models import Order
from purchases.states import Status
from staff.models import User


class OpenDuplicate(OrderRefused):
    """An order for the same product and destination is not final yet (document, What the service does 9).

    `reason` is "needs_action" when that order waits for a person.
    """

    def __init__(self, order: Order) -> None:
        self.order = order
        words = _("An order for this product and destination is still open (%(ref_id)s). Wait for its outcome first.")
        if order.status == Status.NEEDS_ACTION:
            self.reason = "needs_action"
            words = _("An order for this product and destination needs action (%(ref_id)s). Decide it first.")
        super().__init__(words % {"ref_id": order.ref_id})


class RepeatToday(OrderRefused):
    """The same was bought today, or within the last hour; a person may confirm that a second one is meant."""

    def __init__(self, order: Order) -> None:
        self.order = order
        words = _("This number already got this product at %(time)s (%(ref_id)s). Sell it again?")
        super().__init__(words % {"time": hour(order.created_at), "ref_id": order.ref_id})


class TokenUsed(OrderRefused):
    """The confirmed form was used for another order before."""

    def __init__(self, order: Order) -> None:
        self.order = order
        super().__init__(_("This form was already used for order %(ref_id)s. Start again.") % {"ref_id": order.ref_id})


class PriceMoved(OrderRefused):
    """The catalogue's price has changed since the person saw it. `price` is the new one, in rupiah."""

    def __init__(self, price: int) -> None:
        self.price = price
        super().__init__(_("The price is now %(price)s. Confirm it again.") % {"price": rupiah(price)})

    def words_for(self, person: User) -> str:
        """Without the amount for people who may not see costs."""
        return str(self) if sees_cost(person) else _("Its cost has changed. Confirm it again.")


class SellingPriceMoved(OrderRefused):
    """The customer confirmed another price than the product sells for now: `price`, in rupiah."""

    def __init__(self, price: int) -> None:
        self.price = price
        super().__init__(
            _("It sells for %(price)s now. Confirm the new price with the customer.") % {"price": rupiah(price)}
        )


class BelowCost(ForReason, OrderRefused):
    """The product sells for less than it costs; `reason` is "no_right", or "no_reason" where nobody said why."""

    texts = {
        "no_right": gettext_lazy(
            "This product cannot be sold at the moment: its price has to be checked. Ask a supervisor."
        ),
        "no_reason": gettext_lazy("It sells below cost. Write why, then sell it."),
    }


class BalanceShort(OrderRefused):
    """The order's price is above what is available (both in rupiah), and it does not wait for a top-up."""

    def __init__(self, *, price: int, available: int) -> None:
        self.price, self.available = price, available
        super().__init__(
            _(
                "The balance is short: %(price)s are needed and %(available)s are available."
                " It can be sold after the next top-up, which is seen within a minute."
            )
            % {"price": rupiah(price), "available": rupiah(available)}
        )

    def words_for(self, person: User) -> str:
        """Without the amounts for people who may not see costs."""
        if sees_cost(person):
            return str(self)
        return _("The balance is short. It can be sold after the next top-up, which is seen within a minute.")


class LimitReached(OrderRefused):
    """The order is beyond what this person may spend; `reason` is "per_order" or "per_day". All in rupiah.

    `left`: the rest of today's limit, None without a limit. `helpers`: names of people who can raise the limit.
    """

    def __init__(
        self, reason: str, *, amount: int, limit: int, left: int | None, helpers: Sequence[str] | None = None
    ) -> None:
        self.reason, self.amount, self.limit, self.left = reason, amount, limit, left
        self.helpers = helpers
        words = {
            "per_order": _("The provider charges %(amount)s for this; your limit is %(limit)s an order."),
            "per_day": _(
                "The provider charges %(amount)s for this; of your limit of %(limit)s a day, %(left)s is left today."
            ),
        }
        parts = [words[reason] % {"amount": rupiah(amount), "limit": rupiah(limit), "left": rupiah(left)}]
        if reason == "per_order" and left is not None:
            parts.append(_("Left for today: %(left)s.") % {"left": rupiah(left)})
        super().__init__(" ".join([*parts, *self._who_helps()]))

    def words_for(self, person: User) -> str:
        """No amount for people who may not see costs: the limit counts the cost, and they see the selling price."""
        if sees_cost(person):
            return str(self)
        words = {
            "per_order": _("It is above your limit for one order."),
            "per_day": _("Too little is left today of your limit for a day."),
        }
        return " ".join([words[self.reason], *self._who_helps()])

    def _who_helps(self) -> list[str]:
        if self.helpers:
            return [_("These people can raise it: %(names)s.") % {"names": ", ".join(self.helpers)}]
        return [] if self.helpers is None else [_("Only an owner can raise it.")]

    def with_helpers(self, helpers: Sequence[str]) -> LimitReached:
        """The same, with the people who can raise the limit."""
        return LimitReached(self.reason, amount=self.amount, limit=self.limit, left=self.left, helpers=helpers)


class NotForSale(ForReason, OrderRefused):
    """The product cannot be bought now; `reason` is one of "delisted", "unavailable", "cut_off", "postpaid"."""

    texts = {
        "delisted": gettext_lazy("The provider no longer sells this product."),
        "unavailable": gettext_lazy("This product is unavailable at the moment. Choose another one or try later."),
        "cut_off": gettext_lazy("This product is closed at this hour. Try again after the cut-off."),
        "postpaid": gettext_lazy("This is a bill: it is checked first and then paid."),
    }


class OutsideHours(OrderRefused):
    """Cashiers sell in the shop's opening hours only."""

    def __init__(self, opens_at: dt.time, closes_at: dt.time) -> None:
        words = _("The shop sells from %(opens)s to %(closes)s. Until then a supervisor can sell this.")
        super().__init__(words % {"opens": f"{opens_at:%H:%M}", "closes": f"{closes_at:%H:%M}"})


class NeedsApproval(OrderRefused):
    """The order is above the person's limit. `content`: what a second person has to approve, as the act `act`."""

    def __init__(self, act: str, *, subject: str, content: dict[str, Any]) -> None:
        self.act, self.subject, self.content = act, subject, content
        super().__init__(_("This is above your limit: a second person has to approve it first."))


class AboveLimit(OrderRefused):
    """More than this person may spend or approve for one order; `limit` in rupiah."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            _("It is above your own limit of %(limit)s for one order, so somebody else has to approve it.")
            % {"limit": rupiah(limit)}
        )


class ActionRefused(Refused):
    """The order is no longer in a status that allows this; the text says which it is in."""
