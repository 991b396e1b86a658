"""The parts around the rows of each list: its files, the choice of columns, the foot and the saved views."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.paging import kept_filters
from core.search import count_up_to
from exports.listing import Listing
from exports.models import SavedView
from exports.services import keep_columns, may_share, save_view, views_of
from staff.models import User

_MOST_COUNTED = 99


def addresses(listing: Listing) -> list[URLPattern]:
    """The addresses below the list's own, each named for its page: `order_file`."""
    seen, filed = staff_only(*listing.rights), staff_only(*listing.rights, *listing.file_rights)
    get_or_post = require_http_methods(["GET", "POST"])
    views: list[tuple[str, str, Any]] = [
        ("file/", "file", filed(get_or_post(partial(list_file, listing)))),
        ("file/about/", "about", filed(require_GET(partial(list_about, listing)))),
        ("columns/", "columns", seen(require_POST(partial(list_columns, listing)))),
        ("sums/", "sums", seen(require_GET(partial(list_sums, listing)))),
        ("views/", "views", seen(require_GET(partial(list_views, listing)))),
        ("views/save/", "view_save", seen(require_POST(partial(list_view_save, listing)))),
        ("views/<int:pk>/delete/", "view_delete", seen(require_POST(partial(list_view_delete, listing)))),
    ]
    if listing.table.export_whole:
        views.append(("file/whole/", "file_whole", filed(get_or_post(partial(list_file_whole, listing)))))
    return [path(route, view, name=f"{listing.page}_{name}") for route, name, view in views]


def list_file(listing: Listing, request: StaffRequest) -> HttpResponseBase:
    """The filtered rows as CSV or XLSX; the worker makes a long one (POST)."""
    file = listing.file(request)
    return (file.xlsx if request.GET.get("format") == "xlsx" else file.csv)(request, listing.found(request))


def list_about(listing: Listing, request: StaffRequest) -> HttpResponse:
    """The content that a file of this address would have; the menu loads it when it is opened."""
    return listing.file(request).about(request, listing.found(request), back=_list_of(listing))


def list_file_whole(listing: Listing, request: StaffRequest) -> HttpResponseBase:
    """A file of the filtered rows with customers' full numbers; it takes a second factor."""
    return listing.file(request).whole(request, listing.found(request), back=_list_of(listing))


def list_columns(listing: Listing, request: StaffRequest) -> HttpResponse:
    """Keep the ticked columns (`column`), in their order, for this person; without a tick, the usual ones.

    `up`: a column that moves one place to the front.
    """
    known = {column.name for column in listing.table.every_column}
    names = [name for name in request.POST.getlist("column") if name in known]
    if (up := request.POST.get("up")) in names and (place := names.index(up)):
        names[place - 1 : place + 1] = [up, names[place - 1]]
    keep_columns(request.user, listing.name, ",".join(names))
    kept = kept_filters(request.GET)
    kept.pop("columns", None)
    return redirect(f"{_list_of(listing)}?{kept.urlencode()}")


def list_sums(listing: Listing, request: StaffRequest) -> HttpResponse:
    """The number of rows that match the filters, and their sums; the list loads it after it is shown."""
    filtered = listing.found(request)
    context = {
        "listing": listing,
        "back": f"{_list_of(listing)}?{kept_filters(request.GET).urlencode()}",
        "template": listing.foot_template,
        "filter": filtered,
        **listing.foot(filtered, request.user),
    }
    return render(request, listing.foot_template if _is_part(request) else "exports/list_sums.html", context)


@dataclass(frozen=True)
class ShownView:
    """One view in the row of views. `by`: the person who shares it. `count`: "99+" for more than 99."""

    name: str
    query: str
    count: str
    by: str = ""


def list_views(listing: Listing, request: StaffRequest) -> HttpResponse:
    """The row of views with their counts; the list loads it after it is shown."""
    user = request.user
    shown = [ShownView(str(words), query, _count(listing, user, query)) for words, query in listing.views]
    current, own = _current(listing, request), None
    for view in views_of(user, listing.name):
        is_own = view.owner_id == user.pk
        own = view if is_own and view.query == current else own
        by = "" if is_own else view.owner.shown_name
        shown.append(ShownView(view.name, view.query, _count(listing, user, view.query), by))
    context = {
        "views": shown,
        "current": current,
        "own": own,
        "is_new": current and current not in {view.query for view in shown},
        "may_share": may_share(user),
        "listing": listing,
        "list": _list_of(listing),
        "save": reverse(f"{listing.page}_view_save"),
        "delete": f"{listing.page}_view_delete",
    }
    return render(request, f"exports/list_views.html{'#row' if _is_part(request) else ''}", context)


def list_view_save(listing: Listing, request: StaffRequest) -> HttpResponse:
    """Keep the filters of the address under a name, with the columns as this person sees them."""
    columns = listing.columns(request.GET, request.user)
    current = _current(listing, request, **({"columns": columns} if columns else {}))
    name = request.POST.get("name", "").strip()[:40]
    if not current or not name:
        messages.error(request, _("A view needs filters and a name."))
    else:
        with refusal_shown(request):
            is_shared = "is_shared" in request.POST
            save_view(owner=request.user, list_name=listing.name, name=name, query=current, is_shared=is_shared)
    return redirect(f"{_list_of(listing)}?{current}")


def list_view_delete(listing: Listing, request: StaffRequest, pk: int) -> HttpResponse:
    """Delete one of the person's own views."""
    SavedView.objects.filter(pk=pk, owner=request.user, list_name=listing.name).delete()
    return redirect(_list_of(listing))


def _list_of(listing: Listing) -> str:
    return reverse(f"{listing.page}_list")


def _is_part(request: StaffRequest) -> bool:
    return "HX-Request" in request.headers


def _count(listing: Listing, person: User, query: str) -> str:
    count = count_up_to(listing.find(QueryDict(query), person).qs, _MOST_COUNTED)
    return f"{_MOST_COUNTED}+" if count > _MOST_COUNTED else str(count)


def _current(listing: Listing, request: StaffRequest, **more: str) -> str:
    """The valid filters of the address, as a view keeps them."""
    filtered = listing.found(request)
    return filtered.url_without(*filtered.form.errors, **more).removeprefix("?")
