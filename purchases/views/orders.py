"""The list of orders."""

from functools import partial
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html_join
from django.views.decorators.http import require_GET

from branches.seeing import narrowed
from catalogue.rights import sees_cost
from core.access import StaffRequest, staff_only
from core.filters import ListFilter
from core.live import Live, seen_keys
from core.paging import keyset_page
from core.rights import Right
from purchases.fields import product_code, products_offered
from purchases.lists import ORDERS
from purchases.looking import hindrance, week_before
from purchases.models import Order
from purchases.models.orders import OrderQuerySet
from purchases.reading import plain_price
from purchases.services.bulk import MOST_AT_ONCE, bulk_acts_of
from purchases.tables import OrderTable

# If a list is empty, this many of its filters are left out in turn (`hindrance`).
_TRIED = 4


@staff_only(Right.VIEW_ORDERS)
@require_GET
def order_list(request: StaffRequest) -> HttpResponse:
    """The orders that match the filters in the URL, newest first, 50 a page; the page follows those that are open.

    A line in the search becomes filters in the URL. With `format=csv` or `xlsx` exactly these orders come as a file.
    """
    if "format" in request.GET:
        return redirect(f"{reverse('order_file')}?{request.GET.urlencode()}")
    filtered = ORDERS.found(request)
    typed = filtered.data.get("q", "")
    understood, rest = filtered.read(typed)
    if understood:
        return redirect(request.path + _narrowed(filtered, typed, understood, rest))
    if "product" in filtered.form.errors and (code := product_code(request.GET.get("product", "").strip())):
        return redirect(request.path + filtered.url_without("product", product=code))
    filtered.read_choices()
    columns = ORDERS.columns(request.GET, request.user)
    page = keyset_page(filtered.qs, request.GET, shown=_for_columns(columns))
    context = {
        "bulk_acts": bulk_acts_of(request.user),
        "most_at_once": MOST_AT_ONCE,
        "filter": filtered,
        "hindrance": partial(hindrance, filtered, most=_TRIED),
        "week_before": partial(week_before, filtered),
        "page": page,
        "table": _table(request, page.rows, columns),
        "live": _live(request, page.rows, columns),
    }
    return ORDERS.show(request, context)


@staff_only(Right.VIEW_ORDERS)
@require_GET
def order_products(request: StaffRequest) -> HttpResponse:
    """The names of products that the filter offers for the typed text."""
    offered = products_offered(request.GET.get("product", "")[:100])
    return HttpResponse(format_html_join("", '<option value="{}">{}</option>', offered))


def _narrowed(filtered: ListFilter, typed: str, understood: dict[str, str], rest: str) -> str:
    """The query of the list with the filters that a line names. A new filter replaces the older one of its kind.

    `line` names the new filters if older ones stay, so that the page can say so when nothing is found; `digits` are
    those that were taken for a price.
    """
    replaced = {"q", *understood}
    for kind in ({"days", "since", "until"}, {"amount_from", "amount_to"}):
        replaced |= kind if kind & understood.keys() else set()
    more = understood | ({"q": rest} if rest else {})
    if digits := plain_price(typed, understood):
        more["digits"] = digits
    if filtered.standing(replaced):
        more["line"] = ",".join(understood)
    return filtered.url_without(*replaced, **more)


@staff_only(Right.VIEW_ORDERS)
@require_GET
def order_list_live(request: StaffRequest) -> HttpResponse:
    """The rows that have changed since the page was shown, and when to ask next."""
    columns = ORDERS.columns(request.GET, request.user)
    seen = _for_columns(columns).filter(pk__in=seen_keys(request))
    orders = list(narrowed(seen, "payment__branch"))
    live = _live(request, orders, columns)
    news = [order for order in orders if f"row-{order.pk}" in live.news]
    return render(request, "components/live_rows.html", {"live": live, "table": _table(request, news, columns)})


def _table(request: StaffRequest, orders: list[Order], columns: str) -> OrderTable:
    return OrderTable(
        orders,
        person=request.user,
        with_cost=sees_cost(request.user),
        with_ticks=bool(bulk_acts_of(request.user)),
        columns=columns,
    )


def _for_columns(columns: str) -> OrderQuerySet:
    orders = Order.objects.for_table()
    return orders.select_related("placed_by", "payment") if columns else orders


def _live(request: StaffRequest, orders: list[Order], columns: str) -> Live:
    """Follow the orders of a list until they are final, in the columns that it shows."""
    return Live(
        request,
        f"{reverse('order_list_live')}?{urlencode({'columns': columns})}",
        {f"row-{order.pk}": order.status for order in orders},
        over={f"row-{order.pk}" for order in orders if order.is_final},
    )
