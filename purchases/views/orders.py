"""The list of orders."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from catalogue.rights import sees_cost
from core.access import StaffRequest, staff_only
from core.live import Live, seen_keys
from core.numbers import may_take_whole
from core.paging import kept_filters, keyset_page
from core.rights import Right
from drawers.services import counts_blind
from exports.lists import ListFile
from exports.saved_views import keep_columns
from purchases.filters import LIST, OrderFilter
from purchases.models import Order
from purchases.models.orders import OrderQuerySet
from purchases.services.bulk import MOST_AT_ONCE, bulk_acts_of
from purchases.sums import sums_of
from purchases.tables import OrderTable

# A file holds costs.
FILE_RIGHTS = (Right.VIEW_ORDERS, Right.VIEW_COST)


def found_orders(request: StaffRequest) -> OrderFilter:
    """Its rows have what the file holds; the page reads its own."""
    return OrderFilter(request.GET, person=request.user, queryset=Order.objects.for_file())


def _show(request: StaffRequest, context: dict[str, Any], status: int = 200) -> HttpResponse:
    return render(request, "purchases/order_list.html", context, status=status)


def _file_of(filtered: OrderFilter) -> ListFile:
    """The maker of a file with the chosen columns."""
    columns = filtered.chosen_columns
    return ListFile(
        name=LIST,
        task="purchases.tasks.write_orders",
        rights=FILE_RIGHTS,
        fields=OrderTable.file_fields(columns),
        show=_show,
        whole_fields=OrderTable.file_fields(columns, whole=True),
    )


@staff_only(Right.VIEW_ORDERS)
@require_POST
def order_columns(request: StaffRequest) -> HttpResponse:
    """Keep the columns that have a place (`place-NAME`, counted from 1) for this person; the usual ones for none."""
    places = {column.name: request.POST.get(f"place-{column.name}", "") for column in OrderTable.every_column}
    chosen = [name for name, place in places.items() if place.isdecimal() and len(place) < 3]
    keep_columns(request.user, LIST, ",".join(sorted(chosen, key=lambda name: int(places[name]))))
    kept = kept_filters(request.GET)
    kept.pop("columns", None)
    return redirect(f"{reverse('order_list')}?{kept.urlencode()}")


@staff_only(Right.VIEW_ORDERS)
@require_GET
def order_list(request: StaffRequest) -> HttpResponse:
    """The orders that the filters in the URL leave, newest first, 50 a page; it follows those that are open.

    What a line in the search names becomes filters of the address. With `format=csv` or `xlsx` exactly these as a file.
    """
    if "format" in request.GET:
        return redirect(f"{reverse('order_file')}?{request.GET.urlencode()}")
    filtered = found_orders(request)
    understood, rest = filtered.read(request.GET.get("q", ""))
    if understood:
        replaced = {"q", "days", "since", "until"} if "days" in understood else {"q"}
        return redirect(request.path + filtered.url_without(*replaced, **understood, **({"q": rest} if rest else {})))
    columns = filtered.chosen_columns
    page = keyset_page(filtered.qs, request.GET, shown=_for_columns(columns))
    table = _table(request, page.rows, columns)
    context = {
        "columns": [
            (column, table.columns.index(column) + 1 if column in table.columns else "")
            for column in OrderTable.every_column
            if sees_cost(request.user) or column.name != "profit"
        ],
        "bulk_acts": bulk_acts_of(request.user),
        "most_at_once": MOST_AT_ONCE,
        "filter": filtered,
        "page": page,
        "table": table,
        "live": _live(request, page.rows, columns),
    }
    return _show(request, context | {"may_take_whole": may_take_whole(request.user)})


@staff_only(*FILE_RIGHTS)
@require_http_methods(["GET", "POST"])
def order_file(request: StaffRequest) -> HttpResponseBase:
    """The orders that the filters leave as CSV, sent while read; the worker makes a long one, and XLSX (POST)."""
    filtered = found_orders(request)
    file = _file_of(filtered)
    return (file.xlsx if request.GET.get("format") == "xlsx" else file.csv)(request, filtered)


@staff_only(*FILE_RIGHTS)
@require_http_methods(["GET", "POST"])
def order_file_whole(request: StaffRequest) -> HttpResponseBase:
    """A file of the filtered orders with customers' full numbers; it takes a second factor."""
    filtered = found_orders(request)
    return _file_of(filtered).whole(request, filtered, back=reverse("order_list"))


@staff_only(Right.VIEW_ORDERS)
@require_GET
def order_sums(request: StaffRequest) -> HttpResponse:
    """How many orders the filters leave, and what they come to; the list asks for it once it is shown."""
    filtered = found_orders(request)
    context = {
        "sums": sums_of(filtered.qs),
        "with_cost": sees_cost(request.user),
        "is_blind": counts_blind(request.user),
        "kept": kept_filters(request.GET),
    }
    return render(request, f"purchases/order_sums.html{'#foot' if 'HX-Request' in request.headers else ''}", context)


@staff_only(Right.VIEW_ORDERS)
@require_GET
def order_list_live(request: StaffRequest) -> HttpResponse:
    """The rows that have changed since the page was shown, and when to ask next."""
    columns = request.GET.get("columns", "")
    orders = list(_for_columns(columns).filter(pk__in=seen_keys(request, "row")))
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
    address = reverse("order_list_live")
    return Live(
        request,
        f"{address}?{urlencode({'columns': columns})}" if columns else address,
        {f"row-{order.pk}": order.status for order in orders},
        over={f"row-{order.pk}" for order in orders if order.is_final},
    )
