"""Bills due: the list, and the followed numbers. Checking and paying is at the counter."""

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from core.access import StaffRequest, staff_only
from core.paging import FirstPages
from core.rights import Right
from customers.models import SavedNumber
from dues import services
from dues.filters import DueFilter, bills_seen, waiting_seen
from dues.forms import FollowForm
from dues.models import OWES, DueBill, FollowedNumber, FollowedNumberQuerySet
from dues.presenting import whatsapp_texts
from dues.tables import DueTable, WaitingTable
from shop.services import current_shop

#: People who see bills due.
SEES = (Right.VIEW_BILLS, Right.VIEW_CUSTOMERS)
_ROWS = 50


@staff_only(*SEES)
@require_GET
def due_list(request: StaffRequest) -> HttpResponse:
    """The bills that match the filters in the URL, the first due on top."""
    filtered = DueFilter(request.GET, queryset=bills_seen())
    if (waiting := filtered.waiting) is not None:
        return _waiting(request, filtered, waiting)
    keys = filtered.qs.order_by("due_on", "pk").values_list("pk", flat=True)
    page = FirstPages(keys, _ROWS).get_page(request.GET.get("page"))
    bills = list(DueBill.objects.with_state().for_table().filter(pk__in=list(page)).order_by("due_on", "pk"))
    may_pay = request.user.has_perms((Right.VIEW_PRODUCT, Right.CHECK_BILLS, Right.BUY))
    table = DueTable(bills, request=request, texts=whatsapp_texts(bills, current_shop()), may_pay=may_pay)
    context = {
        "filter": filtered,
        "page": page,
        "table": table,
        "may_pay": may_pay and any(bill.state in OWES and bill.pk not in table.holders for bill in bills),
        "owed": filtered.qs.owed(),
        "follows_any": FollowedNumber.objects.exists(),
        "waiting_count": 0 if bills else waiting_seen().count(),
    }
    return render(request, "dues/due_list.html", context)


def _waiting(request: StaffRequest, filtered: DueFilter, waiting: FollowedNumberQuerySet) -> HttpResponse:
    rows = waiting.select_related("number__customer", "number__product__category")
    page = FirstPages(rows.order_by("number__customer__name", "pk"), _ROWS).get_page(request.GET.get("page"))
    context = {"filter": filtered, "page": page, "table": WaitingTable(page), "follows_any": bool(page)}
    return render(request, "dues/due_list.html", context)


@staff_only(*SEES, Right.CHANGE_CUSTOMERS)
@require_http_methods(["GET", "POST"])
def due_follow(request: StaffRequest, pk: int) -> HttpResponse:
    """Set the day of the month on which the bill of a saved number is checked."""
    number = get_object_or_404(
        SavedNumber.objects.bills().select_related("customer", "product__category", "followed"), pk=pk
    )
    followed = getattr(number, "followed", None)
    form = FollowForm(request.POST or None, instance=followed)
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data
        try:
            services.follow(number, day=chosen["day"], fine_day=chosen["fine_day"], actor=request.user)
        except SavedNumber.DoesNotExist:
            raise Http404 from None
        messages.success(request, _("The bill is checked each month."), extra_tags="bill_followed")
        return redirect(number.customer)
    return render(request, "dues/follow.html", {"form": form, "number": number, "followed": followed})


@staff_only(*SEES, Right.CHANGE_CUSTOMERS)
@require_POST
def due_decide(request: StaffRequest, pk: int) -> HttpResponse:
    """Go on with a number that stays unpaid or is gone (`keep`), or stop following it."""
    number = get_object_or_404(SavedNumber.objects.select_related("customer"), pk=pk)
    if "keep" in request.POST:
        services.keep(number, actor=request.user)
        messages.success(request, _("The bill is still checked each month."), extra_tags="number_kept")
    else:
        services.stop(number, actor=request.user)
        messages.success(request, _("The bill is no longer checked."), extra_tags="number_stopped")
    return redirect("due_list")
