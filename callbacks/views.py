"""The pages of callbacks: the list, one callback with its result, and processing it again."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from callbacks import presenting, services
from callbacks.filters import CallbackFilter
from callbacks.models import Callback, CallbackRefusal, CallbackRefusalCount, CallbackState
from callbacks.tables import CallbackTable, RefusalCountTable, RefusalTable
from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.paging import keyset_page
from core.rights import Right
from policies.services import policies
from purchases.models import Order


@staff_only(Right.VIEW_CALLBACKS)
@require_GET
def callback_list(request: StaffRequest) -> HttpResponse:
    """Callbacks newest first, and how many were rejected before processing."""
    filtered = CallbackFilter(request.GET, queryset=Callback.objects.defer("body", "headers"))
    page = keyset_page(filtered.qs, request.GET, time_field="received_at")
    context = {
        "filter": filtered,
        "page": page,
        "table": CallbackTable(page.rows),
        "refusal_counts": RefusalCountTable(CallbackRefusalCount.objects.order_by("-day", "reason")[:10]),
        "kept_days": policies().callbacks_kept_days,
        # not counted: after a year they are most of millions of rows
        "some_are_gone": Callback.objects.filter(body_gone_at__isnull=False).exists(),
        "refusals": RefusalTable(CallbackRefusal.objects.all()[:10]),
    }
    return render(request, "callbacks/callback_list.html", context)


@staff_only(Right.VIEW_CALLBACKS)
@require_GET
def callback_detail(request: StaffRequest, pk: int) -> HttpResponse:
    """One callback: its bytes as text, its headers, the verdict on its signature, and the order that it is about."""
    callback = get_object_or_404(Callback, pk=pk)
    order = Order.objects.filter(ref_id=callback.ref_id).first() if callback.ref_id else None
    raw, formatted = presenting.body_of(callback, order)
    is_waiting = callback.state == CallbackState.RECEIVED and not callback.tries
    context = {
        "callback": callback,
        "result": presenting.result_words(callback),
        "raw": raw,
        "formatted": formatted,
        "size": len(callback.body),
        "headers": sorted(callback.headers.items()),
        "order": order,
        "may_process": request.user.has_perm(Right.PROCESS_CALLBACKS) and not (is_waiting or callback.body_gone_at),
    }
    return render(request, "callbacks/callback_detail.html", context)


@staff_only(Right.VIEW_CALLBACKS, Right.PROCESS_CALLBACKS)
@require_POST
def callback_process(request: StaffRequest, pk: int) -> HttpResponse:
    """Process one callback again; harmless, because applying the same outcome twice changes nothing."""
    callback = get_object_or_404(Callback, pk=pk)
    with refusal_shown(request):
        callback = services.process_again(callback, actor=request.user)
        say = messages.error if callback.fault else messages.success
        say(request, _("Processed again: %(result)s") % {"result": presenting.result_words(callback)})
    return redirect("callback_detail", pk=pk)
