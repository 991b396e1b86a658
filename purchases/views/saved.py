"""Saved views of the orders list, in a row above it, each with its count."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.rights import Right
from core.search import count_up_to
from exports.models import SavedView
from exports.saved_views import may_share, save_view, views_of
from purchases.filters import LIST, NEEDS_ATTENTION, OrderFilter
from purchases.models import Order
from staff.models import User

_MOST_COUNTED = 99


@dataclass(frozen=True)
class ShownView:
    """One view of the row. `by`: who shares it. `count`: "99+" for more."""

    name: str
    query: str
    count: str
    by: str = ""


def _filter(person: User, query: str) -> OrderFilter:
    return OrderFilter(QueryDict(query), person=person, queryset=Order.objects.all())


def _count(person: User, query: str) -> str:
    count = count_up_to(_filter(person, query).qs, _MOST_COUNTED)
    return f"{_MOST_COUNTED}+" if count > _MOST_COUNTED else str(count)


@staff_only(Right.VIEW_ORDERS)
@require_GET
def order_views(request: StaffRequest) -> HttpResponse:
    """The row of views with their counts; the list asks for it once it is shown."""
    attention = f"status={NEEDS_ATTENTION}"
    shown = [ShownView(_("Needs attention"), attention, _count(request.user, attention))]
    current, own = _current(request), None
    for view in views_of(request.user, LIST):
        is_own = view.owner_id == request.user.pk
        own = view if is_own and view.query == current else own
        by = "" if is_own else view.owner.shown_name
        shown.append(ShownView(view.name, view.query, _count(request.user, view.query), by))
    is_new = current and current not in {view.query for view in shown}
    context = {"views": shown, "current": current, "own": own, "is_new": is_new, "may_share": may_share(request.user)}
    return render(request, f"purchases/order_views.html{'#row' if 'HX-Request' in request.headers else ''}", context)


@staff_only(Right.VIEW_ORDERS)
@require_POST
def order_view_save(request: StaffRequest) -> HttpResponse:
    """Keep the filters of the address under a name, with the columns as this person sees them."""
    filtered = _filter(request.user, request.GET.urlencode())
    columns = {"columns": filtered.chosen_columns} if filtered.chosen_columns else {}
    current = filtered.url_without(*filtered.form.errors, **columns).removeprefix("?")
    name = request.POST.get("name", "").strip()[:40]
    if not current or not name:
        messages.error(request, _("A view needs filters and a name."))
    else:
        with refusal_shown(request):
            is_shared = "is_shared" in request.POST
            save_view(owner=request.user, list_name=LIST, name=name, query=current, is_shared=is_shared)
    return redirect(f"{reverse('order_list')}?{current}")


@staff_only(Right.VIEW_ORDERS)
@require_POST
def order_view_delete(request: StaffRequest, pk: int) -> HttpResponse:
    """Forget an own view."""
    SavedView.objects.filter(pk=pk, owner=request.user, list_name=LIST).delete()
    return redirect("order_list")


def _current(request: StaffRequest) -> str:
    """The valid filters of the address, as a view keeps them."""
    filtered = _filter(request.user, request.GET.urlencode())
    return filtered.url_without(*filtered.form.errors).removeprefix("?")
