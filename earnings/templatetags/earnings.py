"""Template tags about earnings (`{% load earnings %}`)."""

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

from django import template
from django.http import QueryDict
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import ngettext

from branches.seeing import narrowed
from catalogue.rights import sees_cost
from catalogue.services import sums_of_sold
from catalogue.services.effects import Preview
from core.rights import Right
from customers.models import Customer
from earnings.presenting import percent
from earnings.services import Figures
from earnings.services.buying import buying_of
from earnings.services.listed import figures_of_list
from earnings.services.selling import DAYS, sold_lately
from purchases.filters import NOT_THROUGH, OrderFilter
from purchases.models import Order
from purchases.states import OPEN, Status
from purchases.sums import Sums
from purchases.tables import OrderTable
from staff.models import User

register = template.Library()
register.filter(percent)


@register.simple_tag
def arrived_link(address: str, figures: Figures, shown: str) -> str:
    """`{% arrived_link line.listed figures shown %}`: a figure that opens the orders of the list that arrived.

    Without a list or such orders only the figure. Its name for screen readers has the number of orders.
    """
    words = ngettext("%(n)s order that arrived", "%(n)s orders that arrived", figures.sold)
    return _cell_link(address, Status.SUCCESS, shown, figures.sold, words)


@register.simple_tag
def unsold_link(address: str, figures: Figures, shown: str) -> str:
    """`{% unsold_link line.listed figures shown %}`: the same for the orders that did not go through."""
    words = ngettext("%(n)s order that did not go through", "%(n)s orders that did not go through", figures.unsold)
    return _cell_link(address, NOT_THROUGH, shown, figures.unsold, words)


def _cell_link(address: str, status: str, shown: str, count: int, words: str) -> str:
    if not (address and count):
        return shown
    named = (address, status, shown, words % {"n": count})
    return format_html(
        '<a class="cell-link" href="{}&amp;status={}">{}<span class="visually-hidden">, {}</span></a>', *named
    )


@register.simple_tag
def buying_facts(customer: Customer, user: User) -> dict[str, Any]:
    """`{% buying_facts customer user as facts %}`: the customer's purchases, for people who see full numbers."""
    if not (user.has_perm(Right.VIEW_ORDERS) and user.has_perm(Right.VIEW_NUMBERS)):
        return {}
    query = QueryDict(f"customer={customer.pk}")
    buying = buying_of(OrderFilter(query, queryset=narrowed(Order.objects.all(), "payment__branch"), person=user).qs)
    with_cost = sees_cost(user)
    table = OrderTable(buying.latest, prefix="bought", person=user, with_cost=with_cost)
    table.columns = [*table.columns, replace(OrderTable.paid_by, phone="5 wide")]
    return {"buying": buying, "table": table, "query": query.urlencode(), "with_cost": with_cost}


@register.simple_tag
def exact_sums(filtered: OrderFilter) -> Sums | None:
    """`{% exact_sums filter as sums %}`: the sums of the filtered orders, from the sums of days; None if unknown."""
    figures = None if filtered.form.errors else figures_of_list(dict(parse_qsl(filtered.as_query())))
    if figures is None:
        return None
    open_count = filtered.qs.filter(status__in=OPEN).order_by().count()
    return Sums(figures.placed, figures.sold, open_count, figures.sales, figures.cost)


@register.simple_tag
def sold_under(change: Preview) -> dict[str, int]:
    """`{% sold_under change as sold %}`: how many sales of the last days are of what the rule is for; rupiah that they
    earned, that they earn at the costs of now, before and after, and how much `less` that is."""
    sums = sums_of_sold(change, sold_lately(timezone.now()))
    return sums._asdict() | {"days": DAYS, "less": sums.before - sums.after}
