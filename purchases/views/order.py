"""One order: its page, which follows it, and a person's acts on it."""

import datetime as dt
from collections.abc import Callable
from itertools import zip_longest
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import OuterRef, Prefetch, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from audit.services import record
from branches.seeing import narrowed
from branches.services import branch_to_show
from catalogue.rights import sees_cost
from core import clock
from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.live import Live
from core.numbers import masked, sees_whole, sees_whole_numbers, text_as_seen, whole_numbers
from core.rights import Right
from core.snapshot import snapshot
from customers.models import SavedNumber
from drawers.models import Payment
from drawers.presenting.sales import MoneyBack, money_back
from drawers.services import will_be_owed
from purchases import services
from purchases.errors import ActionRefused
from purchases.events import FULL_NUMBER_SEEN
from purchases.forms import NeededNoteForm, NoteForm, PriceForm, VerdictForm
from purchases.last_check import last_check, last_exchange
from purchases.models import Incident, Order, OrderEvent, Verdict
from purchases.presenting import (
    after_rise,
    decided_by_people,
    ending_marks,
    event_words,
    explain,
    serial_number,
    shown_destination,
    upstream_words,
    wait_words,
)
from purchases.seals import seal_for, seal_of
from purchases.sent_again import action_words, sent_again
from purchases.services.actions import Action, may_ever, possible_outcomes
from purchases.states import UNFULFILLED, ActionReason, Status
from purchases.views.notes import notes_of, with_all_tags
from purchases.what_now import what_now
from shop.models import Shop
from shop.presenting import Letterhead
from shop.services import current_shop
from staff.models import User

# Within this time a seller's next act is the next customer.
_JUST_SOLD = dt.timedelta(minutes=15)


@staff_only(Right.VIEW_ORDERS)
@require_GET
def order_detail(request: StaffRequest, ref_id: str) -> HttpResponse:
    """One order with its timeline; while it is open the page follows the status automatically."""
    return render(request, "purchases/order_detail.html", _detail(request, ref_id))


@staff_only(Right.VIEW_ORDERS)
@require_GET
def order_live(request: StaffRequest, ref_id: str) -> HttpResponse:
    """The time of the next poll, and the order if it differs from the page."""
    return render(request, "purchases/order_detail.html#live", _detail(request, ref_id))


@staff_only(Right.VIEW_ORDERS)
@require_GET
def order_panel(request: StaffRequest, ref_id: str) -> HttpResponse:
    """The order in short, for the panel beside the list; a browser that opens the address gets the page."""
    if "HX-Request" not in request.headers:
        return redirect("order_detail", ref_id=ref_id)
    return render(request, "purchases/order_detail.html#panel", _detail(request, ref_id))


@staff_only(Right.VIEW_ORDERS, Right.REVEAL_NUMBERS)
@require_http_methods(["GET", "POST"])
def order_number(request: StaffRequest, ref_id: str) -> HttpResponse:
    """The order with its full number, on this answer only; noted, unless the person always sees full numbers."""
    is_erased = Order.objects.filter(ref_id=ref_id, number_erased=True).exists()
    if request.method != "POST" or is_erased:  # the address of such an answer, opened again; or nobody sees it any more
        return redirect("order_detail", ref_id=ref_id)
    is_noted = not sees_whole_numbers()
    with whole_numbers():
        context = _detail(request, ref_id) | {"is_revealed": is_noted}
        if is_noted:
            record(FULL_NUMBER_SEEN, actor=request.user, subject=ref_id)
            context["titled"] = masked(context["destination"])  # browsers keep titles
        return render(request, "purchases/order_detail.html", context)


def _detail(request: StaffRequest, ref_id: str) -> dict[str, Any]:
    order, events, incidents, shop = _read(ref_id)
    actions = services.allowed_actions(order, request.user)
    # If an order sells at cost, its price is its cost.
    with_cost = sees_cost(request.user) or order.customer_pays == order.shown_price == order.max_price
    seen = [order.status, order.polls, sorted(actions), len(events), order.product.price if with_cost else None]
    wait, risen = wait_words(services.longest_wait(order)), after_rise(order, request.user)
    now, checked = what_now(order, actions, request.user), last_check(order)
    back = _back_then(order) if actions & {Action.CANCEL, Action.CLOSE} else None
    is_folded = now is not None and order.action_reason == ActionReason.NEVER_ARRIVED
    open_incidents = [incident for incident in incidents if incident.closed_at is None]
    seen += [order.product.availability, "who_confirms" in risen, "is_above_limit" in risen, now, back]
    seen.append(order.checked)  # type: ignore[attr-defined] # by `_read`
    seen += [wait, [(incident.pk, incident.closed_at) for incident in incidents], len(order.verdicts.all())]
    is_bill, is_decided = order.kind == Order.Kind.BILL, decided_by_people(order)
    is_over = {"order-live"} if order.is_final else set()
    sees_number = sees_whole(order.destination)
    number = {"destination": order.destination} if sees_number and not order.number_erased else {}
    message = text_as_seen(order.message, order.destination)
    is_said = order.status not in {Status.SUCCESS, Status.REVERSED} and not is_decided
    return {
        **notes_of(order),
        "actions": actions,
        "explanation": explain(order, actions),
        "action_words": action_words(order),
        "what_now": now,
        "last_check": checked,
        "money_back": back,
        "is_folded": is_folded,
        "is_verdict_folded": is_folded or (order.status == Status.SUCCESS and not open_incidents),
        "wait": wait,
        "destination": shown_destination(order),
        "titled": shown_destination(order),
        "serial": serial_number(order),
        "ending_marks": ending_marks(order, request.user),
        "is_bill": is_bill,
        "is_just_sold": order.placed_by_id == request.user.pk and order.created_at > clock.now() - _JUST_SOLD,
        "sees_whole": sees_number,
        "owner": order.owner if number else None,  # type: ignore[attr-defined] # by `_read`
        "saving_query": urlencode({"product": order.product_code, **number}) if number else "",
        "may_reveal": not (sees_number or order.number_erased) and request.user.has_perm(Right.REVEAL_NUMBERS),
        "profit": None if order.status in UNFULFILLED else order.customer_pays - order.shown_price,
        **risen,
        "cost_seal": seal_for(order, request.user),
        "timeline": [
            (event, event_words(event, with_cost=with_cost), _note_of(event, order, request.user)) for event in events
        ],
        "sendings": _sendings(events),
        "first_price": _first_price(events),
        "incidents": [incident for incident in incidents if incident.order_id == order.pk],
        "incidents_elsewhere": [incident for incident in incidents if incident.order_id != order.pk],
        "open_incidents": open_incidents,
        "says": upstream_words(message, order, with_cost=sees_cost(request.user)) if is_said else "",
        "has_receipt": order.status == Status.REVERSED or (order.status == Status.SUCCESS and not is_bill),
        "shows_stale_price": order.action_reason == ActionReason.PRICE_CHANGED and Action.SEND_AGAIN in actions,
        "may_resolve": request.user.has_perm(Right.RESOLVE_ORDERS),
        "verdict_form": VerdictForm(outcomes=possible_outcomes(order)),
        "head": Letterhead.of(shop, branch_to_show(order.payment.branch_id)),
        "shop_name": shop.name,  # else each poll would read it with a query of its own
        "live": Live(request, reverse("order_live", args=[ref_id]), {"order-live": seen}, over=is_over),
    }


def _read(ref_id: str) -> tuple[Order, list[OrderEvent], list[Incident], Shop]:
    """The order with its verdicts, its timeline, its incidents and the shop, all of one moment."""
    verdicts = Verdict.objects.select_related("proposed_by", "approved_by", "declined_by")
    orders = Order.objects.select_related("product__brand", "placed_by", "payment__given_by", "payment__debt__account")
    owner = SavedNumber.objects.filter(destination=OuterRef("destination")).owner()
    orders = orders.prefetch_related(Prefetch("verdicts", verdicts)).annotate(
        owner=owner, checked=last_exchange(), again_at=sent_again()
    )
    with snapshot():
        order = get_object_or_404(with_all_tags(orders), ref_id=ref_id)
        events = list(order.events.select_related("actor"))
        return order, events, list(_incidents(order)), current_shop()


def _incidents(order: Order) -> QuerySet[Incident]:
    """Its incidents, and that of its trx_id: while one is open, further orders with the trx_id get none."""
    own = order.incidents.order_by()
    named = Incident.objects.filter(kind=Incident.Kind.DOUBLED_TRX_ID, closed_at=None, order__trx_id=order.trx_id)
    keys = own.values("pk")
    if order.trx_id:
        keys = keys.union(narrowed(named, "order__payment__branch").order_by().values("pk"))
    return Incident.objects.filter(pk__in=keys).select_related("closed_by", "order")


def _note_of(event: OrderEvent, order: Order, person: User) -> str:
    """A person's words as they are; the upstream's words unless they name a cost that this person may not see."""
    return event.note if event.actor_id else upstream_words(event.note, order, with_cost=sees_cost(person))


def _sendings(events: list[OrderEvent]) -> list[dict[str, Any]]:
    """The sendings and the tries that sent nothing (`is_tried`). Tries in a row are one, at the last time; `count`: how
    many.
    """
    sendings: list[dict[str, Any]] = []
    for event, after in zip_longest(events, events[1:]):
        if event.to_status != Status.SENDING:
            continue
        is_tried = after is not None and after.facts.get("code") == "not_sent"
        if is_tried and sendings and sendings[-1]["is_tried"]:
            sendings[-1] |= {"at": event.at, "count": sendings[-1]["count"] + 1}
        else:
            is_again = any(not sending["is_tried"] for sending in sendings)
            sendings.append({"at": event.at, "count": 1, "is_tried": is_tried, "is_again": is_again})
    return sendings


def _first_price(events: list[OrderEvent]) -> int | None:
    """Rupiah: the price that was confirmed first, if another one was confirmed later."""
    return next((event.facts["before"] for event in events if event.facts.get("code") == "price_confirmed"), None)


def _cancel(request: StaffRequest, order: Order) -> str:
    ended = services.cancel_order(order, actor=request.user, note=_note(request))
    back = _back_now(ended)
    return " ".join([_("Order cancelled."), back]) if back else _("Order cancelled. Nothing was charged.")


def _send_again(request: StaffRequest, order: Order) -> str:
    form = PriceForm(request.POST)
    price, reason = (form.cleaned_data["price"], form.cleaned_data["reason"]) if form.is_valid() else (None, "")
    if form.is_valid() and form.cleaned_data["seal"]:
        is_same = constant_time_compare(form.cleaned_data["seal"], seal_of(order.product))
        price = order.product.price if is_same else None
    services.send_again(order, actor=request.user, max_price=price, reason=reason)
    return _("Queued again, under the same ref_id.")


def _close(request: StaffRequest, order: Order) -> str:
    ended = services.close_never_arrived(order, actor=request.user, note=_note(request))
    words = _("Order closed. The provider refunds nothing to the shop.")
    return f"{words} {_back_now(ended)}".rstrip()


def _back_then(order: Order) -> MoneyBack | None:
    """The refund to the customer if the order is cancelled or closed now."""
    return money_back(order.payment, is_owed=bool(will_be_owed([order.payment])))


def _back_now(ended: Order) -> str:
    """The refund to the customer of an order that has just ended without success."""
    payment = Payment.objects.select_related("debt__account").get(pk=ended.payment_id)
    back = money_back(payment, is_owed=payment.is_owed)
    return back.words if back else ""


def _poll(request: StaffRequest, order: Order) -> str:
    if services.poll_now(order, actor=request.user):
        return _("Asking the provider now.")
    return _("The queue cannot be reached; the order's status is checked a little later.")


def _propose(request: StaffRequest, order: Order) -> str:
    form = VerdictForm(request.POST, outcomes=possible_outcomes(order))
    if not form.is_valid():
        raise ActionRefused(_("A decision needs evidence and a reason."))
    services.propose_verdict(order, actor=request.user, **form.cleaned_data)
    return _("Proposed. A second person has to approve it.")


def _give_back(request: StaffRequest, order: Order) -> str:
    services.note_given_back(order, actor=request.user, note=_note(request))
    return _("Noted.")


def _note(request: StaffRequest) -> str:
    form = NoteForm(request.POST)
    return str(form.cleaned_data["note"]) if form.is_valid() else ""


# The posts to an order: address → its function, and its action of `allowed_actions`.
POSTS: dict[str, tuple[Callable[[StaffRequest, Order], str], Action]] = {
    "cancel": (_cancel, Action.CANCEL),
    "again": (_send_again, Action.SEND_AGAIN),
    "close": (_close, Action.CLOSE),
    "check": (_poll, Action.POLL),
    "propose": (_propose, Action.PROPOSE_VERDICT),
    "given-back": (_give_back, Action.GIVE_BACK),
}


@staff_only(Right.VIEW_ORDERS)
@require_POST
def order_act(request: StaffRequest, ref_id: str, action: str) -> HttpResponse:
    """Do `action` for a person who may do it with some order, say the result, and show the order."""
    if action not in POSTS:
        raise Http404
    act, needed = POSTS[action]
    if not may_ever(needed, request.user):
        raise PermissionDenied
    order = get_object_or_404(Order, ref_id=ref_id)
    with refusal_shown(request):
        messages.success(request, act(request, order))
    return redirect("counter") if request.POST.get("to") == "counter" else redirect(order)


@staff_only(Right.VIEW_ORDERS, Right.RESOLVE_ORDERS)
@require_POST
def incident_close(request: StaffRequest, ref_id: str, pk: int) -> HttpResponse:
    """Mark an incident as looked into; a finding in words is needed."""
    incident = get_object_or_404(Incident, pk=pk, order__ref_id=ref_id)
    form = NeededNoteForm(request.POST)
    if not form.is_valid():
        messages.error(request, _("Write what you found first."))
        return redirect(incident.order)
    with refusal_shown(request):
        services.close_incident(incident, actor=request.user, note=form.cleaned_data["note"])
        messages.success(request, _("Incident closed."))
    return redirect(incident.order)
