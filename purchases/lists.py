"""The parts of the list of orders."""

from typing import Any
from urllib.parse import parse_qsl

from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext_lazy as _

from branches.seeing import narrowed
from catalogue.rights import sees_cost
from core.filters import ListFilter
from core.rights import Right
from drawers.services import counts_blind
from exports.listing import Listing
from purchases.filters import NEEDS_ATTENTION, OrderFilter, names_buyer
from purchases.models import Order
from purchases.models.orders import OrderQuerySet
from purchases.sums import sums_of, were_many_placed
from purchases.tables import OrderTable
from staff.models import User

# Few orders share a value of these filters.
_FEW = {"q", *OrderFilter.of_few}


def _foot(filtered: ListFilter, person: User) -> dict[str, Any]:
    asked = {} if filtered.form.errors else dict(parse_qsl(filtered.as_query()))
    are_few = names_buyer(asked) or not asked.keys().isdisjoint(_FEW)
    are_many = not are_few and were_many_placed(asked)
    return {
        "sums": SimpleLazyObject(lambda: sums_of(filtered.qs, days=asked, are_many=are_many)),
        "are_many": are_many,
        "with_cost": sees_cost(person),
        "is_blind": counts_blind(person),
    }


def orders_seen() -> OrderQuerySet:
    """The orders that the reader sees."""
    return narrowed(Order.objects.all(), "payment__branch")


ORDERS = Listing(
    name="orders",
    page="order",
    words=_("Orders"),
    template="purchases/order_list.html",
    rights=(Right.VIEW_ORDERS,),
    file_rights=(Right.VIEW_COST,),  # a file holds costs
    table=OrderTable,
    find=lambda query, person: OrderFilter(query, person=person, queryset=orders_seen()),
    for_file=OrderQuerySet.with_payment,
    foot=_foot,
    foot_template="purchases/order_foot.html",
    views=((_("Needs attention"), f"status={NEEDS_ATTENTION}"),),
)
