"""The review in the counter's panel, and sending the reviewed sale, by the same services as every other purchase."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST
from django_htmx.http import HttpResponseClientRedirect

from approvals.errors import AlreadyAsked
from approvals.models import Approval
from approvals.presenting import ShownApproval
from approvals.services import approvers_of, may_open
from branches.errors import BranchRefused
from branches.seeing import narrowed
from catalogue.destinations import InvalidDestination
from catalogue.forms import DestinationForm
from catalogue.marks import mark_of
from catalogue.models import Product, ProductType
from catalogue.services import find_product
from core.access import StaffRequest, staff_only
from core.errors import refusal_shown
from core.forms import faults_of
from core.money import rupiah
from core.numbers import sees_whole
from core.rights import Right
from counter.presenting import Row, in_fours
from counter.services import Choice, Typed
from counter.services.choosing import can_be_sold
from counter.views.confirming import place_confirmed, recognised, repeats, review_facts
from counter.views.counter import choice_for, find_pinned, panel_facts, strip_facts
from credit.methods import CASH
from credit.services import name_of
from drawers.models import Payment
from drawers.services import give_back, open_shift_of
from purchases.errors import NeedsApproval, NotForSale
from purchases.models import Order
from purchases.services import ask_for_approval
from purchases.states import Status
from staff.models import User
from tills.printing import open_cash_drawer


@staff_only(Right.VIEW_PRODUCT, Right.BUY)
@require_GET
def counter_review(request: StaffRequest) -> HttpResponse:
    """Review what the text means (`q`) with the tile that was picked (`pick`), or a past order again (`again`).

    If nothing is certain yet, the panel names the missing part.
    """
    if ref_id := request.GET.get("again", "")[:64]:
        return _again(request, ref_id)
    text, pick = request.GET.get("q", "")[:100], request.GET.get("pick", "")[:100]
    if code := request.GET.get("product", "")[:100]:
        return _review_of_chosen(request, code, text)
    choice = choice_for(request, text, pick=pick)
    if choice.amount and choice.text_of_name:
        text = choice.text_of_name
        choice = choice_for(request, text)
    if not choice.typed.number:
        return _without_number(request, choice)
    known = {"choice": choice, "q": text}
    if choice.picked is None:
        return show_panel(request, **known | _with_end(choice), asks="pick" if choice.typed.bare else "number")
    product = _whole(choice.picked)
    number = choice.typed.number if product.kind.needs_product else choice.typed.bare or choice.typed.number
    return _review_of(request, product, number, known)


def _review_of_chosen(request: StaffRequest, code: str, text: str) -> HttpResponse:
    """Review the product that was chosen before its number (`text`)."""
    product = find_pinned(code)
    if product is None:
        raise Http404
    typed = Typed.read(text)
    if product.kind.takes_phone and typed.is_phone and typed.words:  # else an amount's digits would end the number
        return show_panel(request, faults=[_("Type only the number: the product is chosen already.")])
    return _review_of(request, product, text, {})


def _review_of(request: StaffRequest, product: Product, number: str, known: dict[str, Any]) -> HttpResponse:
    """The review, or for a bill the question to its biller. `known`: the field and its offers."""
    if product.type == ProductType.POSTPAID:
        return _ask_biller(request, product, number)
    form = DestinationForm({"destination": number}, product=product)
    if not form.is_valid():
        return show_panel(request, **known, asks="number", faults=faults_of(form))
    return _review(request, product, form, known, **repeats(product, form))


def _without_number(request: StaffRequest, choice: Choice) -> HttpResponse:
    """The panel for a text without a number: the only number of a name, so that the amount comes next, or a product."""
    if text := choice.text_of_name:
        return show_panel(request, q=text, choice=choice_for(request, text))
    if choice.picked:
        return show_panel(request, pinned=choice.picked.code, q="")
    return show_panel(request, q=choice.typed.text, asks="pick", choice=choice)


def _with_end(choice: Choice) -> dict[str, str]:
    """The field after Enter on a complete number alone: digits that are typed next are the amount, in any notation."""
    typed = choice.typed
    is_alone = typed.bare and not (typed.words or typed.shelf or typed.zone)
    return {"q": f"{typed.bare} "} if is_alone else {}


def show_panel(request: StaffRequest, **more: Any) -> HttpResponse:
    """The panel; without htmx the whole page."""
    facts = panel_facts(request, **more)
    if request.headers.get("HX-Request"):
        return render(request, "counter/panel.html", facts)
    return render(request, "counter/counter.html", {**facts, **strip_facts(request)})


def _whole(product: Product) -> Product:
    """The product as every purchase reads it."""
    return find_product(product.code, product.type) or product


def _review(
    request: StaffRequest, product: Product, form: DestinationForm, known: dict[str, Any] | None = None, **more: Any
) -> HttpResponse:
    review = review_facts(request, product, form, **more)
    if more.get("asked_again"):  # asking for it again confirms that a second one is meant
        keeps = ("missing", "is_below_cost", "is_other_operator", "limit_refusal", "hours_refusal")
        review["is_plain"] = not any(review[name] for name in keeps)
    review["shown_destination"], review["mark"] = in_fours(review["shown_destination"]), mark_of(product.brand.name)
    return show_panel(request, **review, **(known or {}), is_review=True)


def _again(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Sell the same for the same number again; it is reviewed and sent like any other.

    After this person's last sale a second one is meant. Any other order may be an earlier customer's: it takes a `Y`.
    """
    seen = narrowed(Order.objects.select_related("product"), "payment__branch")
    order = get_object_or_404(seen, ref_id=ref_id)
    is_own = order.placed_by_id == request.user.pk
    if not sees_whole(order.destination) or not (is_own or request.user.has_perm(Right.VIEW_ORDERS)):
        raise Http404
    product = _whole(order.product)
    if product.type == ProductType.POSTPAID:
        return _ask_biller(request, product, order.destination)
    form = DestinationForm({"destination": order.destination}, product=product)
    if not form.is_valid() or not can_be_sold(product, below_cost=True):  # the review names the people who may sell it
        return show_panel(request, q=f"{order.destination} ", asks="gone")
    repeated = repeats(product, form)
    last = Order.objects.filter(placed_by=request.user).order_by("-created_at").first()
    return _review(request, product, form, **repeated, asked_again="earlier" in repeated and last == order)


def _ask_biller(request: StaffRequest, product: Product, number: str) -> HttpResponse:
    if not request.user.has_perms([Right.VIEW_BILLS, Right.CHECK_BILLS]):
        return show_panel(request, asks="no_bills")
    return show_panel(request, biller=product, number=number, shown_number=in_fours(product.kind.shown(number)))


@staff_only(Right.VIEW_PRODUCT, Right.BUY)
@require_POST
def counter_send(request: StaffRequest) -> HttpResponse:
    """Place what the review shows, once for its token; then the field is empty for the next customer."""
    product = find_product(request.POST.get("product", "")[:100], ProductType.PREPAID)
    if product is None:
        raise Http404
    form = DestinationForm(request.POST, product=product)
    if not form.is_valid():
        return _wrong_number(request, product, [])
    if _is_unconfirmed(request, product, form):
        return _review(request, product, form, _typed_for(request, product), **repeats(product, form))
    try:
        placed = place_confirmed(request, product, form)
    except NeedsApproval as need:
        return ask_here(request, need)
    except InvalidDestination as refusal:
        return _wrong_number(request, product, [str(refusal)])
    except NotForSale as refusal:
        placed = {"refusal": refusal, "is_refused_now": True}
    if isinstance(placed, Order):
        return show_sent(request, placed)
    return _review(request, product, form, _typed_for(request, product), **placed)


def _typed_for(request: StaffRequest, product: Product) -> dict[str, Any]:
    """The field and its tiles as they were, if its text leads to the product; else the product stays pinned."""
    choice = choice_for(request, request.POST.get("q", "")[:100], pick=product.code)
    is_offered = any(row.pk == product.pk for row in (*choice.products, choice.picked) if row)
    return {"choice": choice, "pinned": ""} if is_offered else {}


def _wrong_number(request: StaffRequest, product: Product, faults: list[str]) -> HttpResponse:
    return show_panel(request, asks="number", pinned=product.code, faults=faults)


def _is_unconfirmed(request: StaffRequest, product: Product, form: DestinationForm) -> bool:
    """Whether the number belongs to another operator, and nobody has confirmed it."""
    is_other = recognised(product, form.kind, form.cleaned)["is_other_operator"]
    return is_other and "confirm_operator" not in request.POST


def ask_here(request: StaffRequest, need: NeedsApproval) -> HttpResponse:
    """Put the order before a second person, with the words of the form; a colleague can approve it in the panel."""
    try:
        approval = ask_for_approval(need, actor=request.user, reason=request.POST.get("reason", ""))
    except AlreadyAsked as refusal:
        messages.error(request, str(refusal), extra_tags=refusal.code)
        return elsewhere(request, redirect(refusal.approval if may_open(refusal.approval, request.user) else "counter"))
    except BranchRefused as refusal:
        messages.error(request, str(refusal), extra_tags=refusal.code)
        return elsewhere(request, redirect("counter"))
    if request.headers.get("HX-Request") and approval.is_open and approvers_of(approval):
        return show_approval(request, approval)
    messages.success(request, _("Asked. A second person has to approve it."), extra_tags="waits_for_approval")
    return elsewhere(request, redirect(approval))


def show_approval(
    request: StaffRequest, approval: Approval, *, fault: str = "", approver: User | None = None
) -> HttpResponse:
    """The waiting request in the panel, with the form to approve it here. `fault`: why approving it was refused."""
    people = approvers_of(approval)
    waiting = ShownApproval(approval, request.user)
    return show_panel(request, q="", pinned="", waiting=waiting, approvers=people, approver=approver, fault=fault)


def open_for_sale(request: StaffRequest, order: Order) -> None:
    """Have the till's cash drawer open, if the customer pays this sale in cash."""
    if order.payment.is_cash:
        open_cash_drawer(request, "sale", order.ref_id, ref_id=order.ref_id)


def show_sent(request: StaffRequest, order: Order) -> HttpResponse:
    """An empty field, and the strip with the order in it."""
    open_for_sale(request, order)
    debt = order.payment.debt
    sent = Row(order, request.user, name_of(debt.account) if debt else "")
    if not request.headers.get("HX-Request"):
        waits = order.status == Status.NEEDS_ACTION
        messages.success(request, sent.said, extra_tags="placed_to_wait" if waits else "placed")
        return redirect("counter")
    facts = panel_facts(request, q="", pinned="", sent=sent)
    return render(request, "counter/sent.html", {**facts, **strip_facts(request)})


@staff_only(Right.VIEW_PRODUCT, Right.BUY, Right.GIVE_BACK)
@require_POST
def counter_give_back(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Note that the customer of the person's own failed sale has the money back, in cash from that person's drawer."""
    payment = get_object_or_404(Payment, ref_id=ref_id, seller=request.user)
    with refusal_shown(request):
        give_back(payment, method=CASH, actor=request.user, shift=open_shift_of(request.user.pk))
        open_cash_drawer(request, "refund", ref_id, ref_id=ref_id)
        words = _("Given back in cash: %(amount)s") % {"amount": rupiah(payment.amount)}
        messages.success(request, words, extra_tags="given_back")
    if not request.headers.get("HX-Request"):
        return redirect("counter")
    return render(request, "counter/sent.html", strip_facts(request))


def elsewhere(request: StaffRequest, answer: HttpResponse) -> HttpResponse:
    """The redirect as htmx follows it with the whole page."""
    return HttpResponseClientRedirect(answer["Location"]) if request.headers.get("HX-Request") else answer
