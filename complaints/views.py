"""From a number or an SN to the answer for the customer; and the complaints about orders."""

import datetime as dt
from typing import Any

from django.contrib import messages
from django.db.models import Prefetch, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from branches.seeing import narrowed
from complaints import services
from complaints.forms import ComplaintForm, StepForm
from complaints.lists import COMPLAINTS
from complaints.models import Complaint, ComplaintEvent, State
from complaints.presenting import answer_for, steps_of
from complaints.tables import ComplaintTable
from core import clock
from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.live import Live
from core.notation import as_if_typed
from core.numbers import sees_whole, sees_whole_numbers
from core.paging import keyset_page
from core.rights import Right
from core.together import read_together
from drawers.presenting.sales import sale_questions, shown_sale
from purchases.models import Order
from purchases.presenting import shown_destination
from purchases.receipts import whatsapp_address
from shop.presenting import Letterhead
from shop.services import shop_of, shop_question

# The value of `about` in a link to a complaint about a wrongly typed number.
WRONG_NUMBER = "wrong_number"
# The value of `to` of a step that moves nothing but the due time.
_NOTE = "note"
# At most this many of the newest orders that a text means are shown.
_MOST_FOUND = 6


@staff_only(Right.VIEW_ORDERS)
@require_GET
def arrived(request: StaffRequest) -> HttpResponse:
    """The newest order for a number, or the order with an SN or a ref_id, with the answer for the customer.

    A text that may mean several numbers leads to a choice: no customer hears about another customer's order.
    """
    text = as_if_typed(request.GET.get("q", "")).strip()[:100]
    orders = _meant(text) if text else []
    context: dict[str, Any] = {"text": text, "orders": orders}
    if orders and len({order.destination for order in orders}) == 1:
        answers = read_together(*_questions(orders[0].ref_id))
        context |= _answered(request, orders[0], answers) | {"earlier": orders[1:]}
    context["choices"] = [(order, shown_destination(order)) for order in orders] if "order" not in context else []
    return render(request, "complaints/arrived.html", context)


@staff_only(Right.VIEW_ORDERS)
@require_GET
def arrived_live(request: StaffRequest, ref_id: str) -> HttpResponse:
    """The time of the next poll, and the answer if it differs from the page."""
    orders, *answers = read_together(_shown().filter(ref_id=ref_id), *_questions(ref_id))
    if not orders:
        raise Http404
    return render(request, "complaints/arrived.html#live", _answered(request, orders[0], answers))


def _shown() -> Any:
    return Order.objects.for_table().select_related("payment")


def _meant(text: str) -> list[Order]:
    """The newest orders that the text means; the newest of each number before all others."""
    seen = narrowed(Order.objects.all(), "payment__branch")
    matches = seen.matching(text, by_part=sees_whole_numbers()).order_by("-created_at", "-pk")
    newest: dict[str, int] = {}
    others = []
    for key, number in matches.values_list("pk", "destination"):
        if newest.setdefault(number, key) != key:
            others.append(key)
    keys = [*newest.values(), *others][:_MOST_FOUND]
    return list(_shown().filter(pk__in=keys).order_by("-created_at", "-pk"))


def _questions(ref_id: str) -> list[QuerySet[Any, Any]]:
    """The other facts of an order: one statement reads them all."""
    written = ComplaintEvent.objects.filter(complaint__order__ref_id=ref_id).select_related("person")
    return [
        shop_question(),
        Complaint.objects.filter(order__ref_id=ref_id).select_related("opened_by").order_by("-pk")[:5],
        written.order_by("-pk")[:50],
        *sale_questions(ref_id),
    ]


def _answered(request: StaffRequest, order: Order, answers: list[list[Any]]) -> dict[str, Any]:
    may_see = request.user.has_perm(Right.VIEW_COMPLAINTS)
    begun = _("Wrong number typed. The right one:") + " " if request.GET.get("about") == WRONG_NUMBER else ""
    shops, complaints, events, *of_sale = answers
    head = Letterhead.of(shop_of(shops))
    sale = shown_sale(order.ref_id, request.user, of_sale)
    owed = sale.to_give_back if sale and sale.payment.is_owed else None
    answer = answer_for(order, head, owed=owed, off_account=sale.off_account if sale else None)
    current = next((complaint for complaint in complaints if complaint.closed_at is None), None)
    seen = [
        order.status,
        order.polls,
        answer,
        [(complaint.pk, complaint.state) for complaint in complaints],
        len(events),
    ]
    return {
        "order": order,
        "destination": shown_destination(order),
        "answer": answer,
        "whatsapp": whatsapp_address(order, answer.text) if sees_whole(order.destination) else "",
        "complaint": current if may_see else None,
        "events": events if may_see else [],
        "is_late": current is not None and current.is_overdue,
        "steps": steps_of(current) if current else [],
        "step_form": StepForm(auto_id="step-%s"),
        "open_form": ComplaintForm(auto_id="open-%s", initial={"words": begun}),
        "is_begun": bool(begun),
        "may_handle": request.user.has_perm(Right.HANDLE_COMPLAINTS),
        "live": Live(
            request,
            reverse("arrived_live", args=[order.ref_id]),
            {"answer": seen},
            over={"answer"} if order.is_final else set(),
        ),
    }


@staff_only(Right.VIEW_COMPLAINTS)
@require_GET
def complaint_list(request: StaffRequest) -> HttpResponse:
    """The open complaints, the first due on top; by the filters in the URL also the closed ones, newest first."""
    filtered = COMPLAINTS.found(request)
    # The orders in a query of their own: if they were joined, PostgreSQL might read all of them.
    orders = Prefetch("order", queryset=Order.objects.for_table())
    rows = filtered.qs.select_related("opened_by").prefetch_related(orders)
    if filtered.is_by_due:
        page = keyset_page(rows, request.GET, time_field="due_at", is_rising=True)
    else:
        page = keyset_page(rows, request.GET, time_field="opened_at")
    table = ComplaintTable(page.rows, columns=COMPLAINTS.columns(request.GET, request.user))
    return COMPLAINTS.show(request, {"filter": filtered, "page": page, "table": table})


@staff_only(Right.VIEW_ORDERS, Right.HANDLE_COMPLAINTS)
@require_POST
def complaint_open(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Open a complaint about an order."""
    order = get_object_or_404(Order, ref_id=ref_id)
    form = ComplaintForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Write what the customer says, or what you have done."), extra_tags="no_words")
        return redirect(_page_of(order))
    with refusal_shown(request):
        services.open_complaint(order, words=form.cleaned_data["words"], actor=request.user, due_at=_due(form))
        messages.success(request, _("The complaint is open."), extra_tags="complaint_opened")
    return redirect(_page_of(order))


@staff_only(Right.VIEW_ORDERS, Right.HANDLE_COMPLAINTS)
@require_POST
def complaint_step(request: StaffRequest, pk: int) -> HttpResponse:
    """Write the step taken about a complaint, and its new state (`to`); "note": the words alone."""
    complaint = get_object_or_404(Complaint.objects.select_related("order"), pk=pk)
    form, to = StepForm(request.POST), request.POST.get("to", "")
    if not form.is_valid() or to not in {*State.values, _NOTE}:
        messages.error(request, _("Write what the customer says, or what you have done."), extra_tags="no_words")
        return redirect(_page_of(complaint.order))
    with refusal_shown(request):
        services.move_complaint(
            complaint,
            to=None if to == _NOTE else to,
            words=form.cleaned_data["words"],
            actor=request.user,
            due_at=_due(form),
        )
        messages.success(request, _("Written down."), extra_tags="complaint_moved")
    return redirect(_page_of(complaint.order))


def _due(form: ComplaintForm) -> dt.datetime:
    return clock.now() + dt.timedelta(hours=form.cleaned_data["hours"])


def _page_of(order: Order) -> str:
    return f"{reverse('arrived')}?{urlencode({'q': order.ref_id})}"
