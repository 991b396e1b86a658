"""The person's own drawer: opening it, its present state, paying in and out."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from core.access import StaffRequest, staff_only
from core.errors import Refused, refusal_shown
from core.forms import first_fault
from core.money import rupiah, signed_rupiah
from core.rights import Right
from credit.methods import moves_money
from drawers import services
from drawers.errors import DrawerRefused, OpeningUnexplained, TooLittleCash
from drawers.forms import GiveBackForm, OpenForm, PaidForm, PaymentForm
from drawers.models import Drawer, Payment, Shift
from drawers.presenting.sales import change_words
from drawers.presenting.shifts import cash_lines, other_lines
from drawers.tables import EntryTable, SaleTable
from drawers.views.shifts import entries_of, explained_facts, sales_of
from policies.services import policies
from tills.printing import open_cash_drawer

_ROWS = 30
# The number of a person's newest shifts that are searched for unsettled payments.
_SHIFTS = 5


@staff_only(Right.USE_DRAWERS)
@require_GET
def drawer_here(request: StaffRequest) -> HttpResponse:
    """The person's own shift, or the count that opens one."""
    shift = services.open_shift_of(request.user.pk)
    if shift is None:
        return _closed(request, OpenForm(person=request.user))
    return _open(request, shift, PaidForm())


def _closed(request: StaffRequest, form: OpenForm, status: int = 200) -> HttpResponse:
    last = Shift.objects.filter(cashier=request.user.pk).select_related("drawer", "cashier").order_by("-opened_at")
    has_free = form.is_bound or form.fields["drawer"].queryset.exists()  # type: ignore[attr-defined]
    context = {"form": form, "has_free": has_free, "last": last.first(), "is_blind": policies().blind_count}
    return render(request, "drawers/drawer_closed.html", context, status=status)


def _open(request: StaffRequest, shift: Shift, form: PaidForm, status: int = 200) -> HttpResponse:
    totals = services.totals_of([shift.pk])[shift.pk]
    lately = list(Shift.objects.filter(cashier=shift.cashier_id).order_by("-opened_at", "-pk")[:_SHIFTS])
    context: dict[str, Any] = {
        "shift": shift,
        "is_blind": services.is_blind(shift, request.user),
        "totals": totals,
        "lines": cash_lines(totals),
        "others": other_lines(totals),
        "sales": SaleTable(sales_of(shift)[:_ROWS]),
        "table": EntryTable(entries_of(shift)[:_ROWS]),
        "form": form,
        "unsettled": services.unsettled(lately)[:_ROWS],
        **explained_facts(shift, request.user),
    }
    return render(request, "drawers/drawer_open.html", context, status=status)


@staff_only(Right.USE_DRAWERS)
@require_http_methods(["GET", "POST"])
def drawer_open(request: StaffRequest) -> HttpResponse:
    """Begin the person's own shift with the typed count."""
    if request.method != "POST":  # the address of a refused count, opened again
        return redirect("drawer")
    form = OpenForm(request.POST, person=request.user)
    if "sum" in request.POST:  # without a script
        return _closed(request, form)
    if own := services.open_shift_of(request.user.pk):
        return _open_before(request, own, form)
    if form.is_valid():
        drawer: Drawer = form.cleaned_data["drawer"]
        try:
            reason = form.cleaned_data["reason"]
            shift = services.open_shift(drawer, pieces=form.pieces, actor=request.user, reason=reason)
        except Refused as refusal:
            if own := services.open_shift_of(request.user.pk):
                return _open_before(request, own, form)
            form.add_error(_field_of(refusal), ValidationError(str(refusal), code=refusal.code))
        else:
            open_cash_drawer(request, "opened", shift.pk)
            messages.success(request, _("The drawer is open. Your sales enter it by themselves."), extra_tags="opened")
            if shift.opening_difference and services.is_blind(shift, request.user):
                words = _("The last shift left %(left)s here: your count differs by %(difference)s.")
                facts = {"left": rupiah(shift.left_before), "difference": signed_rupiah(shift.opening_difference)}
                messages.warning(request, words % facts, extra_tags="opened_otherwise")
            return redirect("drawer")
    return _closed(request, form)


def _open_before(request: StaffRequest, own: Shift, form: OpenForm) -> HttpResponse:
    """Redirect to the drawer that another window has opened, and show the typed values if they are different."""
    is_same = form.is_valid() and (form.cleaned_data["drawer"], form.pieces) == (own.drawer, own.opening_pieces)
    if not is_same:
        words = _("You have %(drawer)s open.") % {"drawer": own.drawer.name}
        messages.warning(request, f"{words} {form.not_entered()}", extra_tags="open_before")
    return redirect("drawer")


def _field_of(refusal: Refused) -> str | None:
    """The field of the opening form that the refusal is about."""
    if isinstance(refusal, OpeningUnexplained):
        return "reason"
    return "drawer" if refusal.reason in {"drawer_taken", "drawer_off", "other_branch"} else None


@staff_only(Right.USE_DRAWERS)
@require_POST
def drawer_paid(request: StaffRequest) -> HttpResponse:
    """Note cash that came in or went out for a reason other than a sale."""
    shift, form = services.open_shift_of(request.user.pk), PaidForm(request.POST)
    if shift is None:
        return _too_late(request, form)
    if not form.is_valid():
        return _open(request, shift, form)
    cleaned = form.cleaned_data
    act = services.pay_in if cleaned["way"] == "in" else services.pay_out
    try:
        facts = {name: cleaned[name] for name in ("amount", "reason", "token")}
        entry = act(shift, actor=request.user, **facts)
    except TooLittleCash as refusal:
        form.add_error("amount", ValidationError(str(refusal), code=refusal.code))
        return _open(request, shift, form)
    except Refused as refusal:
        if refusal.reason == "closed":
            return _too_late(request, form)
        messages.error(request, str(refusal), extra_tags=refusal.code)
    else:
        open_cash_drawer(request, f"paid_{cleaned['way']}", entry.pk)
        words = _("%(amount)s paid in.") if cleaned["way"] == "in" else _("%(amount)s paid out.")
        messages.success(request, words % {"amount": rupiah(cleaned["amount"])}, extra_tags="paid")
    return redirect("drawer")


def _too_late(request: StaffRequest, form: PaidForm) -> HttpResponse:
    """Redirect to the page that opens a drawer, and show the values that were typed for a closed one."""
    refusal = DrawerRefused("no_shift")
    typed = " – ".join(filter(None, (form["amount"].value(), form["reason"].value())))
    words = _("Not entered: %(what)s") % {"what": typed}
    messages.error(request, f"{refusal} {words}", extra_tags=refusal.code)
    return redirect("drawer")


@staff_only(Right.VIEW_ORDERS, Right.USE_DRAWERS)
@require_POST
def sale_paid(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Note the way in which the customer paid for an order."""
    payment = get_object_or_404(Payment, ref_id=ref_id)
    form = PaymentForm(request.POST)
    if not form.is_valid():
        messages.error(request, first_fault(form), extra_tags="no_payment")
        return redirect("order_detail", ref_id=ref_id)
    with refusal_shown(request):
        changed = services.change_payment(payment, actor=request.user, **form.cleaned_data)
        if changed.is_cash:
            open_cash_drawer(request, "sale", ref_id, ref_id=ref_id)
        messages.success(request, change_words(payment, changed), extra_tags="payment_noted")
    return redirect("order_detail", ref_id=ref_id)


@staff_only(Right.VIEW_ORDERS, Right.GIVE_BACK)
@require_POST
def sale_given_back(request: StaffRequest, ref_id: str) -> HttpResponse:
    """Note that the customer has the money back, and how; from the list of refunds (`to`) back to it."""
    payment = get_object_or_404(Payment, ref_id=ref_id)
    form = GiveBackForm(request.POST, person=request.user)
    back = redirect("refund_list") if request.POST.get("to") == "refunds" else redirect("order_detail", ref_id=ref_id)
    if not form.is_valid():
        messages.error(request, first_fault(form), extra_tags="no_refund")
        return back
    with refusal_shown(request):
        given = services.give_back(payment, actor=request.user, **form.cleaned_data)
        if given.refund_entry and given.refund_entry.is_cash:
            open_cash_drawer(request, "refund", ref_id, ref_id=ref_id)
        on_account = not moves_money(form.cleaned_data["method"])
        words = _("Noted on the customer's account.") if on_account else _("Noted as given back.")
        messages.success(request, words, extra_tags="given_back")
    return back
