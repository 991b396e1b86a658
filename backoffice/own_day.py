"""One person's own day, for the overview: the drawer, the open orders, the sales of today."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db.models import BigIntegerField, Count, Sum
from django.utils import timezone

from branches.seeing import own_branch, within
from core.paging import chosen_first
from core.rights import Right
from core.times import start_of_day
from core.together import Given, Together
from drawers.services import OwnDrawer, own_drawer_of, own_drawer_questions
from purchases.models import Order
from purchases.models.orders import CUSTOMER_PAYS
from purchases.states import FINAL, UNFULFILLED, Status
from purchases.tables import OrderTable
from staff.models import User

_MOST_OPEN, _LATEST = 20, 8
# An order with one of these ends has brought the customer nothing, and costs nothing.
_IN_VAIN = UNFULFILLED - {Status.REVERSED}


@dataclass(frozen=True)
class OwnDay:
    """One person's sales of today, and the orders that are still open. Amounts in whole rupiah."""

    may_use_drawer: bool
    drawer: OwnDrawer
    open_orders: list[Order]
    has_more_open: bool
    latest: list[Order]
    #: Status → the number of today's orders, and the rupiah that their customers pay.
    today: dict[Status, tuple[int, int]]
    person: User

    @classmethod
    def read(cls, person: User) -> OwnDay:
        """Read everything at one moment, in one statement; its lists are bounded."""
        shifts, entered, sold, open_orders, today, latest = _questions(own_branch()).read(
            person=person.pk, midnight=start_of_day(timezone.localdate())
        )
        return cls(
            may_use_drawer=person.has_perm(Right.USE_DRAWERS),
            drawer=own_drawer_of(shifts, entered, sold),
            open_orders=open_orders[:_MOST_OPEN],
            has_more_open=len(open_orders) > _MOST_OPEN,
            latest=latest,
            today={Status(status): (count, int(paid)) for status, count, paid in today},
            person=person,
        )

    @property
    def sold(self) -> tuple[int, int]:
        """The number of today's orders that have arrived, and their rupiah."""
        return self.today.get(Status.SUCCESS, (0, 0))

    @property
    def in_vain(self) -> int:
        """The number of today's orders that have ended with nothing for the customer."""
        return sum(count for status, (count, _paid) in self.today.items() if status in _IN_VAIN)

    @property
    def is_used(self) -> bool:
        """Whether the person has an open shift, an open order or an order of today."""
        return self.drawer.shift is not None or bool(self.open_orders) or bool(self.today)

    @property
    def version(self) -> list[object]:
        """The values that decide the page."""
        orders = [
            (order.pk, order.status, order.action_reason, order.sn) for order in (*self.open_orders, *self.latest)
        ]
        return [self.drawer.shift and self.drawer.shift.pk, self.drawer.expected, sorted(self.today.items()), orders]

    def tables(self, *, with_cost: bool) -> dict[str, Any]:
        """The running orders, and the ones that have ended lately, as lists."""
        facts: dict[str, Any] = {"person": self.person, "with_cost": with_cost}
        return {
            "own_open": OrderTable(self.open_orders, prefix="own", **facts),
            "own_latest": OrderTable(self.latest, prefix="done", **facts),
        }


@cache
def _questions(branch: int | None) -> Together:
    person = Given("person")
    own, shown = Order.objects.filter(placed_by=person), Order.objects.for_table()
    if branch is not None:
        own = own.filter(within(branch, "payment__branch"))
    today = own.filter(created_at__gte=Given("midnight"))
    paid = Sum(CUSTOMER_PAYS, output_field=BigIntegerField())
    return Together(
        *own_drawer_questions(person),
        chosen_first(own.open().order_by("created_at", "pk")[: _MOST_OPEN + 1], shown),
        today.order_by().values_list("status").annotate(n=Count("pk"), paid=paid),
        chosen_first(today.filter(status__in=FINAL).order_by("-created_at", "-pk")[:_LATEST], shown),
    )
